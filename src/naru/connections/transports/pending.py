"""Who waits for which answer on a link where all answers share one stream (stdio, SSE)."""

from __future__ import annotations

import asyncio
import re

from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.base import Counters, Inbox, Outgoing
from naru.connections.transports.framing import Oversized
from naru.messages import Json, JsonObject

_HEAD_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*[,}]')
_NO_ANSWER = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc"\s*:\s*"2\.0"|id"\s*:\s*(?:\d+|"[^"]*"))\s*,\s*)*"method"\s*:')
_TAIL_ID = re.compile(rb'[,{]\s*"id"\s*:\s*(\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class PendingAnswers:
    """Futures by request id. An id counts only if it is an integer that we sent: never a look-alike (R-06).

    A server whose very first answer, to the only request that waits, brings its id back as text does so with all.
    """

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._are_texts: bool | None = None
        self._waiting: dict[int, tuple[Outgoing, asyncio.Future[JsonObject]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, call: Outgoing, future: asyncio.Future[JsonObject]) -> JsonObject:
        """Wait for the answer to a call that `expect` announced."""
        try:
            return await future
        finally:
            self._waiting.pop(call.id, None)

    def expect(self, call: Outgoing) -> asyncio.Future[JsonObject]:
        """Announce a call before its frame is written, so that no answer can overtake it."""
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[call.id] = (call, future)
        return future

    def forget(self, call: Outgoing) -> None:
        """Drop a call that could not be written; the link's end, if that is why, is told by who could not write."""
        _, future = self._waiting.pop(call.id)
        if future.done():
            future.exception()

    def dispatch(self, message: JsonObject, inbox: Inbox) -> None:
        """Give an answer to whom it belongs, and everything else to the inbox."""
        if "method" in message:
            inbox.receive(message, None)
            return
        request_id: Json = message.get("id")
        as_text = len(self._waiting) == 1 if self._are_texts is None else self._are_texts
        waiting = self._waiting.get(own_id(request_id, as_text=as_text))
        if waiting is None or waiting[1].done():
            self._counters.strays += 1
            return
        if self._are_texts is None:
            self._are_texts = isinstance(request_id, str)
        waiting[1].set_result(message)

    def fail_all(self, failure: Failure) -> None:
        """End every wait: the link is dead and the requests may have been carried out."""
        for _, future in self._waiting.values():
            if not future.done():
                error = LinkError(failure, delivered=True)
                error.breaks_link = True
                future.set_exception(error)

    def fail_oversized(self, frame: Oversized, cap: int) -> None:
        """End the wait whose answer was too long; all of them when nothing tells whose it was, or that it was none."""
        if _NO_ANSWER.match(frame.head):
            return
        found = _HEAD_ID.match(frame.head) or _TAIL_ID.search(frame.tail)
        failure = too_large(frame.length, cap)
        ids = [int(found[1])] if found else list(self._waiting)
        for request_id in ids:
            waiting = self._waiting.get(request_id)
            if waiting and not waiting[1].done():
                waiting[1].set_exception(LinkError(failure, delivered=True))


def own_id(request_id: Json, *, as_text: bool) -> int:
    """Return the number of ours that an answer's id is, where so allowed also as `"1"`; -1 for any other."""
    if type(request_id) is int:
        return request_id
    if as_text and isinstance(request_id, str) and re.fullmatch(r"[0-9]{1,18}", request_id):
        return int(request_id)
    return -1


def too_large(length: int | None, cap: int) -> Failure:
    """Return the failure of an answer beyond a cap; names the cap and its setting (R-07, a30)."""
    size = f"an answer of {length:,} bytes" if length is not None else "an answer"
    return Failure(
        "call",
        "too_large",
        f"the server sent {size}; the limit is {cap:,} bytes.",
        "Ask the tool for less, or raise `limits.answerMb` of the server's entry.",
    )


def cancelled(call: Outgoing, reason: str) -> JsonObject | None:
    """Return the notification that takes a request back; None where the spec forbids it (initialize)."""
    if call.method == "initialize":
        return None
    return {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": call.id, "reason": reason},
    }
