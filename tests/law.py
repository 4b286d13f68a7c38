"""The law (N17), held over every run that any test makes: each call that ran was written by the model in that round."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import pytest

from naru.agent import loop
from naru.agent.events import AgentEvent, CallFinished, ModelAnswered, RoundStarted


class Watch:
    """Reads the events of all runs; keeps the calls that nobody wrote."""

    def __init__(self) -> None:
        self.breaches: list[CallFinished] = []
        self.calls = 0

    async def over(self, events: AsyncGenerator[AgentEvent, None]) -> AsyncGenerator[AgentEvent, None]:
        """Pass a run's events on."""
        written: set[str] = set()
        async with aclosing(events) as passing:
            async for event in passing:
                match event:
                    case RoundStarted():
                        written = set()
                    case ModelAnswered(calls=calls):
                        written = {call.id for call in calls}
                    case CallFinished(ran=True, call=call, writer=writer):
                        self.calls += 1
                        if call.id not in written or writer not in ("model", "grammar"):
                            self.breaches.append(event)
                yield event


@pytest.fixture(scope="session", autouse=True)
def law() -> Iterator[Watch]:
    """Watch every run of the loop in this process."""
    watch, events = Watch(), loop._Run.events
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop._Run, "events", lambda work, has_tools: watch.over(events(work, has_tools)))
        yield watch


@pytest.fixture(autouse=True)
def every_call_has_its_writer(law: Watch) -> Iterator[None]:
    """Fail the test whose run broke the law."""
    yield
    broken, law.breaches = law.breaches, []
    assert broken == []
