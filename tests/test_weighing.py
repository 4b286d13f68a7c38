"""Issue 14: whether a tool changes something, and whether a message orders it, is the model's own word.

278 tools in eight languages that say nothing of themselves (`tests/cases`), terse ones, such that are named by nouns
and a programmer's docstrings among them. By the encoder 2 of the 122 that change something passed for reading and 75
were told as what they are; of a bench's others it took "Hand a dog back to its owner" for reading, and "When the shop
is open" nearly for changing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from naru.agent.selection import ASKS, UNTOLD, Ranked
from naru.agent.small.offering import Offering
from naru.agent.small.sources import Sources
from naru.errors import ModelError
from naru.messages import ChatEvent, ChatRequest, Extra, Finish, Message, Text, ToolDefinition
from naru.models.known.families import profile_for
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend
from naru.stores.kept.vectors import VectorShelf
from naru.weighing import MOST, Weighing

CASES = Path(__file__).parent / "cases" / "tools_that_change.jsonl"
LOOKS, THROWS = ToolDefinition("ticket", "One slip."), ToolDefinition("discard", "Throw away what was never fetched.")
ASKED = ChatRequest("tiny", (Message("user", "Can LT-3301 be fetched?"),))


class Says:
    """A model that begins with the word given for a text, as likely as told; None: with another one."""

    profile = profile_for("qwen2.5-coder-0.5b")

    def __init__(self, words: dict[str, str | None], odds: float | None = 3.0, fault: ModelError | None = None) -> None:
        self._words, self._odds, self._fault = words, odds, fault
        self.asked: list[str] = []

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        said = request.messages[-1].text
        self.asked.append(said)
        if self._fault is not None:
            raise self._fault
        word = next((word for begin, word in self._words.items() if said.startswith(begin)), None) or "hm"
        yield Text(word)
        if self._odds is not None:
            other = {"read": "write", "write": "read", "know": "do", "do": "know"}.get(word, "ah")
            likeliest = [{"token": f" {word.title()}", "logprob": -0.1}, {"token": other, "logprob": -0.1 - self._odds}]
            yield Extra("choice", {"logprobs": {"content": [{"token": word, "top_logprobs": likeliest}]}})
        yield Finish("stop")

    async def models(self) -> Sequence[str]:
        return ["tiny"]

    async def close(self) -> None: ...


def near(*tools: ToolDefinition, wish: float = -0.2) -> list[Ranked]:
    return [Ranked(tool, 0.5, closeness=0.5, ordered=UNTOLD, wish=wish) for tool in tools]


@pytest.mark.parametrize("odds", [3.0, None], ids=["likelihoods", "a word alone"])
async def test_issue_14_what_a_model_takes_for_changing_is_never_forced(odds: float | None) -> None:
    ranked = await Weighing().weigh(Says({"ticket": "read", "discard": "write"}, odds), ASKED, near(LOOKS, THROWS))
    offering = Offering(ranked, Sources("Is LT-3301 ready?"))
    assert [one.changes for one in ranked] == [False, True]
    assert [offering.may_be_forced(tool) for tool in (LOOKS, THROWS)] == [True, False]


async def test_issue_14_a_model_is_asked_once_for_a_tool_even_over_restarts(tmp_path: Path) -> None:
    first, later = Says({"ticket": "read"}), Says({})
    weighing = Weighing(VectorShelf(tmp_path / "weighed.db"))
    told = [await weighing.weigh(first, ASKED, near(LOOKS)) for _ in range(2)]
    told.append(await Weighing(VectorShelf(tmp_path / "weighed.db")).weigh(later, ASKED, near(LOOKS)))
    assert [one[0].changes for one in told] == [False] * 3
    assert (first.asked, later.asked) == (["ticket: One slip."], [])
    other = await weighing.weigh(later, replace(ASKED, model="another"), near(LOOKS))
    assert other[0].changes is None, "another model has its own word"


async def test_issue_14_a_model_is_asked_where_its_words_can_be_kept_nowhere(tmp_path: Path) -> None:
    (tmp_path / "weighed.db").write_text("no database", encoding="utf-8")
    weighing = Weighing(VectorShelf(tmp_path / "weighed.db"))
    assert (await weighing.weigh(Says({"ticket": "read"}), ASKED, near(LOOKS)))[0].changes is False


async def test_a_request_without_a_turn_of_a_persons_asks_nothing_of_it() -> None:
    backend, request = Says({"ticket": "read"}), replace(ASKED, messages=(Message("system", "Be brief."),))
    assert (await Weighing().weigh(backend, request, near(LOOKS, wish=0.0)))[0].changes is False
    assert backend.asked == ["ticket: One slip."]


async def test_issue_14_what_says_itself_what_it_does_is_not_asked_about() -> None:
    noted = replace(THROWS, annotations={"readOnlyHint": True})
    backend = Says({"discard": "write"})
    ranked = await Weighing().weigh(backend, ASKED, near(noted))
    assert (ranked[0].changes, backend.asked) == (False, [])


@pytest.mark.parametrize("fault", [None, ModelError("The engine is away.")], ids=["another word", "a failure"])
async def test_issue_14_where_a_model_does_not_tell_nobody_can(fault: ModelError | None) -> None:
    ranked = await Weighing().weigh(Says({}, fault=fault), ASKED, near(LOOKS, THROWS))
    assert [one.changes for one in ranked] == [None, None]


async def test_issue_14_2_of_many_tools_the_nearest_are_asked_about() -> None:
    backend = Says({"t": "read"})
    ranked = await Weighing().weigh(backend, ASKED, near(*(ToolDefinition(f"t{at}", "x") for at in range(MOST + 5))))
    assert len(backend.asked) == MOST
    assert [one.changes for one in ranked] == [False] * MOST + [None] * 5


@pytest.mark.parametrize(
    ("word", "wish", "asks"),
    [("know", 0.02, True), ("do", 0.02, False), ("do", -0.2, True), ("know", 0.2, False), ("hm", 0.0, False)],
)
async def test_issue_14_a_message_that_may_ask_or_order_is_the_models_to_tell(
    word: str, wish: float, asks: bool
) -> None:
    backend = Says({"Can": word, "discard": "write"})
    ranked = await Weighing().weigh(backend, ASKED, near(THROWS, wish=wish))
    assert ranked[0].is_to_know is asks
    assert (ASKED.messages[-1].text in backend.asked) is (ASKS <= wish < 0.03)


@pytest.mark.slow
async def test_issue_14_tools_that_change_something_are_told_from_those_that_read(local_engine) -> None:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()][::6]
    backend = OpenAIBackend(
        Endpoint(local_engine.base_url, local_engine.api_key), profile_for(local_engine.model), model=local_engine.model
    )
    weighing, request = Weighing(), replace(ASKED, model=local_engine.model)
    told: dict[bool, list[bool | None]] = {True: [], False: []}
    try:
        for row in rows:
            tool = ToolDefinition(f"{row['server']}__{row['name']}", row["description"])
            told[row["changes"]] += [(await weighing.weigh(backend, request, near(tool)))[0].changes]
    finally:
        await backend.close()
    print({changes: {how: words.count(how) for how in (True, None, False)} for changes, words in told.items()})
    assert told[True].count(False) <= 1, "what changes something passes for reading"
    assert told[True].count(True) > 0.85 * len(told[True])
    assert told[False].count(True) <= 1
    assert told[False].count(False) > 0.75 * len(told[False])
