"""The one gate before every face: Host, Origin, limits, key and role, derived from the route table (S-01 to S-08).

A path that no row names is not reachable; a row without `Access.PUBLIC` needs a key whenever keys are asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naru.config import ServerSettings
from naru.errors import ConfigError, NaruError
from naru.gateway.sessions.asgi import COUNTED, HELD
from naru.persons import Person, current_person, current_request
from naru.web.gate.admission import Admission, auth_is_on
from naru.web.gate.answer_headers import CORS_HEADERS, with_headers
from naru.web.gate.held import WhileGood
from naru.web.gate.hosts import HostRules, is_loopback
from naru.web.gate.incoming import BodyTooLargeError, EdgeHeaders, limited, session_cookie
from naru.web.gate.principal import LOCAL, KeyCheck, Principal, RateLimit
from naru.web.gate.proxy import BehindProxy
from naru.web.problems import in_the_apis_words, problem, problem_of
from naru.web.routes import ROLE_NAMES, Access, Endpoint, RouteTable

logger = logging.getLogger(__name__)

MAX_HEADER_BYTES = 16 * 1024
_JSON = b"application/json"
_SIMPLE_TYPES = (b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data")
_KEY_LIMIT = (
    " The limit is the key's own, else server.rate_limit_per_minute (NARU_SERVER__RATE_LIMIT_PER_MINUTE; 0 is none)."
)
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_QUERY_TOKENS = (b"api_key=", b"apikey=", b"access_token=", b"token=", b"key=")
Refused = Callable[[Scope, str], None]
"""Gets the request and a code of `NOTED_REFUSALS`."""
NOTED_REFUSALS = frozenset({"wrong_key", "forbidden", "several_credentials", "key_in_url"})


def check_bind(settings: ServerSettings) -> None:
    """Refuse to serve beyond loopback without keys (S-01).

    Raises:
        ConfigError: says what to set.
    """
    if settings.auth == "off" and not is_loopback(settings.host) and not settings.dangerously_allow_open_bind:
        raise ConfigError(
            f"server.host {settings.host!r} is reachable from other machines and server.auth is off.",
            remedy="Leave server.auth at auto, bind 127.0.0.1, or set server.dangerously_allow_open_bind.",
        )
    if "*" in settings.allowed_origins and not auth_is_on(settings, were_made=False):
        raise ConfigError(
            "server.allowed_origins '*' lets every web page use the tools of this machine.",
            remedy="Name the pages, or set server.auth to on.",
        )


def guard(
    app: ASGIApp,
    endpoints: Iterable[Endpoint],
    settings: ServerSettings,
    *,
    keys: KeyCheck | None = None,
    limits: RateLimit | None = None,
    refused: Refused | None = None,
) -> Gate:
    """Wrap the application in the gate; principal, matched row and the answer's status go into `scope["state"]`.

    `refused` is told of wrong keys and of keys that may not do what they tried.

    Raises:
        ConfigError: this configuration would serve an open port.
    """
    check_bind(settings)
    return Gate(app, RouteTable(endpoints), settings, keys, limits, refused)


class _RefusedError(Exception):
    """The request is answered here."""

    def __init__(
        self, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **members: str
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.response = problem(status, detail, code=code, headers=headers, **members)


class Gate:
    """See the module: a plain ASGI wrapper, since it is on the hot path."""

    def __init__(
        self,
        app: ASGIApp,
        table: RouteTable,
        settings: ServerSettings,
        keys: KeyCheck | None,
        limits: RateLimit | None,
        refused: Refused | None = None,
    ) -> None:
        self._app = app
        self._table = table
        self._settings = settings
        self._keys = keys
        self._limits = limits
        self._refused = refused
        self.admission = Admission(settings, keys)
        self._go_by(settings)

    async def take_up(self) -> None:
        """Go by the settings as they are now."""
        await self.admission.take_up(self._settings)
        self._go_by(self._settings)

    def _go_by(self, settings: ServerSettings) -> None:
        """Work out what each request is judged by."""
        self._hosts, self._behind = HostRules(settings), BehindProxy.of(settings)
        words, media = settings.max_body_bytes, settings.max_media_body_bytes
        self._most = (words, max(words, media))
        """How many bytes a body may have, and one of an endpoint for media: pictures need more room than words."""
        self._said = [(b"x-content-type-options", b"nosniff")]
        """Headers of every answer."""
        if settings.tls_certificate:
            self._said.append((b"strict-transport-security", b"max-age=31536000"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        headers = EdgeHeaders(scope["headers"])
        current_request.set(headers.request_id)  # The server gives each request a task of its own.
        if self._behind is not None:
            send = self._behind.take(scope, headers, send)
        try:
            self._check_edge(scope, headers)
            preflight = self._preflight(scope, headers) if scope.get("method") == "OPTIONS" else None
            if preflight is None:
                await self.admission.take_note(scope)
                receive = await self._admit(scope, headers, receive)
        except (_RefusedError, NaruError) as error:
            response = error.response if isinstance(error, _RefusedError) else problem_of(error)
            response = in_the_apis_words(self._table.meant(scope.get("path", "")), response)
            if self._refused is not None and isinstance(error, _RefusedError) and error.code in NOTED_REFUSALS:
                self._refused(scope, error.code)
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": "refused"})
                return
            await response(scope, receive, self._told(scope, send, headers))
            return
        if preflight is not None:
            await send(preflight)
            await send({"type": "http.response.body", "body": b""})
            return
        decorated = self._while_good(scope, headers, self._told(scope, send, headers))
        principal: Principal = scope["state"]["principal"]
        before = current_person.set(Person(principal.id, principal.reach, ROLE_NAMES[principal.role], scope["headers"]))
        try:
            await self._app(scope, receive, decorated)
        except BodyTooLargeError:
            endpoint: Endpoint = scope["state"]["endpoint"]
            refusal = in_the_apis_words(scope["path"], self._too_large(endpoint).response)
            await refusal(scope, receive, decorated)
        finally:
            current_person.reset(before)

    def _told(self, scope: Scope, send: Send, headers: EdgeHeaders) -> Send:
        is_foreign = headers.origin is not None and self._hosts.is_foreign_page(headers.origin)
        return with_headers(scope["state"], send, headers, self._said, foreign=is_foreign)

    def _check_edge(self, scope: Scope, headers: EdgeHeaders) -> None:
        if headers.size > MAX_HEADER_BYTES:
            raise _RefusedError(
                431,
                "headers_too_large",
                f"The headers have more than {MAX_HEADER_BYTES} bytes.",
                remedy="Send fewer of them; a browser sends the cookies of all that is served under this name.",
            )
        server = scope.get("server")
        if headers.hosts != 1:
            raise _RefusedError(400, "bad_host", f"The request has {headers.hosts} Host headers; it needs exactly one.")
        if not self._hosts.allows_host(headers.host, server):
            shown = headers.host.decode("latin-1")[:100]
            logger.warning("refused Host %r: it is not in server.allowed_hosts", shown)
            raise _RefusedError(
                421,
                "bad_host",
                f"The Host {shown!r} is not one of this server's.",
                remedy="To serve under that name add it to server.allowed_hosts (NARU_SERVER__ALLOWED_HOSTS).",
            )
        if headers.origin is not None and not self._hosts.allows_origin(headers.origin, server):
            shown = headers.origin.decode("latin-1")[:100]
            logger.warning("refused Origin %r: it is not in server.allowed_origins", shown)
            raise _RefusedError(
                403,
                "bad_origin",
                f"Pages of {shown!r} may not call this server.",
                remedy="To allow them add the origin to server.allowed_origins (NARU_SERVER__ALLOWED_ORIGINS).",
            )

    def _preflight(self, scope: Scope, headers: EdgeHeaders) -> Message | None:
        """Answer OPTIONS: a CORS preflight of a listed page, or a plain question for the methods."""
        match = self._table.match(scope["path"])
        if match is None or "OPTIONS" in match.by_method:
            return None
        methods = ", ".join((*match.by_method, "OPTIONS")).encode()
        answered = [(b"allow", methods)]
        if headers.origin is not None and self._hosts.is_foreign_page(headers.origin):
            answered += [
                (b"access-control-allow-origin", headers.origin),
                (b"access-control-allow-methods", methods),
                (b"access-control-allow-headers", CORS_HEADERS.encode()),
                (b"access-control-max-age", b"600"),
                (b"vary", b"Origin"),
            ]
        return {"type": "http.response.start", "status": 204, "headers": answered}

    async def _admit(self, scope: Scope, headers: EdgeHeaders, receive: Receive) -> Receive:
        """Check who asks, for what; return the `receive` to go on with."""
        match = self._table.match(scope["path"])
        state = scope["state"]
        method = scope["method"] if scope["type"] == "http" else "GET"
        endpoint = match.by_method.get(method) if match else None
        access = endpoint.access if endpoint else Access.READ
        state["principal"] = principal = await self._identify(scope, headers, access)
        if match is None:
            path, meant = scope["path"], self._table.meant(scope["path"])
            remedy = "" if meant == path else f"Is {meant[:200]} meant? Then mend the base URL."
            raise _RefusedError(404, "not_found", f"There is nothing at {path[:200]}.", remedy=remedy)
        if endpoint is None:
            allowed = ", ".join(match.by_method)
            raise _RefusedError(
                405,
                "method_not_allowed",
                f"{method} is not possible here.",
                headers={"Allow": allowed},
                remedy=f"Possible: {allowed}.",
            )
        if principal.role < access:
            raise _RefusedError(
                403,
                "forbidden",
                f"This needs the role {ROLE_NAMES[access]}; the key has {ROLE_NAMES[principal.role]}.",
                remedy=f"Come with a key or a role that has it: naru keys create {ROLE_NAMES[access]}",
                headers=self._challenge(access, "insufficient_scope"),
            )
        state["endpoint"] = endpoint
        scope["path_params"] = match.parameters
        if match.path != scope["path"]:
            scope["path"] = match.path
            scope["raw_path"] = match.path.encode()
        return self._check_body(endpoint, headers, receive) if method in _BODY_METHODS else receive

    async def _identify(self, scope: Scope, headers: EdgeHeaders, access: Access) -> Principal:
        keys = self._keys
        if not self.admission.asks():
            return LOCAL
        credentials = self._credentials(scope, headers)
        if len(credentials) > 1:
            raise _RefusedError(
                400,
                "several_credentials",
                "The request carries several keys.",
                remedy="Send one: Authorization, X-API-Key, or the cookie of a console's session.",
            )
        query = scope.get("query_string", b"")
        if query and any(part.lower().startswith(_QUERY_TOKENS) for part in query.split(b"&")):
            raise _RefusedError(
                400, "key_in_url", "Keys are not taken from the URL.", remedy="Send Authorization: Bearer …"
            )
        found = keys.verify(credentials[0]) if credentials and keys is not None else None
        if found is not None:
            limits = self._limits if access is not Access.PUBLIC else None  # a page's files are no requests of its key
            if limits and (wait := limits.request(found)) > 0:
                raise self._slow_down(wait, "This key makes too many requests.", _KEY_LIMIT)
            budget = found.reach.requests_per_day
            if limits and budget is not None and (wait := await limits.spend(found)) > 0:
                said = f"This key has made its {budget} requests of today (UTC)."
                raise self._slow_down(wait, said, " Its budget is set with the key, or with its role in server.roles.")
            if limits:
                scope["state"][COUNTED] = partial(_one_more, limits, found)
            return found
        if access is Access.PUBLIC:
            return Principal("", Access.PUBLIC)
        if credentials and self._limits:
            wait = self._limits.failure((scope.get("client") or ("", 0))[0])
            if wait > 0:
                raise self._slow_down(
                    wait, "Too many wrong keys from this address.", headers=self._forgotten(scope, headers)
                )
        raise _RefusedError(
            401,
            "wrong_key" if credentials else "no_key",
            "The key is not valid." if credentials else "This needs a key.",
            remedy="Send it as Authorization: Bearer …, or as X-API-Key.",
            headers=self._challenge(access, "invalid_token" if credentials else "") | self._forgotten(scope, headers),
            signIn=keys.tokens.sign_in_name if keys is not None and keys.tokens is not None else "",
        )

    def _credentials(self, scope: Scope, headers: EdgeHeaders) -> list[bytes]:
        """Return the keys, tokens and sessions that a request carries."""
        credentials = headers.credentials()
        if headers.cookies:
            credentials += self._sessions(scope, headers, beside=len(credentials))
        return credentials

    def _while_good(self, scope: Scope, headers: EdgeHeaders, send: Send) -> Send:
        """Return the `send` of a stream that ends with the key, session or token that opened it."""
        keys, state = self._keys, scope["state"]
        if keys is None or state["principal"].id in ("", LOCAL.id):
            return send

        def held(send: Send) -> Send:
            # What it came with is read again only where it goes on for a second: most answers have ended by then.
            return WhileGood(send, lambda: any(map(keys.verify, self._credentials(scope, headers))))

        if scope.get("method") == "GET":
            return held(send)
        state[HELD] = held  # few are held open: the answer to what was asked comes whole
        return send

    def _sessions(self, scope: Scope, headers: EdgeHeaders, *, beside: int) -> list[bytes]:
        """Return the sessions that count beside so many keys: a browser sends one by itself, also when it is over.

        So one that is over takes nothing from the key that somebody gave. One that goes on may be another person's
        than the key, and which of them asks is not guessed (S-06).
        """
        sent = headers.sessions(session_cookie(scope)[0])
        is_over = beside and len(sent) == 1 and self._keys is not None and self._keys.verify(sent[0]) is None
        return [] if is_over else sent

    def _challenge(self, access: Access, error: str) -> dict[str, str]:
        """Return the header that tells a client what to bring (RFC 6750), and where to learn how (RFC 9728)."""
        said = ['Bearer realm="naru"', f'error="{error}"'] if error else ['Bearer realm="naru"']
        tokens = self._keys.tokens if self._keys is not None else None
        if tokens is not None:
            said += [f'scope="{tokens.scope_for(access)}"', f'resource_metadata="{tokens.metadata_url}"']
        return {"WWW-Authenticate": ", ".join(said)}

    def _forgotten(self, scope: Scope, headers: EdgeHeaders) -> dict[str, str]:
        """Return the header by which a browser forgets a session that is over.

        It would send it on and on, as wrong keys, until its person is told to wait.
        Where hubs share their sessions, one that is not known here may have been opened just now at another.
        """
        name, traits = session_cookie(scope)
        is_sent = any(f"{name}=".encode() in line for line in headers.cookies)
        is_over = is_sent and self._keys is not None and not self._keys.sessions_are_shared
        return {"Set-Cookie": f"{name}=; Max-Age=0; {traits}"} if is_over else {}

    @staticmethod
    def _slow_down(
        wait: float, detail: str, limit: str = "", *, headers: Mapping[str, str] | None = None
    ) -> _RefusedError:
        seconds = max(1, int(wait + 0.999))
        remedy = f"Wait {seconds} s.{limit}"
        told = {"Retry-After": str(seconds), **(headers or {})}
        return _RefusedError(429, "too_many_requests", detail, remedy=remedy, headers=told)

    def _check_body(self, endpoint: Endpoint, headers: EdgeHeaders, receive: Receive) -> Receive:
        if headers.content_type != _JSON and headers.content_type.split(b";", 1)[0].strip().lower() in _SIMPLE_TYPES:
            raise _RefusedError(
                415,
                "wrong_content_type",
                "The body must be JSON.",
                remedy="Send Content-Type: application/json.",
            )
        if headers.content_encoding and headers.content_encoding.lower() != b"identity":
            raise _RefusedError(
                415,
                "wrong_content_type",
                f"The body is compressed ({headers.content_encoding.decode('latin-1')[:40]}), which is not read here.",
                remedy="Send the JSON as it is, without Content-Encoding.",
            )
        most = self._most[endpoint.media]
        if headers.content_length is not None:
            if headers.content_length > most:
                raise self._too_large(endpoint)
            return receive
        return limited(receive, most)

    def _too_large(self, endpoint: Endpoint) -> _RefusedError:
        return _RefusedError(
            413,
            "body_too_large",
            f"The body has more than {self._most[endpoint.media]} bytes.",
            remedy="The limit is server.max_media_body_bytes (NARU_SERVER__MAX_MEDIA_BODY_BYTES)."
            if endpoint.media
            else "The limit is server.max_body_bytes (NARU_SERVER__MAX_BODY_BYTES).",
        )


async def _one_more(limits: RateLimit, principal: Principal) -> float:
    """Count a further request of what came as one; return the seconds to wait, 0 when it may pass."""
    return limits.request(principal) or await limits.spend(principal)
