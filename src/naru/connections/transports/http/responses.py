"""What an HTTP status of an MCP server means: an answer, a lost session, a refusal with its reason."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

import aiohttp
from yarl import URL

from naru.connections.state.faults import BusyError, Failure, LinkError
from naru.connections.transports.http.addresses import is_same_origin, shown
from naru.connections.transports.http.bodies import read_body
from naru.connections.wire import messages as wire
from naru.connections.wire.protocol import METHOD_NOT_FOUND
from naru.http1.reply import Reply
from naru.messages import Json, JsonObject
from naru.records import now_ms
from naru.stores.secrets.values import SecretValues

_SESSION_LOST = re.compile(
    r"session[\w\s-]*(not\s*found|unknown|expired|invalid|terminated)"
    r"|(unknown|invalid|expired|no\s+valid|no\s+such|missing)\s+(\w+\s+)?session|not\s+initialized",
    re.IGNORECASE,
)
_SAYS_SESSION_LOST = re.compile(
    r"(?:bad request: |error: |invalid request: |mcp |http )*"
    r"(?:session(?: id)?(?: \S+)? (?:was |has |is )*(?:not found|unknown|expired|invalid|terminated)"
    r"|(?:unknown|invalid|expired|no valid|no such) session(?: id)?(?: provided)?)[.!:]?(?: \S+)?",
    re.IGNORECASE,
)
_SIGN_IN = "Sign in to it, in the console or with `naru servers login` and its name"
_ERROR_BODY_BYTES = 64 * 1024


async def refusal(
    response: aiohttp.ClientResponse | Reply, url: URL, secrets: SecretValues, *, has_session: bool
) -> JsonObject | LinkError:
    """Read a reply whose status is not 2xx: the JSON-RPC error in it, or the fault it means; it may quote us."""
    status = response.status
    text, message = await _error_body(response, secrets)
    if has_session and (
        (status in (404, 410) and not _knows_no_method(message))
        or (status == 400 and _SESSION_LOST.search(text[:400]))
        or (status == 500 and (_says_session_lost(text) if message is None else means_lost_session(message)))
    ):
        return session_gone()  # a 500 says so and nothing else: a tool that failed half-way may speak of sessions too
    if status in (401, 403):
        return LinkError(_unauthorized(status, secrets.text(response.headers.get("WWW-Authenticate", ""))))
    if status in (429, 503) and (wait := retry_after(response)) is not None:
        return _busy(status, wait)
    if message is not None:
        return message
    if 300 <= status < 400:
        return LinkError(_redirected(response, url))
    said = f": {_one_line(text)}" if text.strip() else ""
    failure = Failure("call", f"http_{status}", f"{shown(url)} answered HTTP {status}{said}.", _advice(status))
    return LinkError(failure, delivered=status >= 500)


def retry_after(response: aiohttp.ClientResponse | Reply) -> float | None:
    """Return the wait that the server asks for, in seconds (R-12)."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:6])
    if not value:
        return None
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now_ms() / 1000)
    except ValueError:
        return None


def same_origin_redirect(response: aiohttp.ClientResponse | Reply, url: URL) -> URL | None:
    """Return where a 307 or 308 leads if that is the same origin: `/mcp` to `/mcp/` is a common one."""
    location = response.headers.get("Location")
    if response.status not in (307, 308) or not location:
        return None
    try:
        target = url.join(URL(location))
    except ValueError:
        return None
    return target if is_same_origin(url, target) and target != url else None


async def _error_body(response: aiohttp.ClientResponse | Reply, secrets: SecretValues) -> tuple[str, JsonObject | None]:
    try:
        body = await read_body(response, _ERROR_BODY_BYTES)
    except LinkError:
        return "", None
    text = secrets.text(body.decode("utf-8", errors="replace"))
    if "json" not in response.content_type:
        return text, None
    try:
        value: Json = secrets.data(body, wire.decode(body))
    except ValueError:
        return text, None
    is_error = isinstance(value, dict) and isinstance(value.get("error"), dict) and "method" not in value
    return text, value if is_error else None


def session_gone() -> LinkError:
    """Return the fault of a session that the server forgot: what it refused was not carried out."""
    failure = Failure("call", "session_gone", "the server does not know our session any more.")
    return LinkError(failure, session_gone=True)


def means_lost_session(answer: JsonObject) -> bool:
    """Tell whether an error that came with HTTP 200 or 500 says that the session is lost, and nothing else."""
    error = answer.get("error")
    return isinstance(error, dict) and _says_session_lost(error.get("message"))


def _knows_no_method(answer: JsonObject | None) -> bool:
    """Tell whether a server says of the method that it is unknown: it looked that up, whatever its HTTP status."""
    if answer is None or means_lost_session(answer):
        return False
    error = answer["error"]
    return isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND


def _says_session_lost(said: Json) -> bool:
    return isinstance(said, str) and bool(_SAYS_SESSION_LOST.fullmatch(said.strip()))


def _unauthorized(status: int, challenge: str) -> Failure:
    challenge = _one_line(challenge)
    if status == 403 and "insufficient_scope" in challenge:
        message = f"the server wants more rights than the sign-in has (HTTP 403): {challenge}."
        return Failure("call", "insufficient_scope", message, f"{_SIGN_IN}; it asks for them.", by_sign_in=True)
    asks = f" and asks for {challenge}" if challenge else ""
    what = "wants credentials" if status == 401 else "refuses the credentials it got"
    by_sign_in = "bearer" in challenge.lower()
    return Failure(
        "connect",
        "unauthorized" if status == 401 else "forbidden",
        f"the server {what} (HTTP {status}){asks}.",
        f"{_SIGN_IN}; or put a valid `Authorization` into its headers, or `auth` into its entry, then connect it again."
        if by_sign_in
        else "Put a valid `Authorization` into the server's headers, or `auth` into its entry, then connect it again.",
        needs_auth=True,
        by_sign_in=by_sign_in,
    )


def _busy(status: int, wait: float) -> LinkError:
    failure = Failure(
        "call",
        f"http_{status}",
        f"the server asks to be left alone for {wait:.0f} s (HTTP {status}, Retry-After).",
        "Try again after that.",
        retry_after_seconds=wait,
    )
    return BusyError(failure)


def _redirected(response: aiohttp.ClientResponse | Reply, url: URL) -> Failure:
    location = response.headers.get("Location", "")
    try:
        target = shown(url.join(URL(location)))
    except ValueError:
        target = "an address that is none"
    return Failure(
        "connect",
        "redirected",
        f"{shown(url)} redirects to {target}; Naru does not follow, since the server's credentials would go with it.",
        "If that is the server you mean, put its address into the record.",
        retryable=False,
    )


def _advice(status: int) -> str:
    if status in (404, 405):
        return "Check the path of the URL and the transport: HTTP servers mostly answer at /mcp, SSE servers at /sse."
    if status >= 500:
        return "See the server's own log."
    return "Check the URL and what the server expects."


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
