"""Issue 14, 2: without the encoder and without a shared word, an id's shape or a menu of names tells the tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field
from tests.agent.small.conftest import asked, calls


def thing(number: int) -> Callable[..., Any]:
    def tool(what: str) -> str:
        return "nothing"

    tool.__name__ = f"thing_{number}"
    tool.__doc__ = f"Look at the thing number {number}.\n\nMore of it."
    return tool


def weather(city: str) -> str:
    """Forecast of rain and sun."""
    return "rain, 12 degrees"


def parcel(code: Annotated[str, Field(description="PK-00000")]) -> str:
    """Where a parcel is."""
    return "in Busan"


MANY = [*(thing(number) for number in range(9)), weather, parcel]
PICK = '{"name": "weather", "arguments": {}}'


async def test_a_question_that_shares_no_word_gets_a_menu_of_names_and_then_the_picked_tool() -> None:
    call = '{"name": "weather", "arguments": {"city": "오슬로"}}'
    record, backend = await asked("오슬로에 우산 가져가야 해?", [PICK, call, "네, 비가 와요."], MANY)
    first, second = backend.requests[:2]
    assert [tool.name for tool in first.tools] == [*(one.__name__ for one in MANY), "none"]
    assert {json.dumps(tool.input_schema) for tool in first.tools[:-1]} == {"{}"}
    assert first.tools[0].description == "Look at the thing number 0."
    assert first.tool_choice == "required"
    shown = {tool.name: tool for tool in second.tools}
    assert "city" in shown["weather"].input_schema["properties"]
    assert len(shown) < len(MANY)
    assert calls(record) == [("weather", {"city": "오슬로"})], "a pick is no call"
    assert record["answer"] == "네, 비가 와요."


async def test_none_of_the_menu_leads_to_an_answer_in_words() -> None:
    record, backend = await asked("고마워!", ['{"name": "none", "arguments": {}}', "천만에요!"], MANY)
    assert (calls(record), record["answer"], len(backend.requests)) == ([], "천만에요!", 2)
    assert backend.requests[1].tools == ()


async def test_words_in_place_of_a_pick_end_the_search() -> None:
    record, _ = await asked("고마워!", ["천만에요!", "천만에요!"], MANY)
    assert (calls(record), record["answer"]) == ([], "천만에요!")


async def test_an_id_of_the_question_shows_the_tool_of_its_shape_without_a_menu() -> None:
    call = '{"name": "parcel", "arguments": {"code": "PK-20418"}}'
    record, backend = await asked("PK-20418 어디쯤이야?", [call, "부산에 있어요."], MANY)
    assert "parcel" in [tool.name for tool in backend.requests[0].tools]
    assert len(backend.requests[0].tools) < len(MANY)
    assert calls(record) == [("parcel", {"code": "PK-20418"})]


async def test_a_shared_word_needs_no_menu() -> None:
    _, backend = await asked("Any rain in the forecast?", ["Hm.", "Hm."], MANY)
    assert "weather" in [tool.name for tool in backend.requests[0].tools]
    assert len(backend.requests[0].tools) < len(MANY)
