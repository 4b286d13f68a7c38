"""Replies of every kind beside the recorded ones: dialects, misspellings, cuts, examples, manifests, talk about calls.

Each is read whole and in pieces of 1 to 7 characters. The right readings follow the policies of
docs/decisions/0011-when-unmarked-text-is-a-call.md and of canitoolcall's fixtures.
"""

import json

import pytest

from naru.dialects import tools_from_openai
from tests.dialects.reading import CASES, read_every_way

DATA, REPORTED = (
    json.loads((CASES / name).read_text(encoding="utf-8")) for name in ("dialect_kinds.json", "dialect_reported.json")
)
TOOLS = tools_from_openai(DATA["tools"])
REPORTED_TOOLS = tools_from_openai(REPORTED["tools"])


@pytest.mark.parametrize("case", REPORTED["cases"], ids=lambda case: case["id"])
def test_what_reports_say_of_broken_calls_is_read_or_refused(case):
    """Texts of our own in the shapes of public reports of three years; the right readings were written before."""
    parsed = read_every_way(case["text"], REPORTED_TOOLS, case.get("finish_reason", "stop"))
    assert [[call.name, call.arguments] for call in parsed.calls] == case["calls"]
    if case["content"] is not None:
        assert parsed.content == case["content"]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["id"])
def test_a_reply_of_another_kind_is_read_as_its_writer_meant(case):
    parsed = read_every_way(
        case["text"], TOOLS, case.get("finish_reason", "stop"), generation_prompt=case.get("prompt")
    )
    assert [[call.name, call.arguments] for call in parsed.calls] == case["calls"]
    if case["content"] is not None:
        assert parsed.content == case["content"]
    if "reasoning" in case:
        assert parsed.reasoning == case["reasoning"]
