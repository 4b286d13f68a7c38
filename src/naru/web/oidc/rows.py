"""The two addresses of a person's sign-in to the console: where a browser begins, and where the issuer sends it back.

Both are for people who are nobody yet. The second takes only what its own browser began, and its cookie is `Lax`, since
it comes back from another site; the session's own stays `Strict`: our page asks with it, no other does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from naru.connections.manager import Manager
from naru.connections.state.faults import LinkError
from naru.errors import UpstreamError
from naru.gateway.sessions.asgi import address_seen
from naru.stores.secrets.redact import REDACTOR
from naru.telemetry.audit import Audit
from naru.web.bodies import parse_body, read_json
from naru.web.gate.access import KeyRing
from naru.web.gate.access_tokens import AccessTokens
from naru.web.gate.incoming import crossing_cookie, session_cookie
from naru.web.gate.logins import SESSION_SECONDS
from naru.web.oidc.question import LANGUAGES, MOST_SECONDS, PAGE, Question, read_question
from naru.web.oidc.refusals import POLICY, RefusedError, page_of
from naru.web.oidc.sign_in import ConsoleSignIn
from naru.web.routes import Access, Endpoint

BEGIN = "/api/session/sign-in"
CALLBACK = "/oauth/session"
_COOKIE = "naru-person"
_HOME = "#/overview"


class PersonsHub(Protocol):
    """What this face needs of the hub."""

    @property
    def manager(self) -> Manager:
        """The MCP servers, and how persons sign in there."""
        ...

    @property
    def audit(self) -> Audit | None:
        """Where it is written down who came."""
        ...


class BeginBody(BaseModel):
    """Where the person is, and which language they read."""

    model_config = ConfigDict(extra="forbid")

    page: str = Field(_HOME, max_length=2000)
    """A page of the console's, `#/…`; whatever else it says leads to the first page."""
    language: Literal["en", "ko"] = "en"


def endpoints(
    hub: PersonsHub, ring: KeyRing, tokens: AccessTokens, note_refusal: Callable[..., None]
) -> list[Endpoint]:
    """Return the rows; `note_refusal` gets scope, code and facts of who was not signed in. Raises ConfigError."""
    face = Persons(hub, ring, tokens, note_refusal)
    return [
        Endpoint(BEGIN, ("POST",), face.begin, Access.PUBLIC),
        Endpoint(CALLBACK, ("GET",), face.come_back, Access.PUBLIC),
    ]


class Persons:
    """The handlers."""

    def __init__(self, hub: PersonsHub, ring: KeyRing, tokens: AccessTokens, note_refusal: Callable[..., None]) -> None:
        self._hub = hub
        self._note_refusal = note_refusal
        self._ring = ring
        self._name = tokens.sign_in_name
        self._sign_in = ConsoleSignIn(tokens.issuer, hub.manager.signins.settings)

    async def begin(self, request: Request) -> Response:
        """Begin to sign in to the console with the issuer's account; go to `url`."""
        raw = await request.body()
        body = parse_body(BeginBody, await read_json(request) if raw.strip() else {})
        question = Question.new(body.page if PAGE.fullmatch(body.page) else _HOME, body.language)
        try:
            url = await self._sign_in.address(question, address_seen(request.scope) + CALLBACK)
        except LinkError as error:
            raise UpstreamError(
                f"The sign-in with {self._name} could not begin: {error.message}",
                remedy=error.remedy or "Tell an admin: check server.oauth. A key works without it.",
            ) from error
        name, traits = crossing_cookie(request.scope, _COOKIE)
        kept = f"{name}={question.cookie}; Max-Age={MOST_SECONDS}; {traits}"
        return JSONResponse({"url": url}, headers={"Set-Cookie": kept})

    async def come_back(self, request: Request) -> Response:
        """Take the issuer's answer from the browser that began, open a session, and lead to the page it came from."""
        scope = request.scope
        name, traits = crossing_cookie(scope, _COOKIE)
        question = read_question(request.cookies.get(name, ""))
        # Somebody else's answer changes nothing for a sign-in that waits here.
        if question is None or not question.is_answered_by(request.query_params.get("state", "")):
            return self._refused(request, RefusedError("not_waited"), question)
        forgotten = f"{name}=; Max-Age=0; {traits}"
        try:
            answer = dict(request.query_params)
            who = await self._sign_in.person(question, address_seen(scope) + CALLBACK, answer)
        except RefusedError as error:
            response = self._refused(request, error, question)
            response.headers.append("Set-Cookie", forgotten)
            return response
        token = await asyncio.to_thread(self._ring.open_for_person, who.id, who.role, who.name)
        if self._hub.audit is not None:
            address = (request.client or ("", 0))[0]
            self._hub.audit.mention("session.opened", who.id, address=address, path=CALLBACK, role=who.role)
        headers = {"Location": f"/{question.page}", "Referrer-Policy": "no-referrer"}
        response = Response(status_code=303, headers=headers)
        session, its_traits = session_cookie(scope)
        response.headers.append("Set-Cookie", f"{session}={token}; Max-Age={int(SESSION_SECONDS)}; {its_traits}")
        response.headers.append("Set-Cookie", forgotten)
        return response

    def _refused(self, request: Request, error: RefusedError, question: Question | None) -> Response:
        self._note_refusal(request.scope, "sign_in", reason=error.code, said=REDACTOR.clean(error.said)[:300])
        said = page_of(
            error,
            issuer=self._name,
            language=question.language if question else _language(request.headers.get("accept-language", "")),
            root=request.scope.get("root_path", ""),
            page=question.page if question else _HOME,
        )
        headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
        status = 502 if error.code == "unreachable" else 403 if error.code == "no_role" else 400
        return HTMLResponse(said, status, headers)


def _language(accepted: str) -> str:
    """Return the language of a reader who has not been asked, as the console does at first."""
    first = accepted.split(",")[0].strip().lower()
    return next((one for one in LANGUAGES if first.startswith(one)), "en")
