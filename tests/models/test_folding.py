"""Conversations folded to what a back end accepts: no text is lost, roles come out as the profile says (R12)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from naru.messages import ImagePart, Message, TextPart, ToolCall
from naru.models.asking.folding import fold
from naru.models.asking.teaching import DEFAULT_TEACHING
from naru.models.known.families import profile_for
from naru.models.known.profile import Profile

GEMMA = profile_for("gemma-3-12b-it")
CALL_A = ToolCall("0", "get-profile", {"id": "22"})
CALL_B = ToolCall("1", "get-roles", {})


def roles(turns: list[Message]) -> list[str]:
    return [turn.role for turn in turns]


def test_e01_e03_a_system_text_stands_at_the_head_of_the_first_user_turn() -> None:
    turns = fold([Message("system", "Be brief."), Message("user", "Hi")], GEMMA, DEFAULT_TEACHING)
    assert turns == [Message("user", "Be brief.\n\nHi")]


def test_a_system_text_without_any_user_turn_becomes_one() -> None:
    assert fold([Message("system", "Be brief.")], GEMMA, DEFAULT_TEACHING) == [Message("user", "Be brief.")]


def test_e03_a_profile_that_takes_system_keeps_it() -> None:
    takes = replace(GEMMA, system_role=True)
    turns = fold([Message("system", "s"), Message("user", "Hi")], takes, DEFAULT_TEACHING)
    assert roles(turns) == ["system", "user"]


def test_e05_a_call_and_its_result_become_model_and_user_turns_that_name_the_tool() -> None:
    turns = fold(
        [
            Message("system", "s"),
            Message("user", "who?"),
            Message("assistant", "", tool_calls=(CALL_A,)),
            Message("tool", '{"error":"not found"}', tool_call_id="0"),
        ],
        GEMMA,
        DEFAULT_TEACHING,
    )
    assert roles(turns) == ["user", "assistant", "user"]
    assert turns[1].text == '```json\n{"name": "get-profile", "arguments": {"id": "22"}}\n```'
    assert turns[2].text == '[Tool Result: get-profile #0]\n{"error":"not found"}'


def test_e06_several_results_and_a_user_turn_become_one_user_turn_with_separators() -> None:
    turns = fold(
        [
            Message("user", "q"),
            Message("assistant", "", tool_calls=(CALL_A, CALL_B)),
            Message("tool", "A", tool_call_id="0"),
            Message("tool", "B", tool_call_id="1"),
            Message("user", "and now?"),
        ],
        GEMMA,
        DEFAULT_TEACHING,
    )
    assert roles(turns) == ["user", "assistant", "user"]
    assert turns[2].text == "[Tool Result: get-profile #0]\nA\n\n[Tool Result: get-roles #1]\nB\n\nand now?"


def test_an_image_in_a_result_stays_an_image() -> None:
    image = ImagePart("image/png", "AAAA")
    turns = fold([Message("user", "look"), Message("tool", (image,), name="shot")], GEMMA, DEFAULT_TEACHING)
    assert turns == [Message("user", (TextPart("look\n\n[Tool Result: shot]"), image))]


def test_a_conversation_that_begins_with_the_model_gets_a_user_turn_before_it() -> None:
    turns = fold([Message("assistant", "Welcome!"), Message("user", "Hi")], GEMMA, DEFAULT_TEACHING)
    assert roles(turns) == ["user", "assistant", "user"]


def test_a_late_system_message_becomes_a_user_turn_where_templates_refuse_it() -> None:
    messages = [Message("user", "a"), Message("system", "now in French"), Message("user", "b")]
    assert roles(fold(messages, Profile(), DEFAULT_TEACHING)) == ["user", "system", "user"]
    assert roles(fold(messages, replace(Profile(), late_system=False), DEFAULT_TEACHING)) == ["user", "user", "user"]


def test_what_the_profile_accepts_is_left_alone() -> None:
    messages = [
        Message("system", "s"),
        Message("user", "q"),
        Message("assistant", "", tool_calls=(CALL_A,)),
        Message("tool", "A", tool_call_id="0"),
    ]
    assert fold(messages, Profile(), DEFAULT_TEACHING) == messages


_turns = st.lists(
    st.one_of(
        st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.text("abc 가", min_size=1)),
        st.builds(Message, st.just("tool"), st.text("xyz", min_size=1), name=st.sampled_from(["t", "u"])),
        st.builds(Message, st.just("assistant"), st.just(""), tool_calls=st.just((CALL_A,))),
    ),
    max_size=12,
)


@given(_turns)
def test_any_conversation_alternates_and_keeps_every_text(messages: list[Message]) -> None:
    turns = fold(messages, GEMMA, DEFAULT_TEACHING)
    assert roles(turns) == [("user", "assistant")[at % 2] for at in range(len(turns))]
    whole = "\n".join(turn.text for turn in turns)
    assert all(message.text in whole for message in messages)
    assert all(turn.text for turn in turns)
