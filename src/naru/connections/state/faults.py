"""What can go wrong with a server: one value that states read (`Failure`), two exceptions that callers catch.

::

    UpstreamError
    ├── RpcError                the server answered with a JSON-RPC error: code, message, data as sent
    └── ConnectionFailedError
        └── LinkError           no answer came; `failure` says where it broke, `delivered` whether it may have run
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from naru.errors import ConnectionFailedError, UpstreamError
from naru.messages import Json
from naru.stores.secrets.values import SecretValues

Stage = Literal["config", "launch", "connect", "initialize", "list", "call", "ping", "stream", "close"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a server is not usable: where, what, and what a person can do (N10)."""

    stage: Stage
    code: str
    """A stable word: `command_not_found`, `exited`, `refused`, `timeout`, `http_503`, `unauthorized`, `protocol`, …"""
    message: str
    remedy: str = ""
    detail: str = ""
    """What the server said last on stderr: for status pages, not for Naru's own log, since it may hold anything."""
    retryable: bool = True
    """False: trying again cannot help until somebody changes something."""
    needs_auth: bool = False
    """The server wants (other) credentials: no retry by itself, so no storm (R-11)."""
    by_sign_in: bool = False
    """A person's sign-in is what the server asks for, or asks for anew."""
    retry_after_seconds: float | None = None
    """The server's own word (Retry-After, R-12)."""

    @property
    def is_outage(self) -> bool:
        """It was told at once that nothing is there just now, which says nothing of what the server can do."""
        return self.code in ("refused", "cut", "dns") or self.code.startswith("http_5")

    def without(self, secrets: SecretValues) -> Failure:
        """Return it without what the server was given: messages name addresses and quote (S-34)."""
        clean = secrets.text
        return replace(self, message=clean(self.message), remedy=clean(self.remedy), detail=clean(self.detail))


class RpcError(UpstreamError):
    """The server answered with a JSON-RPC error, kept as it was sent."""

    code = "rpc_error"

    def __init__(self, error_code: int, message: str, data: Json = None, *, server: str = "") -> None:
        super().__init__(message)
        self.error_code = error_code
        self.data = data
        self.server = server

    def as_error(self) -> dict[str, Json]:
        """Return the `error` member to send on."""
        error: dict[str, Json] = {"code": self.error_code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error

    def __str__(self) -> str:
        where = f"MCP server {self.server!r} answered: " if self.server else ""
        return f"{where}{self.message} (JSON-RPC error {self.error_code})"


class LinkError(ConnectionFailedError):
    """A request got no answer."""

    code = "connection_failed"

    def __init__(self, failure: Failure, *, delivered: bool = False, session_gone: bool = False) -> None:
        super().__init__(failure.message, remedy=failure.remedy)
        self.failure = failure
        self.delivered = delivered
        """False: nothing can have reached the server's tools, so the request may be sent again (R-10, R-13)."""
        self.session_gone = session_gone
        """The server does not know our session any more: initialise afresh (R-10)."""
        self.breaks_link = False
        """The whole link is dead, not this request alone."""
        self.while_probing = False
        """The link died over the first request that asks for the era: a server that knows no such request may do so."""

    def of(self, server: str, method: str) -> LinkError:
        """Return the same error naming the server and the request, for the caller who waits."""
        text = f"MCP server {server!r}: {method} failed: {self.failure.message}"
        remedy = self.failure.remedy
        if self.delivered:
            remedy = f"It was sent and may have run; Naru does not repeat it. {remedy}".rstrip()
        error = type(self)(self.failure, delivered=self.delivered, session_gone=self.session_gone)
        error.message, error.remedy, error.breaks_link = text, remedy, self.breaks_link
        error.args = (text,)
        return error

    def without(self, secrets: SecretValues) -> LinkError:
        """Take a server's secrets out of what it says; returns the same error."""
        self.failure = self.failure.without(secrets)
        self.message, self.remedy = secrets.text(self.message), secrets.text(self.remedy)
        self.args = (self.message,)
        return self


class BusyError(LinkError):
    """The server's queue is full, or the server asked to be left alone for a while."""

    code = "server_busy"
