"""Errors as `application/problem+json` (RFC 9457): one table from our error tree to HTTP status."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from naru import errors
from naru.encoding import encode
from naru.messages import JsonObject
from naru.persons import current_request
from naru.stores.secrets.redact import REDACTOR
from naru.web.korean import reads_korean, told

STATUS: tuple[tuple[type[errors.NaruError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.ConflictError, 409),
    (errors.UserError, 400),
    (errors.UnknownToolError, 404),
    (errors.InvalidArgumentsError, 422),
    (errors.ToolTimeoutError, 504),
    (errors.ToolError, 502),
    (errors.ModelError, 502),
    (errors.UpstreamError, 502),
    (errors.PolicyError, 403),
    (errors.StoreUnavailableError, 503),
    (errors.StoreError, 507),
)
"""First match counts."""

TITLES = {
    400: "Bad request",
    401: "A key is needed",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    412: "Changed meanwhile",
    413: "Too large",
    415: "Wrong content type",
    421: "Wrong host",
    422: "Not usable",
    428: "Precondition missing",
    429: "Too many requests",
    431: "Headers too large",
    500: "Internal error",
    502: "Upstream failed",
    503: "Not available",
    504: "Timed out",
    507: "Could not be stored",
}
_API_PATHS = re.compile(r"(?:/clients/[^/]+)?/v1(?:/|$)")
_MESSAGES_PATHS = re.compile(r"(?:/clients/[^/]+)?/v1/messages(?:/|$)")
_OLLAMA_PATHS = re.compile(
    r"/api/(?:chat|generate|tags|show|ps|version|embed|embeddings|pull|push|create|copy|delete|blobs)(?:/|$)"
)
_API_KINDS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


class ProblemResponse(Response):
    """An `application/problem+json` answer, in Korean for whoever reads it."""

    media_type = "application/problem+json"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it in the asker's language."""
        if scope["type"] != "http" or not reads_korean(scope["headers"]):
            await super().__call__(scope, receive, send)
            return
        kept = {name: value for name, value in self.headers.items() if name != "content-length"}
        members = orjson.dumps(told(orjson.loads(self.body)))
        korean = Response(members, self.status_code, kept | {"Content-Language": "ko", "Vary": "Accept-Language"})
        await korean(scope, receive, send)


def problem(
    status: int, detail: str, *, code: str, headers: Mapping[str, str] | None = None, **members: Any
) -> ProblemResponse:
    """Return a problem response; `members` are extension members such as `remedy`, left out when empty."""
    return ProblemResponse(encode(body(status, detail, code=code, **members)), status, headers)


def body(status: int, detail: str, *, code: str, **members: Any) -> JsonObject:
    """Return the members of a problem: type, title, status, detail, code, and what is given beside."""
    members["requestId"] = current_request.get()
    given = {name: value for name, value in members.items() if value not in (None, "", [], {})}
    title = TITLES.get(status, "Error")
    return {"type": f"urn:naru:{code}", "title": title, "status": status, "detail": detail, "code": code, **given}


def status_of(error: errors.NaruError) -> int:
    """Return the HTTP status for an error of ours; a class of `web` may name its own as `http_status`."""
    own: int | None = getattr(error, "http_status", None)
    if own is not None:
        return own
    if isinstance(error, errors.ModelError) and error.status == 429:
        return 503
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def problem_of(error: errors.NaruError) -> ProblemResponse:
    """Return the problem response for an error of ours: what was tried, what happened, what to do."""
    headers = {}
    if isinstance(error, errors.ModelError) and error.retry_after_seconds is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after_seconds)))
    detail, remedy = REDACTOR.clean(error.message), REDACTOR.clean(error.remedy)
    return problem(status_of(error), detail, code=error.code, remedy=remedy, headers=headers)


def in_the_apis_words(path: str, response: ProblemResponse) -> ProblemResponse:
    """Put the `error` of the APIs for models beside a problem's members, where a path is one of theirs.

    Their packages look for nothing else: `openai` and `anthropic` show its message, and Ollama's is a text.
    """
    is_ollamas = _OLLAMA_PATHS.match(path) is not None
    if not is_ollamas and not _API_PATHS.match(path):
        return response
    status, members = response.status_code, orjson.loads(response.body)
    said = f"{members.get('detail', members['title'])} {members.get('remedy', '')}".rstrip()
    kind = _API_KINDS.get(status, "invalid_request_error" if status < 500 else "api_error")
    members["error"] = said if is_ollamas else {"message": said, "type": kind, "param": None, "code": members["code"]}
    if _MESSAGES_PATHS.match(path):  # Anthropic's form has a `type` of its own.
        members |= {"type": "error", "request_id": members.get("requestId")}
        members["error"]["type"] = "request_too_large" if status == 413 else kind
    kept = {name: value for name, value in response.headers.items() if name != "content-length"}
    return ProblemResponse(encode(members), status, kept)
