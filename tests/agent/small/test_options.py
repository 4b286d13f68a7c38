"""Issue 14: a small model is shown the choices and numbers of which something was said, and fills in no others.

`tests/cases/options.jsonl`: own options of own tools, each with five questions that mean it and five that do not, in
six languages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field
from tests.agent.small.conftest import asked, calls

from naru.agent.closeness import Closeness
from naru.agent.options import asked_for
from naru.agent.selection import Ranked
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.messages import ChatRequest, Message, ToolDefinition

LINES = (Path(__file__).parents[2] / "cases" / "options.jsonl").read_text(encoding="utf-8").splitlines()


def weather(city: str, units: Literal["metric", "imperial"] = "metric", days: int = 1) -> dict:
    """Weather of a city."""
    return {"city": city, "units": units, "degrees": -7}


async def far(question: str, texts: Sequence[str]) -> list[float]:
    return [0.0] * len(texts)


async def shown(question: str, answer: str, near=far) -> tuple[list[str], list]:
    record, backend = await asked(question, [answer, "It is -7."], (weather,), near=near)
    return list(backend.requests[0].tools[0].input_schema["properties"]), calls(record)


async def test_issue_14_an_option_of_which_nothing_was_said_is_neither_shown_nor_filled_in() -> None:
    call = '{"name": "weather", "arguments": {"city": "Toronto", "units": "imperial"}}'
    assert await shown("What is the weather in Toronto?", call) == (["city"], [("weather", {"city": "Toronto"})])


@pytest.mark.parametrize(
    ("question", "properties"),
    [
        ("The weather in Toronto, imperial please", ["city", "units"]),
        ("Das Wetter in Toronto für 3 Tage", ["city", "days"]),
        ("The weather at T-1000", ["city"]),
    ],
)
async def test_issue_14_an_option_whose_value_was_said_is_shown(question: str, properties: list[str]) -> None:
    assert (await shown(question, '{"name": "weather", "arguments": {"city": "Toronto"}}'))[0] == properties


async def test_issue_14_where_nothing_tells_meaning_all_options_are_shown() -> None:
    found, _ = await shown("Weather in Toronto?", '{"name": "weather", "arguments": {"city": "Toronto"}}', near=None)
    assert found == ["city", "units", "days"]


async def test_a_message_without_a_word_leaves_every_option_in_view() -> None:
    assert (await shown("  ", "Hello."))[0] == ["city", "units", "days"]


async def test_issue_14_what_is_needed_or_is_a_text_is_always_shown() -> None:
    def room(kind: Literal["single", "double"], guest: Annotated[str, Field(description="who stays")] = "") -> dict:
        """Price of a room."""
        return {"price": 40}

    script = ['{"name": "room", "arguments": {"kind": "single"}}', "40."]
    _, backend = await asked("What does it cost?", script, (room,), near=far)
    assert list(backend.requests[0].tools[0].input_schema["properties"]) == ["kind", "guest"]


@pytest.mark.slow
async def test_issue_14_most_options_that_are_meant_are_shown_and_few_others(encoder: SentenceEncoder) -> None:
    near = Closeness(encoder.embed).near
    told = {"meant": [], "other": []}
    for one in map(json.loads, LINES):
        tool = ToolDefinition(
            one["tool"], one["description"], {"type": "object", "properties": {one["option"]: one["schema"]}}
        )
        for kind, of in told.items():
            for question in one[kind]:
                request = ChatRequest("model", (Message("user", question),))
                ranked = await asked_for([Ranked(tool, 0.0)], request, near)
                of.append(bool(ranked[0].tool.input_schema["properties"]))
    print({kind: f"{sum(of)} of {len(of)}" for kind, of in told.items()})
    assert sum(told["meant"]) >= 0.88 * len(told["meant"])
    assert sum(told["other"]) <= 0.22 * len(told["other"])
