"""The legacy HTTP+SSE transport (2024-11-05): one GET stream for all answers, requests POSTed beside it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aiohttp
from yarl import URL

from naru.connections.state.faults import Failure, LinkError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports.base import Counters, Inbox, LogRing, Outgoing
from naru.connections.transports.http.addresses import is_same_origin, shown
from naru.connections.transports.http.bodies import chunks
from naru.connections.transports.http.client import HttpClient, Remote, unreachable
from naru.connections.transports.http.event_stream import Event, EventStreamParser, EventTooLargeError
from naru.connections.transports.http.responses import refusal
from naru.connections.transports.pending import PendingAnswers, cancelled, too_large
from naru.connections.wire import messages as wire
from naru.messages import Json, JsonObject
from naru.stores.secrets.values import SecretValues
from naru.tasks import Tasks

_STREAM_TYPES = ("text/event-stream", "text/plain", "application/octet-stream")
"""aiohttp takes a missing type for the last; whether it is a stream of events is told by its endpoint event."""
_MAY_BE_HTTP = "If it is a Streamable HTTP server, set its transport to HTTP."


class SseTransport:
    """Holds the stream in a task of its own; `open` returns when the server has named where to POST."""

    unfinished_bytes = 0
    """What is cut off says so itself."""

    def __init__(
        self, config: Mapping[str, Any], secrets: SecretValues, settings: ConnectionSettings, http: HttpClient
    ) -> None:
        self.counters = Counters()
        self.secrets = secrets
        self.logs = LogRing(settings.log_bytes, secrets)
        self._settings = settings
        self._remote = Remote(config, secrets, http)
        self._url, self._headers = self._remote.url, self._remote.headers
        self._pending = PendingAnswers(self.counters)
        self._inbox: Inbox | None = None
        self._post_to: asyncio.Future[URL] | None = None
        self._target: URL | None = None
        """Where a request was accepted first; what the server names may lack the path that a proxy puts before it."""
        self._prefix = str(config.get("endpointPrefix") or "").rstrip("/")
        self._failure: Failure | None = None
        self._closing = False
        self._tasks = Tasks()

    async def open(self, inbox: Inbox) -> None:
        """Open the stream and wait for its `endpoint` event. Raises LinkError."""
        self._inbox = inbox
        self._post_to = asyncio.get_running_loop().create_future()
        self._tasks.begin(self._read_stream())
        await asyncio.shield(self._post_to)

    async def _read_stream(self) -> None:
        try:
            await self._read_to_end()
            self._fail(LinkError(Failure("stream", "cut", "the server ended its event stream.")))
        except LinkError as error:
            self._fail(error)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            self._fail(unreachable(error, self._url))

    async def _read_to_end(self) -> None:
        headers = {**self._headers, "Accept": "text/event-stream", "Cache-Control": "no-store"}
        async with await self._remote.request("GET", self._url, headers) as response:
            if response.status != 200:
                found = await refusal(response, self._url, self.secrets, has_session=False)
                if not isinstance(found, LinkError):
                    raise _not_sse(self._url, f"HTTP {response.status}")
                if response.status in (400, 406):  # so Streamable HTTP servers refuse who comes without a session
                    found = LinkError(replace(found.failure, remedy=_MAY_BE_HTTP))
                raise found
            if response.content_type not in _STREAM_TYPES:
                raise _not_sse(self._url, response.content_type)
            parser = EventStreamParser(self._settings.max_body_bytes)
            try:
                async for chunk in chunks(response):
                    for event in parser.feed(chunk):
                        self._event(event)
            except EventTooLargeError as error:
                self.counters.oversized += 1
                raise LinkError(too_large(None, self._settings.max_body_bytes)) from error

    def _event(self, event: Event) -> None:
        if event.name == "endpoint":
            self._take_endpoint(event.data.decode("utf-8", "replace").strip())
            return
        if event.name != "message" or not event.data.strip():
            return
        try:
            value: Json = self.secrets.data(event.data, wire.decode(event.data))
        except ValueError:
            self.counters.noise_lines += 1
            return
        assert self._inbox is not None
        for message in value if isinstance(value, list) else [value]:
            if wire.is_message(message):
                self._pending.dispatch(message, self._inbox)
            else:
                self.counters.noise_lines += 1

    def _take_endpoint(self, text: str) -> None:
        assert self._post_to is not None
        if self._post_to.done():
            return
        try:
            target = self._url.join(URL(self._prefix + text if text.startswith("/") else text))
        except ValueError:
            raise _not_sse(self._url, "an endpoint that is no URL") from None
        if not is_same_origin(self._url, target):
            # Our headers hold secrets that belong to the origin in the record (S-12).
            message = f"{shown(self._url)} names an endpoint on another origin, {shown(target.origin())}."
            raise LinkError(Failure("connect", "redirected", message, "Put that origin's URL into the record."))
        self._post_to.set_result(target)

    def _fail(self, error: LinkError) -> None:
        if self._failure is not None:
            return
        self._failure = error.failure
        if self._post_to is not None and not self._post_to.done():
            error.breaks_link = True
            self._post_to.set_exception(error)
        elif self._inbox is not None and not self._closing:
            self._inbox.lost(error.failure)
        self._pending.fail_all(error.failure)

    async def exchange(self, call: Outgoing) -> JsonObject:
        """POST a request and wait for its answer on the stream. Raises LinkError."""
        future = self._pending.expect(call)
        try:
            await self._post(call.body, call.version, call.headers)
        except BaseException:
            self._pending.forget(call)
            raise
        return await self._pending.wait(call, future)

    async def send(self, body: bytes, *, version: str = "") -> None:
        """POST a notification or an answer. Raises LinkError."""
        await self._post(body, version, {})

    async def _post(self, body: bytes, version: str, extra: Mapping[str, str]) -> None:
        if self._failure is not None or self._post_to is None:
            error = LinkError(self._failure or Failure("connect", "not_open", "the stream is not open."))
            error.breaks_link = True
            raise error
        headers = {**self._headers, **extra, "Content-Type": "application/json"}
        if version:
            headers["MCP-Protocol-Version"] = version
        target = self._target if self._target is not None else await asyncio.shield(self._post_to)
        refused = await self._refused(target, headers, body)
        if refused is not None and (moved := self._below_prefix(target)) and refused.failure.code == "http_404":
            target, still = moved, await self._refused(moved, headers, body)
            refused = refused if still is not None else None
        if refused is not None:
            raise refused
        self._target = target

    async def _refused(self, target: URL, headers: Mapping[str, str], body: bytes) -> LinkError | None:
        """POST once; return the server's refusal. Raises LinkError when nothing came back."""
        try:
            async with await self._remote.request("POST", target, headers, body) as response:
                if response.status < 300:
                    return None
                has_session = self._target is not None
                if response.status == 404 and not has_session:
                    return LinkError(_no_endpoint(target, response.status))
                found = await refusal(response, target, self.secrets, has_session=has_session)
                return found if isinstance(found, LinkError) else _refused(target, response.status, found)
        except (aiohttp.ClientError, OSError) as error:
            raise unreachable(error, target) from error

    def _below_prefix(self, target: URL) -> URL | None:
        """Return the endpoint below the path that our own address has before its last part, as proxies give one."""
        prefix = self._url.path.rstrip("/").rpartition("/")[0]
        if self._target is not None or not prefix or target.path.startswith(f"{prefix}/"):
            return None
        return target.with_path(prefix + target.path, keep_query=True)

    def abandon(self, call: Outgoing, reason: str) -> None:
        """Tell the server that nobody waits any more."""
        notification = cancelled(call, reason)
        if notification and self._failure is None:
            self._tasks.begin(self._send_quietly(wire.encode(notification), call.version))

    async def _send_quietly(self, body: bytes, version: str) -> None:
        with contextlib.suppress(LinkError, TimeoutError):
            async with asyncio.timeout(self._settings.close_timeout_seconds):
                await self.send(body, version=version)

    def listen(self, version: str) -> None:
        """Do nothing: the stream carries everything."""

    async def close(self) -> None:
        """End the stream."""
        self._closing = True
        await self._tasks.end()
        self._fail(LinkError(Failure("close", "closed", "the connection was closed.")))
        if self._post_to is not None and self._post_to.done():
            self._post_to.exception()  # taken note of, so that it is not reported as never retrieved


def _not_sse(url: URL, what: str) -> LinkError:
    message = f"{shown(url)} answered {what} instead of an event stream with an endpoint."
    return LinkError(Failure("connect", "protocol", message, _MAY_BE_HTTP))


def _no_endpoint(url: URL, status: int) -> Failure:
    return Failure(
        "connect",
        f"http_{status}",
        f"POST {shown(url)}, which the server named as its endpoint, is answered with HTTP {status}.",
        'If a proxy serves it below a path, write that path as `endpointPrefix` into its entry, such as "/tools".',
    )


def _refused(url: URL, status: int, message: JsonObject) -> LinkError:
    text = str(message.get("error", {}).get("message", ""))[:200]
    return LinkError(Failure("call", f"http_{status}", f"{shown(url)} refused the request with HTTP {status}: {text}"))
