"""Streamable HTTP in both eras: a POST per request, whose answer is JSON or a stream of events.

Legacy era: a session id, a GET stream for what the server says of itself, resumption by `Last-Event-ID`, DELETE at the
end. Modern era: `Mcp-Method` and `Mcp-Name` headers; closing the response is the cancellation.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import aiohttp

from naru.connections.state.faults import Failure, LinkError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports.base import Counters, Inbox, LogRing, Outgoing
from naru.connections.transports.http.bodies import chunks, read_body
from naru.connections.transports.http.client import HttpClient, Remote, unreachable
from naru.connections.transports.http.event_stream import EventStreamParser, EventTooLargeError
from naru.connections.transports.http.responses import means_lost_session, refusal, same_origin_redirect, session_gone
from naru.connections.transports.pending import cancelled, own_id, too_large
from naru.connections.wire import messages as wire
from naru.connections.wire.protocol import header_value
from naru.http1.reply import Reply
from naru.messages import Json, JsonObject
from naru.stores.secrets.values import SecretValues
from naru.tasks import Tasks

_RESUME_SECONDS = 1.0
_LEAST_PAUSE_SECONDS = 0.1
"""Before a stream is opened again, also where the server says `retry: 0`."""
_LISTEN_PAUSES = (1.0, 2.0, 5.0, 15.0, 30.0)
_IDLE_SECONDS = 0.05
"""No server has died and come back sooner; one written in Python does in 0.4 s."""


class StreamableHttpTransport:
    """Talks to one URL through the process's shared client."""

    unfinished_bytes = 0
    """What is cut off says so itself."""

    def __init__(
        self, config: Mapping[str, Any], secrets: SecretValues, settings: ConnectionSettings, http: HttpClient
    ) -> None:
        self.counters = Counters()
        self.secrets = secrets
        self.logs = LogRing(settings.log_bytes, secrets)
        self.session_id = ""
        self._settings = settings
        self._remote = Remote(config, secrets, http)
        self._url = self._remote.url
        self._headers = {
            **self._remote.headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._inbox: Inbox | None = None
        self._version = ""
        self._is_modern = False
        self._is_forgotten = False
        self._are_texts: bool | None = None
        self._used_at = 0.0
        self._has_stream = False
        self._tasks = Tasks()

    async def open(self, inbox: Inbox) -> None:
        """Remember the inbox: the first request is the dial."""
        self._inbox = inbox

    async def exchange(self, call: Outgoing) -> JsonObject:
        """POST a request and read its answer. Raises LinkError."""
        headers = self._request_headers(call)
        await self._notice_closed_connections()
        for _ in range(2):
            try:
                response = await self._remote.post(self._url, headers, call.body)
                if target := same_origin_redirect(response, self._url):
                    response.close()
                    self._url = target
                    continue
                return await self._answer_then_release(response, call, has_session="Mcp-Session-Id" in headers)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                raise unreachable(error, self._url) from error
        failure = Failure("connect", "redirected", "the server redirects in circles.", retryable=False)
        raise LinkError(failure)

    async def _notice_closed_connections(self) -> None:
        """After a pause, let the loop hear that the server closed its end, or a call goes out on a dead connection.

        Such a call fails as one that may have run, although nobody got it (a20).
        """
        now = asyncio.get_running_loop().time()
        idle, self._used_at = now - self._used_at, now
        if idle > _IDLE_SECONDS:
            for _ in range(3):  # the end of the stream, the closing, the pool's look at it
                await asyncio.sleep(0)

    def _request_headers(self, call: Outgoing) -> dict[str, str]:
        headers = {**self._headers, **call.headers}
        self._version = call.version
        self._is_modern = call.era == "modern"
        if call.version:
            headers["MCP-Protocol-Version"] = call.version
        if self._is_modern:
            headers["Mcp-Method"] = call.method
            if call.name:
                headers["Mcp-Name"] = header_value(call.name)
        elif self.session_id:
            headers["Mcp-Session-Id"] = self.session_id
        return headers

    async def _answer_then_release(self, response: Reply, call: Outgoing, *, has_session: bool) -> JsonObject:
        try:
            answer = await self._answer(response, call, has_session=has_session)
        except BaseException:
            # Closing the stream is also how a modern server learns of a cancellation.
            response.close()
            raise
        response.release()
        return answer

    async def _answer(self, response: Reply, call: Outgoing, *, has_session: bool) -> JsonObject:
        if response.status >= 300:
            found = await refusal(response, self._url, self.secrets, has_session=has_session)
            if isinstance(found, LinkError):
                if found.session_gone:
                    self._is_forgotten = True
                raise found
            return found
        if call.method == "initialize":
            self.session_id = response.headers.get("Mcp-Session-Id", "")
        if response.content_type == "text/event-stream":
            answer = await self._streamed_answer(response, call)
        else:
            answer = self._whole_answer(await read_body(response, self._settings.max_body_bytes), response, call)
        if has_session and means_lost_session(answer):
            self._is_forgotten = True
            raise session_gone()
        return answer

    def _whole_answer(self, body: bytes, response: Reply, call: Outgoing) -> JsonObject:
        """Read an answer that came in one piece; what it is counts, not what its type says."""
        if response.status == 202 or not body.strip():
            raise _protocol(f"the server answered {call.method} with HTTP {response.status} and no body.")
        if body.lstrip().startswith((b"event:", b"data:", b"id:", b":")):
            for event in EventStreamParser(self._settings.max_body_bytes).feed(body + b"\n\n"):
                if answer := self._event(event.name, event.data, call):
                    return answer
        try:
            value: Json = self.secrets.data(body, wire.decode(body))
        except ValueError as error:
            if "json" in response.content_type:
                raise _protocol(f"the server's answer is not JSON: {error}.") from error
            start = self.secrets.text(body.decode("utf-8", "replace"))[:80]
            what = response.content_type or "no type"
            raise _protocol(f"the server answered {what} instead of JSON: {start!r}.") from error
        return self._one_answer(value, call)

    def _one_answer(self, value: Json, call: Outgoing) -> JsonObject:
        """Pick the answer out of a JSON body: a batch may carry notifications beside it (2025-03-26)."""
        messages = value if isinstance(value, list) else [value]
        answer: JsonObject | None = None
        for message in messages:
            if isinstance(message, dict) and (found := self._sort(message, call)):
                answer = found
        if answer is None:
            raise _protocol("the server's reply does not answer the request.")
        return answer

    def _sort(self, message: JsonObject, call: Outgoing) -> JsonObject | None:
        """Return the message if it answers the call; hand on what is not an answer; count what is nobody's (R-06)."""
        if "method" in message:
            assert self._inbox is not None
            self._inbox.receive(message, call)
            return None
        request_id: Json = message.get("id")
        if own_id(request_id, as_text=self._are_texts is not False) == call.id:
            self._are_texts = isinstance(request_id, str)
            return message
        if request_id is None and "error" in message:
            return message
        self.counters.strays += 1
        return None

    async def _streamed_answer(self, response: Reply, call: Outgoing) -> JsonObject:
        parser = EventStreamParser(self._settings.max_body_bytes)
        try:
            answer = await self._read_events(response, parser, call)
        except OSError:
            if parser.last_id is None or call.era == "modern":
                raise
            answer = None
        while answer is None:
            # The server may close a stream and have it resumed: by polling (2025-11-25), or after a cut.
            if parser.last_id is None or call.era == "modern":
                failure = Failure("call", "cut", "the server ended its stream without an answer.")
                raise LinkError(failure, delivered=True)
            await asyncio.sleep(_pause(parser, _RESUME_SECONDS))
            answer = await self._resume(parser, call)
        return answer

    async def _resume(self, parser: EventStreamParser, call: Outgoing) -> JsonObject | None:
        headers = {**self._get_headers(), "Last-Event-ID": parser.last_id or ""}
        try:
            async with await self._remote.request("GET", self._url, headers) as response:
                if response.status != 200:
                    found = await refusal(response, self._url, self.secrets, has_session=True)
                    failure = found.failure if isinstance(found, LinkError) else None
                    reason = failure.message if failure else f"HTTP {response.status}"
                    cut = Failure("call", "cut", f"the server's stream was cut and could not be resumed: {reason}")
                    raise LinkError(cut, delivered=True)
                with contextlib.suppress(aiohttp.ClientPayloadError):  # cut once more
                    return await self._read_events(response, parser, call)
                return None
        except aiohttp.ClientError as error:
            failure = unreachable(error, self._url).failure
            raise LinkError(failure, delivered=True) from error

    async def _read_events(
        self, response: aiohttp.ClientResponse | Reply, parser: EventStreamParser, call: Outgoing | None
    ) -> JsonObject | None:
        """Read events until the call's answer, or to the end; messages that are not it go to the inbox."""
        cap = self._settings.max_body_bytes
        parser.begin()
        try:
            async for chunk in chunks(response):
                for event in parser.feed(chunk):
                    answer = self._event(event.name, event.data, call)
                    if answer is not None:
                        return answer
        except EventTooLargeError as error:
            self.counters.oversized += 1
            raise LinkError(too_large(None, cap), delivered=True) from error
        return None

    def _event(self, name: str, data: bytes, call: Outgoing | None) -> JsonObject | None:
        if name != "message" or not data.strip():
            return None
        try:
            value: Json = self.secrets.data(data, wire.decode(data))
        except ValueError:
            self.counters.noise_lines += 1
            return None
        for message in value if isinstance(value, list) else [value]:
            if not isinstance(message, dict):
                self.counters.noise_lines += 1
            elif call is not None:
                if answer := self._sort(message, call):
                    return answer
            elif "method" in message:
                assert self._inbox is not None
                self._inbox.receive(message, None)
            else:
                self.counters.strays += 1
        return None

    def _get_headers(self) -> dict[str, str]:
        headers = {**self._headers, "Accept": "text/event-stream"}
        del headers["Content-Type"]
        if self.session_id:
            headers["Mcp-Session-Id"] = self.session_id
        if self._version:
            headers["MCP-Protocol-Version"] = self._version
        return headers

    async def send(self, body: bytes, *, version: str = "") -> None:
        """POST a notification or an answer. Raises LinkError."""
        headers = dict(self._headers)
        if version:
            headers["MCP-Protocol-Version"] = version
        if self.session_id:
            headers["Mcp-Session-Id"] = self.session_id
        try:
            response = await self._remote.post(self._url, headers, body)
            try:
                if response.status >= 300:
                    found = await refusal(response, self._url, self.secrets, has_session=bool(self.session_id))
                    if isinstance(found, LinkError):
                        raise found
            finally:
                response.release()
        except (OSError, ValueError) as error:
            raise unreachable(error, self._url) from error

    def abandon(self, call: Outgoing, reason: str) -> None:
        """Tell a legacy server by notification; a modern one was told by the closed response."""
        notification = cancelled(call, reason)
        if call.era == "legacy" and notification and self.session_id:
            self._tasks.begin(self._send_quietly(wire.encode(notification), call.version))

    async def _send_quietly(self, body: bytes, version: str) -> None:
        with contextlib.suppress(LinkError, TimeoutError):
            async with asyncio.timeout(self._settings.close_timeout_seconds):
                await self.send(body, version=version)

    def listen(self, version: str) -> None:
        """Open the legacy GET stream and keep it open."""
        self._version = version
        if self.session_id:
            self._tasks.begin(self._listen())

    async def _listen(self) -> None:
        parser = EventStreamParser(self._settings.max_body_bytes)
        failures = 0
        while True:
            is_offered, fault = await self._listen_once(parser)
            if not is_offered:
                return
            failures = 0 if fault is None else failures + 1
            if fault is not None and (fault.session_gone or fault.breaks_link):
                assert self._inbox is not None
                self._inbox.lost(fault.failure)
                return
            await asyncio.sleep(_pause(parser, _LISTEN_PAUSES[min(failures, len(_LISTEN_PAUSES) - 1)]))

    async def _listen_once(self, parser: EventStreamParser) -> tuple[bool, LinkError | None]:
        """Read one GET stream to its end; tell whether the server offers one, and what broke it."""
        headers = self._get_headers()
        if parser.last_id is not None:
            headers["Last-Event-ID"] = parser.last_id
        try:
            async with await self._remote.request("GET", self._url, headers) as response:
                # Of a session that was never heard this way 404 says the same as 405: there is no such route.
                is_none = response.status == 405 or (response.status == 404 and not self._has_stream)
                if is_none or (response.status == 200 and response.content_type != "text/event-stream"):
                    return False, None
                if response.status != 200:
                    found = await refusal(response, self._url, self.secrets, has_session=True)
                    return (True, found) if isinstance(found, LinkError) else (False, None)
                self._has_stream = True
                await self._read_events(response, parser, None)
                return True, None
        except LinkError as error:
            return True, error
        except (aiohttp.ClientError, OSError) as error:
            return True, unreachable(error, self._url)

    async def close(self) -> None:
        """Stop the streams and give the session back."""
        await self._tasks.end()
        session_id, self.session_id = self.session_id, ""
        if not session_id or self._is_forgotten:
            return
        headers = {**self._get_headers(), "Mcp-Session-Id": session_id}
        with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError, LinkError):
            async with asyncio.timeout(self._settings.close_timeout_seconds):
                async with await self._remote.request("DELETE", self._url, headers) as response:
                    response.release()


def _pause(parser: EventStreamParser, unasked: float) -> float:
    """Return the seconds before a stream is opened again: what its server wants, if it said so."""
    return unasked if parser.retry_seconds is None else max(parser.retry_seconds, _LEAST_PAUSE_SECONDS)


def _protocol(message: str) -> LinkError:
    return LinkError(
        Failure("call", "protocol", message, "Check that the URL is that of an MCP server."), delivered=True
    )
