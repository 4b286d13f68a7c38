"""Literal tokens are found all at once, the longest first, and held back while they may still become one."""

import pytest

from naru.dialects.texts.tokens import Tokens

TOKENS = Tokens(["<tool_call>", "<tool_calls>", "</s>", "[THINK]"], also="\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a <tool_calls>", (2, "<tool_calls>")),
        ("<b><tool_call>x", (3, "<tool_call>")),
        ("x</s>", (1, "</s>")),
        ("[THIN", (5, "")),
        ("", (0, "")),
    ],
)
def test_the_first_and_longest_token_is_found(text, found):
    assert TOKENS.find(text, 0) == found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("hello <tool", 6),
        ("hello <", 6),
        ("<tool_call", 0),
        ("hello", 5),
        ("<b>", 3),
        ("<tool_calls>", 12),
        ("x[TH", 1),
    ],
)
def test_the_end_is_held_back_only_while_it_may_become_a_token(text, place):
    assert TOKENS.unfinished(text, 0) == place


def test_no_tokens_are_found_nowhere():
    assert Tokens(()).find("<anything>", 0) == (10, "")
    assert Tokens(()).unfinished("<", 0) == 1
