"""What is a call and what only looks like one, for texts without a dialect's own marker and for talk about calls."""

import json

import pytest

from naru.dialects import tools_from_openai
from naru.dialects.detect import shows_marked, shows_unmarked
from tests.dialects.reading import CASES, read_every_way

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


@pytest.mark.parametrize(
    "before",
    ["For example:\n", "The call format is: ", "It looks like this:\n", "예를 들어 ", "형식은 다음과 같습니다: "],
)
def test_an_introduction_shows_what_follows(before):
    assert shows_unmarked(before, pythonic=False)


@pytest.mark.parametrize("before", ["Let me check.\n", "I'll call the tool:\n", "확인하겠습니다.\n", ""])
def test_an_announcement_makes_the_call(before):
    assert not shows_unmarked(before, pythonic=False)
    assert not shows_marked(before)


def test_only_the_nearest_paragraph_introduces():
    assert not shows_unmarked("That was an example.\n\nNow let me check the weather:\n", pythonic=False)
