"""What a request costs its person: what the endpoint counts, else what was sent and said, in whatever form."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.errors import StoreError
from naru.messages import ArgumentsDelta, CallStart, ChatEvent, ChatRequest, Finish, Message, Reasoning, Usage
from naru.models.limits.bounded import BoundedBackend
from naru.models.scripted import ScriptedBackend
from naru.persons import Bounds, Person, Reach
from naru.stores.kept.spending import Spending

LONG = "words " * 700


@pytest.mark.parametrize(
    "said",
    [
        [Reasoning(LONG)],
        [CallStart(0, "call_1", "save"), ArgumentsDelta(0, LONG)],
        [Reasoning(LONG), Usage(0, 0), Finish("stop")],
    ],
    ids=["thoughts", "call", "counts nothing"],
)
async def test_what_an_endpoint_does_not_count_is_guessed_from_all_that_it_said(
    said: list[ChatEvent], tmp_path: Path
) -> None:
    spending = Spending(tmp_path / "spending.db")
    person = Person("key_1", Reach.of(Bounds(tokens_per_day=10_000)))
    backend = BoundedBackend(ScriptedBackend([said]), person, spending)
    [event async for event in backend.stream(ChatRequest("m", [Message("user", "hi")]))]
    assert 1000 < spending.of("key_1").tokens < 1500
    spending.close()


async def test_an_answer_is_whole_though_its_tokens_cannot_be_counted(tmp_path: Path) -> None:
    class Full(Spending):
        async def add_tokens(self, person: str, tokens: int) -> None:
            raise StoreError("The disk is full.")

    spending = Full(tmp_path / "spending.db")
    person = Person("key_1", Reach.of(Bounds(tokens_per_day=10_000)))
    events: list[ChatEvent] = [Usage(3, 4), Finish("stop")]
    backend = BoundedBackend(ScriptedBackend([events]), person, spending)
    assert [event async for event in backend.stream(ChatRequest("m", [Message("user", "hi")]))] == events
    spending.close()
