"""A stateless client before a server of sessions: the server's question ends the client's request, its retry goes on.

The request upstream stays under way between the two; nobody but the caller who got the sealed state can go on with it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from naru.gateway.sessions.exchange import ElsewhereError, Exchange, may_be_asked
from naru.gateway.wire.protocol import (
    ASK_CAPABILITY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    OVERLOADED,
    RpcError,
)
from naru.messages import Json, JsonObject
from naru.tasks import Tasks

if TYPE_CHECKING:  # brings an HTTP client, of which a server of its own has no need
    from naru.gateway.sessions.owners import Owners

TOGETHER_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Question:
    """What a server asked, until it is answered."""

    method: str
    params: JsonObject
    answer: asyncio.Future[Json]


class ParkedCall:
    """One request upstream, and the exchange whose client waits for it at the moment."""

    def __init__(self, exchange: Exchange) -> None:
        self.id = ""
        self.caller = exchange.caller
        self.view = exchange.view
        self.exchange: Exchange | None = exchange
        self._capabilities = exchange.capabilities
        self.task: asyncio.Task[JsonObject] | None = None
        self.expiry: asyncio.TimerHandle | None = None
        self._questions: dict[str, Question] = {}
        self._asked = asyncio.Event()
        self._count = 0

    # A Relay for the request upstream.

    @property
    def peer(self) -> object:
        """Whom `ask` asks: this request's own client alone."""
        return self

    def progress(self, params: JsonObject) -> None:
        """Pass progress to whoever waits now."""
        if self.exchange is not None:
            self.exchange.progress(params)

    def notify(self, method: str, params: JsonObject) -> None:
        """Pass a notification to whoever waits now."""
        if self.exchange is not None:
            self.exchange.notify(method, params)

    async def ask(self, method: str, params: JsonObject) -> Json:
        """Keep a question until the client's retry brings its answer. Raises RpcError."""
        if not may_be_asked(self._capabilities, method, params):
            raise RpcError(METHOD_NOT_FOUND, f"The client cannot be asked {method}.")
        self._count += 1
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        key = f"{ASK_CAPABILITY[method]}_{self._count}"
        self._questions[key] = Question(method, params, answer)
        self._asked.set()
        try:
            return await answer
        finally:
            self._questions.pop(key, None)

    def answer(self, responses: JsonObject) -> None:
        """Answer what can be answered; keys that nobody asked about are ignored.

        Raises:
            RpcError: -32602, an answer is no object; then none is taken.
        """
        answers = [(self._questions[key], answer) for key, answer in responses.items() if key in self._questions]
        for key, response in responses.items():
            if key in self._questions and not isinstance(response, dict):
                raise RpcError(INVALID_PARAMS, f"inputResponses[{key!r}] must be an object.")
        for question, response in answers:
            if not question.answer.done():
                question.answer.set_result(response)

    async def next(self) -> JsonObject | None:
        """Return the result, or None when the server asked something first. Raises what the request raised."""
        task = self.task
        assert task is not None
        # Answers given just now run on first, so that what they answered is not asked again.
        await asyncio.sleep(0)
        while not task.done():
            if self.questions:
                # What the server asks at the same time is asked at the same time.
                await asyncio.wait({task}, timeout=TOGETHER_SECONDS)
                if self.questions:
                    return None
                continue
            self._asked.clear()
            asked = asyncio.ensure_future(self._asked.wait())
            try:
                await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                asked.cancel()
        return task.result()

    def forget_questions(self, task: asyncio.Task[JsonObject]) -> None:
        """Give up what is still asked: the request that asked has ended."""
        if not task.cancelled():
            task.exception()  # seen, even if nobody comes back for it
        for question in self._questions.values():
            question.answer.cancel()

    @property
    def questions(self) -> JsonObject:
        """What is open, as `inputRequests`."""
        return {
            key: {"method": question.method, "params": question.params}
            for key, question in self._questions.items()
            if not question.answer.done()
        }


class Parking:
    """All parked calls, bounded in number, per caller and in time."""

    def __init__(
        self, owners: Owners | None = None, *, ttl_seconds: float = 600.0, per_caller: int = 64, total: int = 1000
    ) -> None:
        self._owners = owners
        self._ttl_seconds = ttl_seconds
        self._per_caller = per_caller
        self._total = total
        self._calls: dict[str, ParkedCall] = {}
        self._running = Tasks()

    def start(self, call: ParkedCall, work: Coroutine[Any, Any, JsonObject]) -> None:
        """Start the request upstream in a task of its own, which this object owns."""
        call.task = self._running.begin(work, name=f"call of {call.caller or 'client'}")
        call.task.add_done_callback(call.forget_questions)

    def park(self, call: ParkedCall) -> str:
        """Keep a call until its retry; returns its id.

        Raises:
            RpcError: too many wait already.
        """
        own = sum(1 for other in self._calls.values() if other.caller == call.caller)
        if len(self._calls) >= self._total or own >= self._per_caller:
            self.end(call)
            raise RpcError(OVERLOADED, "Too many requests wait for input. Answer some of them first.")
        call.exchange = None
        call.id = secrets.token_urlsafe(12)  # each round has a state of its own, good once
        if self._owners is not None:
            call.id = self._owners.mark(call.id)
        call.expiry = asyncio.get_running_loop().call_later(self._ttl_seconds, self._expire, call.id)
        self._calls[call.id] = call
        return call.id

    def take(self, call_id: str, exchange: Exchange, responses: JsonObject) -> ParkedCall:
        """Hand a parked call, with the answers that it waits for, to the exchange of its retry; it can be taken once.

        Raises:
            RpcError: -32602, it ended, expired, or is another caller's; or an answer is no object: it is still parked.
            ElsewhereError: another hub holds it.
        """
        if self._owners is not None and (holder := self._owners.holder(call_id)):
            raise ElsewhereError(holder)
        call = self._calls.get(call_id)
        if call is None or call.caller != exchange.caller:
            raise RpcError(INVALID_PARAMS, "The request that asked for this input is gone. Start it again.")
        call.answer(responses)
        del self._calls[call_id]
        if call.expiry is not None:
            call.expiry.cancel()
        call.exchange = exchange
        return call

    def end(self, call: ParkedCall) -> None:
        """Give a call up: the server is told that nobody waits any more."""
        if call.task is not None:
            call.task.cancel()

    def _expire(self, call_id: str) -> None:
        call = self._calls.pop(call_id, None)
        if call is not None:
            self.end(call)

    async def close(self) -> None:
        """Give all calls up."""
        for call in self._calls.values():
            if call.expiry is not None:
                call.expiry.cancel()
        self._calls.clear()
        await self._running.end()


def input_required(questions: JsonObject, state: str) -> JsonObject:
    """Return the result that asks a stateless client."""
    if not questions and not state:
        raise RpcError(INTERNAL_ERROR, "The server asked for input but named none.")
    result: JsonObject = {"resultType": "input_required"}
    if questions:
        result["inputRequests"] = questions
    if state:
        result["requestState"] = state
    return result
