"""Errors of the faces, and the HTTP status of each error that happens before the first byte."""

from __future__ import annotations

import math

from naru.errors import ConnectionFailedError, ModelError, NaruError, NotFoundError, PolicyError, UserError


class BadRequestError(UserError):
    """The request's body cannot be taken as it stands; `param` names the place."""

    code = "invalid_request"

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class StoppingError(NaruError):
    """The server stops; the request was cut off."""

    code = "stopping"
    retry_after_seconds = 1.0

    def __init__(self) -> None:
        super().__init__("This server is stopping; the answer was cut off.", remedy="Ask again in a moment.")


def status_of(error: NaruError) -> int:
    """Choose the HTTP status for an error that happened before the first byte."""
    match error:
        case ModelError(status=int(status)) if 400 <= status < 500 and status not in (401, 403, 407):
            return status
        case NotFoundError():
            return 404
        case PolicyError():
            return 403
        case UserError():
            return 400
        case ModelError():
            return 504 if error.status == 504 else 502
        case ConnectionFailedError():
            return 424  # Clients ask again by themselves after a 5xx, and it would fail again.
        case StoppingError():
            return 503
    return 500


def error_headers(error: NaruError) -> list[tuple[bytes, bytes]]:
    """Return the headers that go with an error: Retry-After where the endpoint named one.

    OpenAI's and Anthropic's packages ask again by themselves after a 429, unless they are told not to.
    """
    if error.code == "out_of_credit":
        return [(b"x-should-retry", b"false")]
    seconds = getattr(error, "retry_after_seconds", None)
    if seconds is None:
        return []
    return [(b"retry-after", str(max(1, math.ceil(seconds))).encode())]
