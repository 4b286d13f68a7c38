"""Every parser name of vLLM and SGLang is read by some dialect, shown by a case that passes."""

import pytest

from naru.dialects import parse, tools_from_openai
from tests.dialects.reading import load_cases
from tests.dialects.registries import SGLANG_TOOLS, VLLM_TOOLS

CASES = {
    case["id"]: case
    for name in ("dialects.jsonl", "dialect_pack.jsonl", "dialect_more.jsonl")
    for case in load_cases(name)
}


def test_both_registries_are_complete():
    assert len(VLLM_TOOLS) == 58
    assert len(SGLANG_TOOLS) == 44


@pytest.mark.parametrize("name", [*VLLM_TOOLS, *(f"{name} (SGLang)" for name in SGLANG_TOOLS)])
def test_what_a_registered_parser_reads_is_read(name):
    registry = SGLANG_TOOLS if name.endswith("(SGLang)") else VLLM_TOOLS
    bare = name.removesuffix(" (SGLang)")
    case = CASES[registry[bare]]
    tools, prompt = tools_from_openai(case["tools"]), case.get("generation_prompt")
    expected = [(call["name"], call["arguments"]) for call in case["expected"]["tool_calls"]]
    for hint in (None, bare):
        parsed = parse(case["raw_output"], tools, generation_prompt=prompt, hint=hint)
        assert [(call.name, call.arguments) for call in parsed.calls] == expected
