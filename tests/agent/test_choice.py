"""Issue 14, 2: every model that gets more tools than it has room for is shown the nearest, not small ones alone."""

from __future__ import annotations

import pytest

from naru.agent.choice import chosen, ranked_for
from naru.agent.selection import Ranked
from naru.messages import ChatRequest, Message, ToolDefinition
from naru.models.known.profile import Profile

TOOLS = [ToolDefinition(f"thing_{number}", f"Look at thing {number}. " + "It is large. " * 40) for number in range(30)]
WEATHER = ToolDefinition("weather", "Forecast of rain and sun.")
ASKED = ChatRequest("m", (Message("user", "Any rain in the forecast?"),))


@pytest.mark.parametrize(
    ("profile", "most", "count"),
    [
        (Profile(), 0, 31),
        (Profile(context_tokens=131_072), 0, 31),
        (Profile(tool_budget=8), 0, 8),
        (Profile(tool_budget=8), 5, 5),
        (Profile(context_tokens=131_072), 12, 12),
    ],
)
async def test_as_many_are_shown_as_the_budget_says(profile: Profile, most: int, count: int) -> None:
    shown = await chosen([*TOOLS, WEATHER], ASKED, profile, most, None)
    assert len(shown) == count
    assert WEATHER in shown


async def test_tools_take_half_of_the_context_at_most() -> None:
    shown = await chosen([*TOOLS, WEATHER], ASKED, Profile(context_tokens=4096), 0, None)
    assert WEATHER in shown
    assert 5 < len(shown) < 31


@pytest.mark.parametrize(
    ("answer", "question", "about"),
    [
        ("Yes, 2.5 l. The dishwasher is full. Shall I start it?", "Yes, please.", "Shall I start it?"),
        ("はい。食洗機がいっぱいです。始めますか？", "お願いします。", "始めますか？"),
        ("- milk\n- bread\nهل أشغل الغسالة؟", "نعم", "هل أشغل الغسالة؟"),
        ("Yes. Ask me anything?! The list is long.", "And bread?", "Is there milk?"),
        ("", "And bread?", "Is there milk?"),
    ],
)
async def test_a_follow_up_is_about_what_was_asked_before_it_by_whomever(
    answer: str, question: str, about: str
) -> None:
    heard: list[str] = []

    async def rank(tools, texts):
        heard.extend(texts)
        return [Ranked(tool, 0.0) for tool in tools]

    turns = (Message("user", "Is there milk?"), Message("assistant", answer), Message("user", question))
    await ranked_for(TOOLS, ChatRequest("m", turns), rank)
    assert heard == [question, f"{about}\n{question}"]


async def test_one_tool_is_shown_however_large_it_is() -> None:
    large = ToolDefinition("large", "It is large. " * 4000)
    assert await chosen([large], ASKED, Profile(context_tokens=4096), 0, None) == [large]
