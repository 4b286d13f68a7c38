"""What is a call and what only looks like one: unmarked texts, talk about calls, and calls in ordinary surroundings."""

import json
from collections import Counter

import pytest

from naru.dialects import CallEnd, StreamParser, parse, tools_from_openai
from tests.dialects import talk
from tests.dialects.reading import CASES, assert_accounted, pieces, read_every_way

DATA = json.loads((CASES / "dialect_unmarked.json").read_text(encoding="utf-8"))
TOOLS = tools_from_openai(DATA["tools"])


@pytest.mark.parametrize("text", DATA["no_calls"])
def test_text_that_makes_no_call_stays_as_it_is(text):
    parsed = read_every_way(text, TOOLS)
    assert parsed.calls == ()
    assert parsed.content == text


@pytest.mark.parametrize(("text", "arguments"), DATA["calls"])
def test_an_unmarked_or_misspelt_call_is_read(text, arguments):
    parsed = read_every_way(text, TOOLS)
    assert [call.arguments for call in parsed.calls] == arguments


@pytest.mark.parametrize("part", ["fit", "held", "third"])
def test_talk_about_calls_makes_none_and_stays_as_it_is(part):
    """Issue 15, 1: at most 2 in 300 texts of the set that the weights were fitted to, few of the others."""
    ran, count = Counter(), 0
    for _, form, text in talk.texts("shown", part, 6):
        parsed = parse(text, talk.TOOLS)
        assert_accounted(text, parsed)
        count += 1
        if parsed.calls:
            ran[form] += 1
        else:
            assert parsed.content == text.strip()
    assert count >= 280
    assert sum(ran.values()) <= (2 if part == "fit" else count // 16), ran


@pytest.mark.parametrize("part", ["fit", "held", "third"])
def test_calls_in_ordinary_surroundings_are_made(part):
    lost = [(form, text) for _, form, text in talk.texts("made", part) if not parse(text, talk.TOOLS).calls]
    assert len(lost) <= 2, lost


@pytest.mark.parametrize("kind", ["shown", "made"])
def test_calls_are_judged_the_same_in_any_pieces(kind):
    for number, _, text in talk.texts(kind, "fit", 1):
        if number % 3 == 0:
            read_every_way(text, talk.TOOLS)


CALL = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
UNIT = '{"name": "bash", "arguments": {"command": "ls"}}'


@pytest.mark.parametrize(
    "quotes", ["“”", "„“", "«»", "»«", "‹›", "「」", "『』", "《》", "（）", "()", "【】", "〈〉", "``", '""', "''"]
)  # fmt: skip
@pytest.mark.parametrize("form", [CALL, f"[TOOL_CALLS]bash[ARGS]{json.dumps({'command': 'ls'})}"])
def test_quotation_marks_of_any_script_around_a_call_show_it(quotes, form):
    """Issue 15, 1: structure needs no language."""
    text = f"Ξ κείμενο {quotes[0]}{form}{quotes[1]} ξ."
    parsed = read_every_way(text, talk.TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize(
    "text",
    [
        f"> {CALL}",
        f"<!-- {CALL} -->",
        f"<!--\n{UNIT}\n-->",
        f"````\n```json\n{UNIT}\n```\n````",
        f"~~~~markdown\n{CALL}\n~~~~",
        f"| x | {CALL} |",
        f"<blockquote>\n{CALL}\n</blockquote>",
        f"{CALL}\n^ This is quoted from the page.",
    ],
)
def test_quoted_nested_and_commented_calls_are_shown(text):
    parsed = read_every_way(text, talk.TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


def test_a_call_that_was_shown_is_named_by_a_repair():
    parsed = parse(f"The page says “{CALL}”.", talk.TOOLS)
    assert [(mended.kind, mended.before) for mended in parsed.repairs] == [("shown-call", "bash")]


def test_the_end_of_a_call_waits_for_what_comes_after_it():
    """A call that was announced is taken back by what follows; its text comes then, and no end."""
    parser = StreamParser(talk.TOOLS, generation_prompt="")
    deltas = pieces(f"{CALL}\n\nI did not execute the block above.", 5)
    events = [event for delta in deltas for event in parser.feed(delta)]
    events += parser.close()
    assert not any(isinstance(event, CallEnd) for event in events)
    assert parser.calls == ()


@pytest.mark.parametrize("after", [f"\n{CALL}\nNow I wait.", "\n\nI wait for the result, then I go on." + " " * 300])
def test_the_end_of_a_call_comes_before_the_end_of_the_reply_where_the_prompt_is_known(after):
    parser = StreamParser(talk.TOOLS, generation_prompt="")
    events = parser.feed(CALL + after + "\n\nMore.")
    assert any(isinstance(event, CallEnd) for event in events)
