"""Writes down who changed what over HTTP (S-61): before the change, so that none is made unseen, and what came of it.

What is written is the row, the path and the outcome; bodies hold secrets and are not.
"""

from __future__ import annotations

from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from naru.errors import StoreError
from naru.telemetry.audit import Audit
from naru.web.gate.principal import RateLimit
from naru.web.problems import problem_of
from naru.web.routes import Access, Endpoint

_MAX_PATH = 300
_READS = ("GET", "HEAD", "OPTIONS")


class Audited:
    """Goes round the rows that may change this installation. `refused` is for the gate before them."""

    def __init__(self, audit: Audit | None, limits: RateLimit) -> None:
        self._audit = audit
        self._limits = limits

    def around(self, row: Endpoint, app: ASGIApp) -> ASGIApp:
        """Return the application of a row; a request that changes something is written down first."""
        audit = self._audit
        if audit is None or not _changes_something(row):
            return app

        async def written_down(scope: Scope, receive: Receive, send: Send) -> None:
            if not audit.settings.enabled or scope["type"] != "http" or scope["method"] in _READS:
                await app(scope, receive, send)
                return
            who, facts = _who(scope), _facts(scope)
            try:
                await audit.commit("admin.asked", who, **facts)
            except StoreError as error:
                await problem_of(error)(scope, receive, send)
                return
            try:
                await app(scope, receive, send)
            finally:
                state: dict[str, Any] = scope["state"]
                audit.mention("admin.done", who, **facts, status=state.get("status", 0), **state.get("audit", {}))

        return written_down

    def refused(self, scope: Scope, code: str, **facts: object) -> None:
        """Write down that a request was refused; of those that are nobody's, a few from each address.

        Else whoever reaches us without a key could write the log full, until it forgets what matters.
        """
        who, address = _who(scope), (scope.get("client") or ("", 0))[0]
        if self._audit is not None and (who or not self._limits.failure(f"{address} refused")):
            self._audit.mention(f"refused.{code}", who, **_facts(scope), address=address, **facts)


def _changes_something(row: Endpoint) -> bool:
    """Whether a row, unless it only reads, changes this installation, or what is kept here for whoever asks."""
    is_of_servers = row.path.startswith("/api/mcp/") and row.access >= Access.USER  # secrets and sign-ins
    return row.access >= Access.OPERATOR or is_of_servers or row.path == "/api/session"


def note_audit(scope: Scope, **facts: object) -> None:
    """Add facts to the entry about this request, from a handler; never secrets."""
    scope.setdefault("state", {}).setdefault("audit", {}).update(facts)


def _who(scope: Scope) -> str:
    return str(getattr(scope.get("state", {}).get("principal"), "id", ""))


def _facts(scope: Scope) -> dict[str, object]:
    return {"method": str(scope.get("method", "")), "path": str(scope.get("path", ""))[:_MAX_PATH]}
