"""Names as they are seen in the wild, and the family that each is."""

from __future__ import annotations

import pytest

from naru.models.known.families import profile_for


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("qwen2.5-coder-0.5b", "qwen2.5-coder"),
        ("Qwen/Qwen2.5-Coder-32B-Instruct", "qwen2.5-coder"),
        ("qwen2.5:7b-instruct", "hermes"),
        ("Qwen3-Coder-30B-A3B", "qwen3-coder"),
        ("qwen3:8b", "hermes"),
        ("LGAI-EXAONE/EXAONE-4.0-32B", "hermes"),
        ("gemma-3-27b-it", "gemma"),
        ("gemma3:1b", "gemma"),
        ("models/gemma-3n-e4b-it", "gemma"),
        ("google/gemma-4-12b", "gemma4"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3"),
        ("llama3.2:3b", "llama3"),
        ("mistral-small-3.2", "mistral"),
        ("phi-4-mini", "phi"),
        ("gpt-oss:20b", "gpt-oss"),
        ("gpt-4o-mini", "openai"),
        ("o4-mini", "openai"),
        ("gemini-2.5-flash", "gemini"),
        ("claude-sonnet-4-5", "claude"),
        ("deepseek-r1:8b", "deepseek"),
        ("somebody/new-model", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_name_leads_to_its_family(model: str, family: str) -> None:
    assert profile_for(model).family == family


def test_small_members_of_a_family_get_help_and_large_ones_do_not() -> None:
    assert profile_for("qwen2.5-coder-1.5b").small
    assert not profile_for("qwen2.5-coder-14b").small
    assert profile_for("gemma3:1b").small
    assert not profile_for("gemma-3-12b-it").small


def test_gemma_has_neither_system_nor_tools() -> None:
    gemma = profile_for("gemma-3-12b-it")
    assert [gemma.system_role, gemma.native_tools, gemma.tool_role] == [False, False, False]
    assert gemma.alternation
