"""Recorded and reported replies, each with the right reading."""

import pytest

from naru.dialects import tools_from_openai
from tests.dialects.reading import load_cases, read_every_way

FILES = ("dialects.jsonl", "dialect_pack.jsonl", "dialect_more.jsonl", "dialects_2.jsonl")
CASES = [case for name in FILES for case in load_cases(name)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_recorded_reply_is_read_as_its_writer_meant(case):
    parsed = read_every_way(
        case["raw_output"],
        tools_from_openai(case["tools"]),
        case.get("finish_reason", "stop"),
        generation_prompt=case.get("generation_prompt"),
    )
    expected, ignored = case["expected"], case.get("ignore", ())
    calls = [{"name": call.name, "arguments": call.arguments} for call in parsed.calls]
    if calls in case.get("also_acceptable", ()):
        return
    assert calls == expected["tool_calls"]
    if "content" not in ignored:
        assert (parsed.content or None) == expected["content"]
    if "reasoning_content" not in ignored:
        assert (parsed.reasoning or None) == expected["reasoning_content"]
