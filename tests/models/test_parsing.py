"""The answer reader of a request, over what endpoints send as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from naru.messages import ArgumentsDelta, CallEnd, CallStart, ChatRequest, Finish, Message, Text, ToolDefinition
from naru.models.answers.parsing import answer_reader
from naru.models.known.profile import Profile

ASK = ChatRequest(
    "m", [Message("user", "Up?")], tools=[ToolDefinition("ping", "Ping.", {"properties": {"host": {"type": "string"}}})]
)
CALL = '<tool_call>{"name": "ping", "arguments": {"host": "a"}}</tool_call>'


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_draft_in_reasoning_that_the_template_opened_never_ends(size: int) -> None:
    reader = answer_reader(ASK, Profile())
    text = f"Try {CALL}? No.</think>It is up."
    events = [event for at in range(0, len(text), size) for event in reader.text(text[at : at + size])]
    events += reader.finish("stop")
    assert not any(isinstance(event, CallEnd) for event in events)
    assert events[-1] == Finish("stop")
    assert "".join(event.text for event in events if isinstance(event, Text)).endswith("It is up.")


def test_a_call_after_that_reasoning_counts() -> None:
    reader = answer_reader(ASK, Profile())
    events = reader.text(f"I must look.</think>\n{CALL}") + reader.finish("stop")
    assert [event.arguments for event in events if isinstance(event, CallEnd)] == [{"host": "a"}]
    assert events[-1] == Finish("tool_calls")


GUIDED = Profile(strategy="guided", guided="grammar", native_tools=False)
BY_SCHEMA = Profile(strategy="guided", guided="json_schema", native_tools=False)
GUIDED_CALL = '```json\n{"name": "ping", "arguments": {"host": "a `b` c", "note": "x"}}\n```'


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        pytest.param(GUIDED, GUIDED_CALL, id="grammar"),
        pytest.param(BY_SCHEMA, GUIDED_CALL.removeprefix("```json\n").removesuffix("\n```"), id="schema"),
    ],
)
def test_a_guided_call_starts_and_its_arguments_come_as_they_are_written(profile: Profile, text: str) -> None:
    reader = answer_reader(ASK, profile)
    began = text.index('{"host"') + 1
    early = [event for letter in text[:began] for event in reader.text(letter)]
    assert [event.name for event in early if isinstance(event, CallStart)] == ["ping"]
    rest = [event for letter in text[began:] for event in reader.text(letter)]
    assert sum(isinstance(event, ArgumentsDelta) for event in rest) > 5
    ended = [*rest, *reader.finish("stop")]
    assert [event.arguments for event in ended if isinstance(event, CallEnd)] == [{"host": "a `b` c", "note": "x"}]
    assert not [event for event in [*early, *ended] if isinstance(event, Text)]
    assert ended[-1] == Finish("tool_calls")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_several_guided_calls_are_each_a_call(size: int) -> None:
    reader = answer_reader(ASK, GUIDED)
    text = f"{GUIDED_CALL}\n{GUIDED_CALL}"
    events = [event for at in range(0, len(text), size) for event in reader.text(text[at : at + size])]
    events += reader.finish("stop")
    assert [event.index for event in events if isinstance(event, CallEnd)] == [0, 1]


def test_a_guided_call_that_is_cut_off_does_not_run() -> None:
    reader = answer_reader(ASK, GUIDED)
    events = [*reader.text(GUIDED_CALL[:-12]), *reader.finish("length")]
    assert not [event for event in events if isinstance(event, CallEnd)]
    assert events[-1] == Finish("length")


@pytest.mark.parametrize(
    "text",
    [
        "It is up.",
        "```python\nprint(1)\n```",
        '```json\n{"name": "other", "arguments": {}}\n```',
        '{"name": "a lamp", "price": 3}',
        "`",
        "",
    ],
)
def test_other_words_under_a_grammar_stay_words(text: str) -> None:
    reader = answer_reader(ASK, GUIDED)
    events = [event for letter in text for event in reader.text(letter)] + reader.finish("stop")
    assert "".join(event.text for event in events if isinstance(event, Text)) == text
    assert not [event for event in events if isinstance(event, CallStart)]


JSON_ASKED = {"response_format": {"type": "json_object"}}
THOUGHTS = "<think>\n```json\n{}\n```\n</think>\n\n"


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("tools", [(), ASK.tools], ids=["alone", "with-tools"])
@pytest.mark.parametrize(
    ("text", "given"),
    [
        pytest.param('```json\n{"n": 1}\n```', '{"n": 1}', id="fenced"),
        pytest.param("\n```\n[1,\n 2]\n  ```\n", "[1,\n 2]", id="fenced-without-a-word"),
        pytest.param(f'{THOUGHTS}```json\n{{"n": 1}}\n```', '{"n": 1}', id="fenced-behind-thoughts"),
        pytest.param('{"n": "```"}', '{"n": "```"}', id="bare"),
        pytest.param('```json\n{"n": 1\n```', '```json\n{"n": 1\n```', id="no-json"),
        pytest.param('```json\n{"n": 1}\n```\nSo?', '```json\n{"n": 1}\n```\nSo?', id="words-behind"),
        pytest.param('So:\n```json\n{"n": 1}\n```', 'So:\n```json\n{"n": 1}\n```', id="words-before"),
        pytest.param('```json\n{"n": "', '```json\n{"n": "', id="cut"),
        pytest.param("``", "``", id="the-beginning-of-a-fence"),
    ],
)
def test_json_that_was_asked_for_comes_without_its_fence(text: str, given: str, tools: Any, size: int) -> None:
    """A client that asked for JSON decodes the text as it is; every other text stays to the letter (V7, N19)."""

    def words(request: ChatRequest) -> str:
        reader = answer_reader(request, Profile())
        events = [event for at in range(0, len(text), size) for event in reader.text(text[at : at + size])]
        return "".join(event.text for event in [*events, *reader.finish("stop")] if isinstance(event, Text))

    asked = replace(ASK, tools=tools)
    assert words(replace(asked, extra=JSON_ASKED)).strip() == given.strip()
    assert words(asked).strip() == text.removeprefix(THOUGHTS).strip()


def test_text_without_a_fence_is_not_held_back_where_json_was_asked_for() -> None:
    reader = answer_reader(replace(ASK, tools=(), extra=JSON_ASKED), Profile())
    assert "".join(event.text for event in reader.text("So it is, and so on.") if isinstance(event, Text)) == (
        "So it is, and so on."
    )


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r"a\_b and more", r"a\_b and more"),
        (r"C:\new\path\x", "C:\new\\path\\x"),
        (r"no \u12zz escape", r"no \u12zz escape"),
        (r"\ud83d\ude00 \ud83d alone \ud83d\u0041", "\U0001f600 \ufffd alone \ufffdA"),
        ('He said "hi" and left', 'He said "hi" and left'),
    ],
)
def test_words_that_no_engine_held_to_json_would_write_are_all_said(written: str, said: str, size: int) -> None:
    reader, text = answer_reader(ASK, BY_SCHEMA), f'{{"answer": "{written}"}}\n'
    events = [event for at in range(0, len(text), size) for event in reader.text(text[at : at + size])]
    events += reader.finish("stop")
    assert "".join(event.text for event in events if isinstance(event, Text)) == said


@pytest.mark.parametrize("profile", [GUIDED, BY_SCHEMA], ids=["grammar", "schema"])
@pytest.mark.parametrize("name", ["pi\nng", r"\q"])
def test_a_name_that_json_cannot_read_breaks_no_answer(profile: Profile, name: str) -> None:
    reader = answer_reader(ASK, profile)
    events = [*reader.text(f'{{"name": "{name}", "arguments": {{"host": "a"}}}}'), *reader.finish("stop")]
    assert '"host": "a"' in "".join(event.text for event in events if isinstance(event, Text))
    assert events[-1] == Finish("stop")


@pytest.mark.parametrize("profile", [GUIDED, BY_SCHEMA], ids=["grammar", "schema"])
def test_a_name_with_an_escape_of_markdown_is_the_tools(profile: Profile) -> None:
    ask = replace(ASK, tools=[ToolDefinition("do_ping", "Ping.", {"properties": {"host": {"type": "string"}}})])
    reader = answer_reader(ask, profile)
    events = [*reader.text(r'{"name": "do\_ping", "arguments": {"host": "a"}}'), *reader.finish("stop")]
    assert [event.arguments for event in events if isinstance(event, CallEnd)] == [{"host": "a"}]
