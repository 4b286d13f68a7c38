"""The connections to one model endpoint, with what stands at the head of each request and what failures are called.

Redirects are not followed: they would carry the key elsewhere, and turn a POST into a GET.
"""

from __future__ import annotations

from yarl import URL

from naru.errors import ConfigError, ModelError
from naru.http1.connection import Limits
from naru.http1.faults import DialError, EncodingError, ExchangeError, NotHttpError, SilenceError
from naru.http1.head import address_of, request_head, with_body
from naru.http1.pool import Pool
from naru.http1.reply import Reply
from naru.models.transport.endpoint import ERROR_BODY_BYTES, WHOLE_BODY_BYTES, Endpoint
from naru.models.transport.failures import failure, http_failure

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 15.0
_REST_SECONDS = 0.05
"""How long the end of a body may take after its last event; a connection whose body has ended is used again."""
_ACCEPT = "text/event-stream, application/x-ndjson, application/json"
_CODES: tuple[tuple[type[ExchangeError], str], ...] = (
    (DialError, "unreachable"),
    (SilenceError, "overloaded"),
    (NotHttpError, "not_an_api"),
    (EncodingError, "not_an_api"),
)
_SILENT = "Ask again in a moment, or let it be silent for longer: agent.model_timeout_seconds."


class HttpPool:
    """Requests to one endpoint."""

    def __init__(self, endpoint: Endpoint, *, timeout_seconds: float) -> None:
        """Take an endpoint; nothing is opened yet. `timeout_seconds` is the longest silence.

        Raises:
            ConfigError: a header or the key cannot be sent.
        """
        self.endpoint = endpoint
        self.where = f"The model endpoint {endpoint.shown}"
        self._headers = {"Accept": _ACCEPT}
        if not endpoint.keep_alive:
            self._headers["Connection"] = "close"
        given = {name.lower() for name in endpoint.headers}
        self._headers = {name: value for name, value in self._headers.items() if name.lower() not in given}
        self._headers |= endpoint.headers
        self._heads: dict[str, bytes] = {}
        limits = Limits(
            connect_seconds=_CONNECT_SECONDS,
            silence_seconds=timeout_seconds,
            linger_seconds=_REST_SECONDS,
            idle_seconds=_IDLE_SECONDS if endpoint.keep_alive else 0.0,
        )
        try:
            self._pool = Pool(address_of(URL(endpoint.base_url)), limits=limits, fault=self._told)
            self.head("")
        except ValueError as error:
            raise ConfigError(
                f"A request to {endpoint.shown} cannot be sent: {error}.",
                remedy="Correct its base URL, its key or its headers.",
            ) from error

    async def post(self, path: str, body: bytes) -> Reply:
        """Post JSON; again when a kept connection proves to be closed. A model call has no effect to be repeated.

        Raises:
            ModelError: the endpoint cannot be reached, broke off, went silent or speaks no HTTP.
        """
        return await self._ask(with_body(self.head(path), body))

    def head(self, path: str) -> bytes:
        """Return what stands before the body's length; the same for every request to a path."""
        head = self._heads.get(path)
        if head is None:
            head = self._heads[path] = self._head("POST", path, {"Content-Type": "application/json"})
        return head

    async def get(self, path: str) -> bytes:
        """Get a whole body.

        Raises:
            ModelError: it cannot be had.
        """
        answer = await self._ask(self._head("GET", path, {}) + b"\r\n")
        try:
            body = await answer.read_some(WHOLE_BODY_BYTES if answer.status < 300 else ERROR_BODY_BYTES)
            answer.release()
        finally:
            answer.close()
        if answer.status >= 300:
            raise http_failure(self.where, answer.status, answer.headers, body)
        return body

    async def refusal(self, answer: Reply) -> ModelError:
        """Return why a request was refused, by an answer that is then done with."""
        try:
            body = await answer.read_some(ERROR_BODY_BYTES)
            answer.release()
        finally:
            answer.close()
        return http_failure(self.where, answer.status, answer.headers, body)

    async def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _head(self, verb: str, path: str, headers: dict[str, str]) -> bytes:
        joint = "&" if "?" in path else "?"
        query = f"{joint}{self.endpoint.query}" if self.endpoint.query else ""
        url = URL(f"{self.endpoint.base_url.rstrip('/')}{path}{query}")
        return request_head(verb, url, self._headers | headers)

    async def _ask(self, request: bytes) -> Reply:
        answer = await self._pool.ask(request, is_repeatable=True)
        if 300 <= answer.status < 400:
            answer.close()
            to = answer.headers.get("location", "elsewhere")[:200]
            raise failure(
                "not_an_api", f"{self.where} answered {answer.status} and points to {to}.", status=answer.status
            )
        return answer

    def _told(self, error: ExchangeError) -> ModelError:
        code = next((code for kind, code in _CODES if isinstance(error, kind)), "broken_off")
        told = failure(code, f"{self.where} {error}.", remedy=_SILENT if isinstance(error, SilenceError) else "")
        told.__cause__ = error
        return told
