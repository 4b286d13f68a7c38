"""Calls that wait for a person's yes, over HTTP (N9): operators see and answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.connections.rules.foreign_text import show_every_character
from naru.errors import NotFoundError
from naru.messages import JsonObject
from naru.persons import reach
from naru.tools.supervision.approvals import Approvals, Decision, Standing
from naru.tools.supervision.waiting_room import Waiter
from naru.web.audited import note_audit
from naru.web.bodies import parse_body, read_json
from naru.web.gate.principal import Principal
from naru.web.routes import Access, Endpoint


class AnswerBody(BaseModel):
    """What a person says to a waiting call."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["once", "always", "deny"]


def endpoints(approvals: Approvals) -> list[Endpoint]:
    """Return the rows."""
    face = ApprovalDesk(approvals)
    return [
        Endpoint("/api/approvals", ("GET",), face.show, Access.OPERATOR),
        Endpoint("/api/approvals/{id}", ("POST",), face.answer, Access.OPERATOR),
        Endpoint("/api/approvals/standing/{id}", ("DELETE",), face.revoke, Access.OPERATOR),
    ]


class ApprovalDesk:
    """The handlers."""

    def __init__(self, approvals: Approvals) -> None:
        self.approvals = approvals

    def shown(self) -> JsonObject:
        """Return the calls that wait for a yes, and what was allowed for always. Raises StoreError."""
        return {
            "waiting": [_waiting(one) for one in seen_calls(self.approvals.waiting)],
            "standing": [_standing(one) for one in seen_calls(self.approvals.standing)],
        }

    async def give(self, waiting_id: str, decision: str) -> JsonObject:
        """Answer for a waiting call in the name of the folder's owner. Raises NotFoundError, StoreError."""
        return _waiting(await self.approvals.answer(waiting_id, Decision(decision), by="terminal"))

    async def show(self, request: Request) -> Response:
        """List the calls that wait for a yes, and what was allowed for always."""
        return JSONResponse(self.shown())

    async def answer(self, request: Request) -> Response:
        """Answer for a waiting call: `once`, `always` (this caller, this tool as it is now) or `deny`."""
        body = parse_body(AnswerBody, await read_json(request))
        principal: Principal = request.scope["state"]["principal"]
        _check(request.path_params["id"], self.approvals.waiting)
        found = await self.approvals.answer(request.path_params["id"], Decision(body.decision), by=principal.id)
        note_audit(request.scope, decision=body.decision, server=found.server, tool=found.tool, caller=found.caller)
        return JSONResponse(_waiting(found))

    async def revoke(self, request: Request) -> Response:
        """Take back what was allowed for always."""
        _check(request.path_params["id"], self.approvals.standing)
        revoked = await self.approvals.revoke(request.path_params["id"])
        note_audit(request.scope, server=revoked.server, tool=revoked.tool, caller=revoked.caller)
        return Response(status_code=204)


One = TypeVar("One", Waiter, Standing)


def seen_calls(calls: Sequence[One]) -> Sequence[One]:
    """Return what is of tools that whoever asks may see."""
    seen = reach()
    return calls if seen.is_whole else [one for one in calls if seen.tool(one.server, one.tool, None)]


def _check(wanted: str, calls: Sequence[One]) -> None:
    """Refuse what is there and hidden, like what is not there. Raises NotFoundError."""
    if any(one.id == wanted for one in calls) and all(one.id != wanted for one in seen_calls(calls)):
        raise NotFoundError(f"Nothing waits under {wanted!r}.")


def _waiting(one: Waiter) -> JsonObject:
    return {
        "id": one.id,
        "server": one.server,
        "tool": show_every_character(one.tool),
        "caller": one.caller,
        "arguments": "\n".join(map(show_every_character, one.arguments.split("\n"))),
        "description": one.description,
        "why": one.why,
        "askedAt": one.asked_at,
        "expiresAt": one.expires_at,
    }


def _standing(one: Standing) -> JsonObject:
    return {to_camel(name): value for name, value in asdict(one).items()}
