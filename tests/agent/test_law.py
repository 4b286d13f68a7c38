"""N17: the watch over all tests' runs sees a call that the model did not write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from bench.tongues.law import breaches
from tests.agent.small.conftest import asked
from tests.law import Watch

from naru.agent.events import AgentEvent, CallFinished, ModelAnswered, RoundStarted
from naru.messages import ToolCall, ToolResult

CALL = ToolCall("c1", "weather", {"city": "Oslo"})
RAN = CallFinished(1, CALL, ToolResult.of_text("rain"), 0.0, True, "model")


@pytest.mark.parametrize(
    ("written", "ran", "is_broken"),
    [
        ((CALL,), RAN, False),
        ((CALL,), replace(RAN, writer="grammar"), False),
        ((), RAN, True),
        ((CALL,), replace(RAN, call=replace(CALL, id="c2")), True),
        ((CALL,), replace(RAN, writer=""), True),
        ((), replace(RAN, ran=False), False),
    ],
)
async def test_a_call_that_the_model_did_not_write_in_its_round_is_seen(
    written: tuple[ToolCall, ...], ran: CallFinished, is_broken: bool
) -> None:
    async def events() -> AsyncIterator[AgentEvent]:
        yield RoundStarted(1)
        yield ModelAnswered(1, "", written, 0.0, 0.0)
        yield ran

    watch = Watch()
    assert [event async for event in watch.over(events())][-1] is ran
    assert bool(watch.breaches) is is_broken


async def test_every_run_is_watched_and_its_record_says_who_wrote_each_call(law: Watch) -> None:
    def weather(city: str) -> str:
        """Weather of a city."""
        return "rain"

    before = law.calls
    record, _ = await asked("Oslo?", ['{"name": "weather", "arguments": {"city": "Oslo"}}', "Rain."], [weather])
    assert law.calls == before + 1
    assert [call["writer"] for turn in record["rounds"] for call in turn["calls"]] == ["model"]
    assert breaches(record) == []
    made = record["rounds"][0]["calls"][0]
    for wrong in ({"writer": ""}, {"id": "another"}):
        forged = {"rounds": [{**record["rounds"][0], "calls": [{**made, **wrong}]}]}
        assert breaches(forged), wrong
