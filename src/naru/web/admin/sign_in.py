"""Signing in at servers over HTTP: begin, come back, sign out. Who it is says the key; the answer is theirs alone."""

from __future__ import annotations

from collections.abc import Awaitable
from html import escape
from typing import Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from yarl import URL

from naru.config import Settings
from naru.connections.credentials import owner_of
from naru.connections.link.surroundings import expanded
from naru.connections.manager import Manager
from naru.connections.oauth.clients import described
from naru.connections.oauth.signins import Done, Wish
from naru.connections.personal import is_personal
from naru.connections.state.faults import LinkError
from naru.errors import NotFoundError, PolicyError, UserError
from naru.gateway.sessions.asgi import address_seen
from naru.persons import Person, current_person
from naru.records import ServerRecord
from naru.stores.secrets.redact import REDACTOR
from naru.web.admin.servers import BASE
from naru.web.audited import note_audit
from naru.web.bodies import BodyError, parse_body, read_json
from naru.web.gate.incoming import crossing_cookie
from naru.web.gate.principal import Principal
from naru.web.korean import spoken
from naru.web.routes import Access, Endpoint

T = TypeVar("T")
CALLBACK = "/oauth/callback"
DOCUMENT = "/oauth/client.json"
_COOKIE = "naru-sign-in"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_PAGE = (
    "<!doctype html><html lang={language}><meta charset=utf-8><title>Naru</title>"
    "<p>{said}</p><p><a href='{root}/{page}'>{name}</a></p></html>"
)
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class SignInHub(Protocol):
    """What this face needs of the hub."""

    @property
    def manager(self) -> Manager:
        """The MCP servers."""
        ...

    @property
    def settings(self) -> Settings:
        """All settings."""
        ...


class BeginBody(BaseModel):
    """How the answer comes back: by this browser, or to a program of the asker's own machine."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    redirect_uri: str = Field("", max_length=200)


class AnswerBody(BaseModel):
    """What came back to a program."""

    model_config = ConfigDict(extra="forbid")

    state: str = Field(max_length=200)
    code: str = Field("", max_length=8192)
    iss: str | None = Field(None, max_length=2000)
    error: str = Field("", max_length=200)
    error_description: str = Field("", max_length=2000)


def endpoints(hub: SignInHub) -> list[Endpoint]:
    """Return the rows; the way back is public, and takes only what its own browser began."""
    face = SignIn(hub)
    one = BASE + "/{name}/sign-in"
    return [
        Endpoint(one, ("GET",), face.show, Access.READ),
        Endpoint(one, ("POST",), face.begin, Access.USER),
        Endpoint(one, ("DELETE",), face.sign_out, Access.USER),
        Endpoint(one + "/answer", ("POST",), face.answer, Access.USER),
        Endpoint(CALLBACK, ("GET",), face.come_back, Access.PUBLIC),
        *_published(hub, face),
    ]


def _published(hub: SignInHub, face: SignIn) -> list[Endpoint]:
    if not hub.settings.mcp.sign_in.client_document:
        return []
    return [Endpoint(DOCUMENT, ("GET",), face.document, Access.PUBLIC)]


class SignIn:
    """The handlers."""

    def __init__(self, hub: SignInHub) -> None:
        self._hub = hub

    async def show(self, request: Request) -> Response:
        """Say whose credentials go to a server, and whether the asker is signed in there."""
        record = await self._record(request)
        owner = owner_of(record, current_person.get())
        url = str(expanded(record).get("url") or "")
        is_signed = bool(url) and self._hub.manager.signins.is_signed_in(owner, record.name, url)
        return JSONResponse({"credentials": record.credentials, "signedIn": is_signed, "canSignIn": bool(url)})

    async def begin(self, request: Request) -> Response:
        """Begin to sign in; go to `url`. With `redirectUri`, of the asker's machine, the answer comes with the key."""
        record = await self._record(request)
        raw = await request.body()
        body = parse_body(BeginBody, await read_json(request) if raw.strip() else {})
        person = self._may(request, record)
        if body.redirect_uri and (URL(body.redirect_uri).host or "") not in _LOOPBACK:
            raise BodyError("redirectUri must be of the asker's own machine.")
        wish = Wish(
            server=record.name,
            config=expanded(record),
            owner=owner_of(record, person),
            asker=person.id,
            redirect_uri=body.redirect_uri or address_seen(request.scope) + CALLBACK,
            by_browser=not body.redirect_uri,
        )
        if "url" not in wish.config:
            raise UserError(
                f"Server {record.name!r} is a program, at which nobody signs in.",
                remedy=f"Store what it needs with: naru servers secret set {record.name} NAME",
            )
        begun = await _told(self._hub.manager.signins.begin(wish))
        note_audit(request.scope, server=record.name)
        answer = JSONResponse({"url": begun.url, "state": begun.state})
        if begun.browser:
            name, traits = crossing_cookie(request.scope, _COOKIE)
            answer.headers["Set-Cookie"] = f"{name}={begun.browser}; Max-Age=600; {traits}"
        return answer

    async def answer(self, request: Request) -> Response:
        """Bring the answer that came to a program, with the key that the sign-in was begun with."""
        record = await self._record(request)
        body = parse_body(AnswerBody, await read_json(request))
        given = {key: value for key, value in body.model_dump().items() if value}
        done = await _told(self._hub.manager.signins.finish(given, asker=self._may(request, record).id))
        note_audit(request.scope, server=done.server)
        return JSONResponse({"server": done.server, "connected": await self._connected(done)})

    async def come_back(self, request: Request) -> Response:
        """Take the answer that a browser brings back, if it is the browser that began."""
        name, traits = crossing_cookie(request.scope, _COOKIE)
        forgotten = {"Set-Cookie": f"{name}=; Max-Age=0; {traits}", "Content-Security-Policy": _POLICY}
        root = request.scope.get("root_path", "")
        try:
            done = await self._hub.manager.signins.finish(
                dict(request.query_params), browser=request.cookies.get(name, "")
            )
        except LinkError as error:
            said = REDACTOR.clean(f"Not signed in: {error.message} {error.remedy}")
            return HTMLResponse(_page(said, root, "#/servers", "Naru"), 400, forgotten)
        if (audit := self._hub.manager.supervision.audit) is not None:  # nobody's key comes with it, and no gate writes
            address = (request.client or ("", 0))[0]
            audit.mention("server.signed_in", done.owner, server=done.server, path=CALLBACK, address=address)
        await self._connected(done)
        said = f"Signed in at {done.server}. You can close this page, or go back to it in Naru:"
        page = _page(said, root, f"#/servers/{quote(done.server, safe='')}", done.server)
        return HTMLResponse(page, 200, forgotten)

    async def sign_out(self, request: Request) -> Response:
        """Sign out: forget the tokens, and have their authority revoke them."""
        record = await self._record(request)
        owner = owner_of(record, self._may(request, record))
        trouble = await self._hub.manager.signins.sign_out(owner, record.name)
        await self._hub.manager.signed(record.name, owner, wakes=is_personal(record))
        note_audit(request.scope, server=record.name)
        return JSONResponse({"revoked": not trouble, **({"why": REDACTOR.clean(trouble)} if trouble else {})})

    async def document(self, request: Request) -> Response:
        """Say what Naru is as an OAuth client, to authorization servers that read such documents."""
        url = self._hub.settings.mcp.sign_in.client_document
        back = url.removesuffix(DOCUMENT) + CALLBACK
        said = described([back, f"http://127.0.0.1{CALLBACK}"], methods=("none",))
        return JSONResponse({"client_id": url, **said})

    async def _connected(self, done: Done) -> bool:
        return await self._hub.manager.signed(done.server, done.owner)

    async def _record(self, request: Request) -> ServerRecord:
        name = request.path_params["name"]
        record = await self._hub.manager.find_server(name)
        if record is None:
            raise NotFoundError(f"No server named {name[:100]!r} is registered.")
        return record

    def _may(self, request: Request, record: ServerRecord) -> Person:
        """Return the asker, who may sign in for everybody only as an operator. Raises PolicyError."""
        principal: Principal = request.scope["state"]["principal"]
        if record.credentials == "shared" and principal.role < Access.OPERATOR:
            raise PolicyError(
                f"The credentials of {record.name!r} are everybody's: signing in needs an operator's key."
            )
        return current_person.get()


def _page(said: str, root: str, page: str, name: str) -> str:
    """Return a page for whoever comes back from an authorization server, in the browser's language."""
    shown = spoken(said)
    language = "en" if shown == said else "ko"
    return _PAGE.format(language=language, said=escape(shown), root=root, page=page, name=escape(name))


async def _told(work: Awaitable[T]) -> T:
    """Wait, and tell a refused sign-in as what the asker can do something about."""
    try:
        return await work
    except LinkError as error:
        raise UserError(REDACTOR.clean(error.message), remedy=REDACTOR.clean(error.remedy)) from error
