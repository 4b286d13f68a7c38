"""Writes down who changed what over HTTP (S-61): before the change, so that none is made unseen, and what came of it.

What is written is the row, the path and the outcome; bodies hold secrets and are not.
"""

from __future__ import annotations

from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naru.errors import StoreError
from naru.telemetry.audit import Audit
from naru.web.problems import problem_of
from naru.web.routes import Access, Endpoint

_MAX_PATH = 300
_READS = ("GET", "HEAD", "OPTIONS")


class Audited:
    """An ASGI application round the dispatcher. `refused` is for the gate before it."""

    def __init__(self, app: ASGIApp, audit: Audit | None) -> None:
        self._app = app
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; one that changes this installation is written down first."""
        if self._audit is None or not self._audit.settings.enabled or not _changes_something(scope):
            await self._app(scope, receive, send)
            return
        who, facts = _who(scope), _facts(scope)
        try:
            await self._audit.commit("admin.asked", who, **facts)
        except StoreError as error:
            await problem_of(error)(scope, receive, send)
            return
        status = 0

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, seen)
        finally:
            told: dict[str, Any] = scope["state"].get("audit", {})
            self._audit.mention("admin.done", who, **facts, status=status, **told)

    def refused(self, scope: Scope, code: str) -> None:
        """Write down that the gate refused a request."""
        if self._audit is not None:
            client = scope.get("client") or ("", 0)
            self._audit.mention(f"refused.{code}", _who(scope), **_facts(scope), address=client[0])


def note_audit(scope: Scope, **facts: object) -> None:
    """Add facts to the entry about this request, from a handler; never secrets."""
    scope.setdefault("state", {}).setdefault("audit", {}).update(facts)


def _changes_something(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] in _READS:
        return False
    endpoint: Endpoint = scope["state"]["endpoint"]
    return endpoint.access >= Access.OPERATOR or endpoint.path == "/api/session"


def _who(scope: Scope) -> str:
    return str(getattr(scope.get("state", {}).get("principal"), "id", ""))


def _facts(scope: Scope) -> dict[str, object]:
    return {"method": str(scope.get("method", "")), "path": str(scope.get("path", ""))[:_MAX_PATH]}
