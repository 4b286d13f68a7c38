"""API keys over HTTP (A-02): list, make, revoke; and the console's session, opened by a key."""

from __future__ import annotations

import asyncio
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.errors import NotFoundError, PolicyError
from naru.persons import Bounds, current_person
from naru.records import now_ms
from naru.stores.kept.spending import Spending
from naru.stores.secrets.keys import ROLES, ApiKey
from naru.web.audited import note_audit
from naru.web.bodies import BodyError, parse_body, read_json
from naru.web.gate.access import KeyRing, role_of
from naru.web.gate.incoming import session_cookie
from naru.web.gate.logins import SESSION_SECONDS
from naru.web.gate.principal import Principal
from naru.web.routes import ROLE_NAMES, Access, Endpoint


class KeyHub(Protocol):
    """What this face needs of the hub."""

    @property
    def key_ring(self) -> KeyRing:
        """The keys and sessions."""
        ...

    @property
    def spending(self) -> Spending:
        """What limited keys have used today."""
        ...

    @property
    def may_start_programs(self) -> bool:
        """Whether servers that start a program may be registered over HTTP (S-20)."""
        ...


class KeyBody(BaseModel):
    """A key to make."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    role: str = Field(max_length=64)
    """`read`, `user`, `operator`, `admin`, or one of `server.roles`."""
    owner: str = Field("", max_length=200)
    expires_in_seconds: int | None = Field(None, gt=0)
    rate_limit_per_minute: int | None = Field(None, ge=0)
    servers: list[str] | None = Field(None, max_length=200)
    """Globs of the servers that it sees; `!name` takes away. All without it, as with tools and models."""
    tools: list[str] | None = Field(None, max_length=1000)
    models: list[str] | None = Field(None, max_length=200)
    read_only: bool = False
    requests_per_day: int | None = Field(None, ge=0)
    tokens_per_day: int | None = Field(None, ge=0)

    def bounds(self) -> Bounds:
        """Return its limits."""
        return Bounds(
            servers=None if self.servers is None else tuple(self.servers),
            tools=None if self.tools is None else tuple(self.tools),
            models=None if self.models is None else tuple(self.models),
            read_only=self.read_only,
            requests_per_day=self.requests_per_day,
            tokens_per_day=self.tokens_per_day,
        )


class RotateBody(BaseModel):
    """How long a key's old secret stays good beside the new one."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    overlap_seconds: float = Field(0.0, ge=0, le=90 * 86_400)


def endpoints(hub: KeyHub) -> list[Endpoint]:
    """Return the rows for keys and sessions."""
    face = AdminKeys(hub)
    return [
        Endpoint("/api/keys", ("GET",), face.list_keys, Access.ADMIN),
        Endpoint("/api/keys", ("POST",), face.create, Access.ADMIN),
        Endpoint("/api/keys/{id}", ("GET",), face.show, Access.ADMIN),
        Endpoint("/api/keys/{id}", ("DELETE",), face.revoke, Access.ADMIN),
        Endpoint("/api/keys/{id}/rotate", ("POST",), face.rotate, Access.ADMIN),
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
        _check_whole()
        return JSONResponse([await self._described(key) for key in self._hub.key_ring.keys.list()])

    async def show(self, request: Request) -> Response:
        """Show a key, without its secret, and what it has used of its budgets today."""
        _check_whole()
        return JSONResponse(await self._described(self._key(request.path_params["id"])))

    def _key(self, key_id: str) -> ApiKey:
        found = next((key for key in self._hub.key_ring.keys.list() if key.id == key_id), None)
        if found is None:
            raise NotFoundError(f"There is no key {key_id[:80]!r}.", remedy="GET /api/keys lists them.")
        return found

    async def _described(self, key: ApiKey) -> dict[str, object]:
        shown = _shown(key) | {"lastUsedAt": self._hub.key_ring.keys.last_used_at(key.id)}
        if key.bounds.requests_per_day is not None or key.bounds.tokens_per_day is not None:
            spent = await self._hub.spending.of_soon(key.id)
            shown |= {"requestsToday": spent.requests, "tokensToday": spent.tokens}
        return shown

    async def create(self, request: Request) -> Response:
        """Make a key; its secret is shown in this answer and never again."""
        body = parse_body(KeyBody, await read_json(request))
        principal: Principal = request.scope["state"]["principal"]
        _check_whole()
        role = role_of(body.role, self._hub.key_ring.roles)
        if role is None:
            known = (*ROLES, *self._hub.key_ring.roles)
            raise BodyError(f"There is no role {body.role!r}.", remedy=f"Use one of {', '.join(known)}.")
        if role[0] > principal.role:
            raise PolicyError(
                "A key cannot make one that may do more than itself.",
                remedy=f"Ask for {ROLE_NAMES[principal.role]} or less, or make it with a key of that role.",
            )
        expires_at = now_ms() + body.expires_in_seconds * 1000 if body.expires_in_seconds else None
        key, secret = await asyncio.to_thread(
            self._hub.key_ring.keys.create,
            body.role,
            owner=body.owner,
            expires_at=expires_at,
            rate_limit_per_minute=body.rate_limit_per_minute,
            bounds=body.bounds(),
        )
        note_audit(request.scope, key=key.id, role=key.role, owner=key.owner)
        return JSONResponse(_shown(key) | {"key": secret}, 201, {"Location": f"/api/keys/{key.id}"})

    async def rotate(self, request: Request) -> Response:
        """Give a key another secret, shown in this answer alone; the old one stays good for `overlapSeconds`."""
        _check_whole()
        raw = await request.body()
        body = parse_body(RotateBody, await read_json(request) if raw.strip() else {})
        key_id = self._key(request.path_params["id"]).id
        keys = self._hub.key_ring.keys
        key, secret = await asyncio.to_thread(keys.rotate, key_id, overlap_seconds=body.overlap_seconds)
        note_audit(request.scope, key=key.id)
        return JSONResponse(_shown(key) | {"key": secret})

    async def revoke(self, request: Request) -> Response:
        """Revoke a key; sessions that it opened end with it."""
        _check_whole()
        await asyncio.to_thread(self._hub.key_ring.keys.revoke, request.path_params["id"])
        return Response(status_code=204)

    async def who_am_i(self, request: Request) -> Response:
        """Say whose key this is and what it may do."""
        principal: Principal = request.scope["state"]["principal"]
        return JSONResponse(
            {
                "id": principal.id,
                "role": ROLE_NAMES[principal.role],
                "owner": principal.owner,
                "mayStartPrograms": principal.role >= Access.ADMIN and self._hub.may_start_programs,
            }
        )

    async def open_session(self, request: Request) -> Response:
        """Open a browser session for twelve hours with the key that comes with this request."""
        principal: Principal = request.scope["state"]["principal"]
        response = await self.who_am_i(request)
        if principal.id != "local":
            token = await asyncio.to_thread(self._hub.key_ring.open_session, principal)
            name, traits = session_cookie(request.scope)
            response.headers["Set-Cookie"] = f"{name}={token}; Max-Age={int(SESSION_SECONDS)}; {traits}"
        return response

    async def close_session(self, request: Request) -> Response:
        """End the browser session."""
        name, traits = session_cookie(request.scope)
        await asyncio.to_thread(self._hub.key_ring.close_session, request.cookies.get(name, "").encode())
        return Response(status_code=204, headers={"Set-Cookie": f"{name}=; Max-Age=0; {traits}"})


def _check_whole() -> None:
    """Refuse a limited key: one that it makes, or takes over by rotation, may do what it may not (S-04)."""
    if current_person.get().reach.layers:
        raise PolicyError("A limited key cannot manage keys.", remedy="Use an admin key without limits.")


def _shown(key: ApiKey) -> dict[str, object]:
    return {to_camel(name): value for name, value in key.shown().items()}
