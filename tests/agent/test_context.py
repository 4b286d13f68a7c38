"""Lesson 25, e09: a conversation is trimmed by whole exchanges, never a call without its result."""

from __future__ import annotations

from naru.agent.context import tokens_of, trimmed
from naru.messages import Message, ToolCall


def exchange(number: int) -> list[Message]:
    call = ToolCall(f"c{number}", "look", {"n": number})
    return [
        Message("user", f"question {number} " + "x" * 300),
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", "y" * 300, tool_call_id=call.id, name="look"),
        Message("assistant", f"answer {number}"),
    ]


def test_what_fits_is_kept_whole() -> None:
    turns = exchange(1)
    assert trimmed(turns, 8192) == tuple(turns)


def test_after_trimming_every_result_has_its_call_and_the_first_turn_is_a_users() -> None:  # e09
    turns = [
        Message("system", "Be brief."),
        *(turn for n in range(20) for turn in exchange(n)),
        Message("user", "now?"),
    ]
    kept = trimmed(turns, 2000)
    assert 2 < len(kept) < len(turns)
    assert [kept[0].role, kept[1].role, kept[-1].text] == ["system", "user", "now?"]
    calls = {call.id for turn in kept for call in turn.tool_calls}
    assert calls == {turn.tool_call_id for turn in kept if turn.role == "tool"}


def test_the_last_question_stays_even_when_nothing_fits() -> None:
    kept = trimmed([*exchange(1), Message("user", "z" * 9000)], 100)
    assert [turn.role for turn in kept] == ["user"]


def test_korean_counts_more_than_latin_text() -> None:
    assert tokens_of("가" * 30) > 2 * tokens_of("a" * 30)
