"""Answers find who waits for them, and nobody else (R-06)."""

from __future__ import annotations

import asyncio
import gc
import random
from typing import Any

import pytest

from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.base import Counters, Outgoing
from naru.connections.transports.framing import Oversized
from naru.connections.transports.pending import PendingAnswers


class Heard:
    """An inbox that keeps what it gets."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def receive(self, message: dict[str, Any], call: Outgoing | None) -> None:
        self.messages.append(message)

    def lost(self, failure: object) -> None:
        raise AssertionError(failure)


async def test_a_hundred_thousand_fuzzed_answers_reach_nobody_they_are_not_for() -> None:
    """R-06"""
    chance = random.Random(11)
    counters, inbox = Counters(), Heard()
    pending = PendingAnswers(counters)
    waiting = {number: pending.expect(Outgoing(number, "tools/call", b"")) for number in range(1, 201)}
    for _ in range(100_000):
        number = chance.randint(1, 200)
        wrong = (str(number), float(number), number + 0.5, None, True, False, [number], {"id": number}, -number, 10**9)
        pending.dispatch({"jsonrpc": "2.0", "id": chance.choice(wrong), "result": {"of": "nobody"}}, inbox)
    assert not any(future.done() for future in waiting.values())
    for number in chance.sample(sorted(waiting), len(waiting)):
        pending.dispatch({"jsonrpc": "2.0", "id": number, "result": {"of": number}}, inbox)
        pending.dispatch({"jsonrpc": "2.0", "id": number, "result": {"of": "the second answer"}}, inbox)
    misdelivered = sum(future.result()["result"]["of"] != number for number, future in waiting.items())
    print(f"R-06: 100000 fuzzed answers, {misdelivered} misdelivered, {counters.strays} dropped and counted")
    assert misdelivered == 0
    assert counters.strays == 100_200
    assert inbox.messages == []


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"content":[', b"]}}"),
        (b'{ "id" : 7 , "result": {', b"}}"),
        (b'{"result":{"id":9,"content":[', b']},"jsonrpc":"2.0","id":7}'),
        (b'{"result":{"content":[', b']},"id":7,"jsonrpc":"2.0"}\r'),
    ],
    ids=["python", "spaced", "typescript", "reversed"],
)
async def test_an_oversized_answer_fails_the_call_it_answers_alone(head: bytes, tail: bytes) -> None:
    """R-07"""
    pending = PendingAnswers(Counters())
    futures = {number: pending.expect(Outgoing(number, "tools/call", b"")) for number in (7, 8, 9)}
    pending.fail_oversized(Oversized(9_000_000, head, tail), 8_000_000)
    with pytest.raises(LinkError, match="9,000,000 bytes"):
        await asyncio.wait_for(futures[7], 30)
    assert not futures[8].done()
    assert not futures[9].done()


@pytest.mark.parametrize(
    "head",
    [
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"',
        b'{ "method" : "notifications/message", "params": {"data": "',
        b'{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[',
        b'{"jsonrpc": "2.0", "id": "q-1", "method": "sampling/createMessage", "params": {',
    ],
    ids=["notification", "typescript", "request", "request-with-text"],
)
async def test_what_is_oversized_and_no_answer_fails_no_call(head: bytes) -> None:
    """R-07"""
    pending = PendingAnswers(Counters())
    futures = [pending.expect(Outgoing(number, "tools/call", b"")) for number in (7, 8)]
    pending.fail_oversized(Oversized(9_000_000, head, b'"}}'), 8_000_000)
    assert not any(future.done() for future in futures)


async def test_an_oversized_answer_of_nobody_in_particular_fails_all_that_wait() -> None:
    """R-07: better told than hanging."""
    pending = PendingAnswers(Counters())
    futures = [pending.expect(Outgoing(number, "tools/call", b"")) for number in (7, 8)]
    pending.fail_oversized(Oversized(9_000_000, b'{"result":"x', b'x"'), 8_000_000)
    for future in futures:
        with pytest.raises(LinkError):
            await asyncio.wait_for(future, 30)


async def test_a_call_that_the_links_end_kept_from_being_written_is_no_error_of_the_event_loop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """N10: whoever could not write tells it, and the log shows no `Future exception was never retrieved` beside it."""
    pending, call = PendingAnswers(Counters()), Outgoing(1, "initialize", b"")
    future = pending.expect(call)
    pending.fail_all(Failure("stream", "exited", "the process exited with code 1."))
    pending.forget(call)
    assert len(pending) == 0
    del future
    gc.collect()
    assert caplog.text == ""
