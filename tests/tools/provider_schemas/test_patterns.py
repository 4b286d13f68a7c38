"""Issue 19 line 5: patterns in what every version of llama.cpp's converter reads, as wide as they were or told."""

from __future__ import annotations

import re

import pytest

from naru.tools.provider_schemas.forms import provider_schema
from naru.tools.provider_schemas.patterns import grammar_pattern

WRITTEN = {
    r"^\d{3}-\d{4}$": "^[0-9]{3}-[0-9]{4}$",  # older ones refuse every tool for \d
    r"^(?:a|b)$": "^[ab]$",  # older ones crash
    r"^(?P<name>ab)$": "^(ab)$",
    r"^x\.+$": r"^x(\.)+$",  # read as a repetition of "x."
    "^é+$": "^(é)+$",  # read as a repetition of its last byte
    "^[-a]$": "^[a-]$",
    "^a+?$": "^a+$",
    "^[a-z]{1,64}$": "^[a-z]{1,64}$",
}
TOLD = [
    "^(?!x)a$",
    "^(?i:abc)$",
    "^[^]]$",
    "^.*$",
    '^"$',
    "^a{1000}$",
    "^(a{50}){50}$",
    "^(a*)*$",
    "^a$|^b$",
    "^a",
    r"^(a)\1$",
    "",
    "(",
]


@pytest.mark.parametrize("pattern", WRITTEN)
def test_a_pattern_is_written_in_what_old_and_new_converters_read(pattern: str) -> None:
    assert grammar_pattern(pattern) == WRITTEN[pattern]


def test_words_of_any_language_stay_words() -> None:
    written = grammar_pattern(r"^[\w-]+$")
    assert written is not None
    assert all(re.fullmatch(written, text) for text in ("a-b", "나루", "über_9"))
    assert not re.fullmatch(written, "a b")


@pytest.mark.parametrize("pattern", TOLD)
def test_what_a_grammar_cannot_say_safely_is_left_out(pattern: str) -> None:
    assert grammar_pattern(pattern) is None


def test_a_nested_pattern_is_told_in_the_description() -> None:
    inner = {"type": "array", "items": {"type": "string", "pattern": "^(?!x)a$"}}
    form = provider_schema({"type": "object", "properties": {"names": inner}}, "llama.cpp")
    item = form["properties"]["names"]["items"]
    assert "pattern" not in item
    assert "^(?!x)a$" in item["description"]
