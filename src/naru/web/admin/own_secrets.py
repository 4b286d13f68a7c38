"""Secrets that a person stores for a server, over HTTP: names are shown, values never."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.connections import credentials
from naru.connections.credentials import owner_of
from naru.connections.personal import is_personal
from naru.errors import NotFoundError, PolicyError
from naru.persons import current_person
from naru.records import ServerRecord
from naru.web.admin.servers import BASE
from naru.web.admin.sign_in import SignInHub
from naru.web.audited import note_audit
from naru.web.bodies import parse_body, read_json
from naru.web.gate.principal import Principal
from naru.web.routes import Access, Endpoint


class SecretBody(BaseModel):
    """A secret to keep."""

    model_config = ConfigDict(extra="forbid")

    value: str = Field(min_length=1, max_length=16_384)


def endpoints(hub: SignInHub) -> list[Endpoint]:
    """Return the rows: the asker's own secrets, or everybody's for an operator."""
    face = OwnSecrets(hub)
    one = BASE + "/{name}/secrets"
    return [
        Endpoint(one, ("GET",), face.names, Access.USER),
        Endpoint(one + "/{secret}", ("PUT",), face.store, Access.USER),
        Endpoint(one + "/{secret}", ("DELETE",), face.forget, Access.USER),
    ]


class OwnSecrets:
    """The handlers."""

    def __init__(self, hub: SignInHub) -> None:
        self._hub = hub

    async def names(self, request: Request) -> Response:
        """List the names of what the asker stored for a server."""
        record, owner = await self._whose(request)
        vault = self._hub.manager.signins.vault
        return JSONResponse({"names": await asyncio.to_thread(credentials.secret_names, vault, owner, record)})

    async def store(self, request: Request) -> Response:
        """Store a secret for `${NAME}` or `${input:NAME}` of a server's entry; the asker's link is opened anew."""
        record, owner = await self._whose(request)
        body = parse_body(SecretBody, await read_json(request))
        vault, name = self._hub.manager.signins.vault, request.path_params["secret"]
        await credentials.store_secret(vault, owner, record, name, body.value)
        return await self._changed(request, record, owner, name)

    async def forget(self, request: Request) -> Response:
        """Forget a secret."""
        record, owner = await self._whose(request)
        vault, name = self._hub.manager.signins.vault, request.path_params["secret"]
        await credentials.forget_secret(vault, owner, record, name)
        return await self._changed(request, record, owner, name)

    async def _changed(self, request: Request, record: ServerRecord, owner: str, name: str) -> Response:
        note_audit(request.scope, server=record.name, secret=name)
        if credentials.uses_secret(record, name):
            await self._hub.manager.signed(record.name, owner, wakes=is_personal(record))
        return Response(status_code=204)

    async def _whose(self, request: Request) -> tuple[ServerRecord, str]:
        name = request.path_params["name"]
        record = await self._hub.manager.find_server(name)
        if record is None:
            raise NotFoundError(f"No server named {name[:100]!r} is registered.")
        principal: Principal = request.scope["state"]["principal"]
        if record.credentials == "shared" and principal.role < Access.OPERATOR:
            raise PolicyError(f"The credentials of {name!r} are everybody's: storing them needs an operator's key.")
        return record, owner_of(record, current_person.get())
