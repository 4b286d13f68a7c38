"""API keys over HTTP (A-02): list, make, revoke; and the console's session, opened by a key."""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.errors import PolicyError
from naru.records import now_ms
from naru.stores.keys import ApiKey
from naru.web.access import SESSION_SECONDS, KeyRing
from naru.web.audited import note_audit
from naru.web.bodies import parse_body, read_json
from naru.web.incoming import session_cookie
from naru.web.routes import Access, Endpoint
from naru.web.security import Principal


class KeyHub(Protocol):
    """What this face needs of the hub."""

    @property
    def key_ring(self) -> KeyRing:
        """The keys and sessions."""
        ...

    @property
    def may_start_programs(self) -> bool:
        """Whether servers that start a program may be registered over HTTP (S-20)."""
        ...


class KeyBody(BaseModel):
    """A key to make."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    role: Literal["read", "user", "operator", "admin"]
    owner: str = Field("", max_length=200)
    expires_in_seconds: int | None = Field(None, gt=0)
    rate_limit_per_minute: int | None = Field(None, ge=0)


def endpoints(hub: KeyHub) -> list[Endpoint]:
    """Return the rows for keys and sessions."""
    face = AdminKeys(hub)
    return [
        Endpoint("/api/keys", ("GET",), face.list_keys, Access.ADMIN),
        Endpoint("/api/keys", ("POST",), face.create, Access.ADMIN),
        Endpoint("/api/keys/{id}", ("DELETE",), face.revoke, Access.ADMIN),
        Endpoint("/api/session", ("GET",), face.who_am_i, Access.READ),
        Endpoint("/api/session", ("POST",), face.open_session, Access.READ),
        Endpoint("/api/session", ("DELETE",), face.close_session, Access.READ),
    ]


class AdminKeys:
    """The handlers."""

    def __init__(self, hub: KeyHub) -> None:
        self._hub = hub

    async def list_keys(self, request: Request) -> Response:
        """List all keys, without their secrets."""
        keys = self._hub.key_ring.keys
        return JSONResponse([_shown(key) | {"lastUsedAt": keys.last_used_at(key.id)} for key in keys.list()])

    async def create(self, request: Request) -> Response:
        """Make a key; its secret is shown in this answer and never again."""
        body = parse_body(KeyBody, await read_json(request))
        principal: Principal = request.scope["state"]["principal"]
        if Access[body.role.upper()] > principal.role:
            raise PolicyError("A key cannot make one that may do more than itself.")
        expires_at = now_ms() + body.expires_in_seconds * 1000 if body.expires_in_seconds else None
        key, secret = self._hub.key_ring.keys.create(
            body.role, owner=body.owner, expires_at=expires_at, rate_limit_per_minute=body.rate_limit_per_minute
        )
        note_audit(request.scope, key=key.id, role=key.role, owner=key.owner)
        return JSONResponse(_shown(key) | {"key": secret}, 201, {"Location": f"/api/keys/{key.id}"})

    async def revoke(self, request: Request) -> Response:
        """Revoke a key; sessions that it opened end with it."""
        self._hub.key_ring.keys.revoke(request.path_params["id"])
        return Response(status_code=204)

    async def who_am_i(self, request: Request) -> Response:
        """Say whose key this is and what it may do."""
        principal: Principal = request.scope["state"]["principal"]
        return JSONResponse(
            {
                "id": principal.id,
                "role": principal.role.name.lower(),
                "owner": principal.owner,
                "mayStartPrograms": principal.role >= Access.ADMIN and self._hub.may_start_programs,
            }
        )

    async def open_session(self, request: Request) -> Response:
        """Open a browser session for twelve hours with the key that comes with this request (S-68)."""
        principal: Principal = request.scope["state"]["principal"]
        response = await self.who_am_i(request)
        if principal.id != "local":
            token = self._hub.key_ring.open_session(principal)
            name, traits = session_cookie(request.scope)
            response.headers["Set-Cookie"] = f"{name}={token}; Max-Age={int(SESSION_SECONDS)}; {traits}"
        return response

    async def close_session(self, request: Request) -> Response:
        """End the browser session."""
        name, traits = session_cookie(request.scope)
        self._hub.key_ring.close_session(request.cookies.get(name, "").encode())
        return Response(status_code=204, headers={"Set-Cookie": f"{name}=; Max-Age=0; {traits}"})


def _shown(key: ApiKey) -> dict[str, object]:
    return {to_camel(name): value for name, value in key.shown().items()}
