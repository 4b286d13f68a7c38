"""Model families as rows: a pattern that is searched in the model's name, and the facts about that family.

The first row that matches wins, so the narrower stands above the wider. What a row does not say is the careful default;
`naru probe` measures the rest on the live endpoint.
"""

from __future__ import annotations

import re
from dataclasses import replace

from naru.models.known.profile import Profile
from naru.models.known.size import SMALL_BELOW, of_name

_LLAMA_JSON = Profile(family="llama3", dialect="llama3-json", parallel_calls=False, context_tokens=131_072)
_CAREFUL_TOKENS = 8192
"""For small models, which read long contexts badly whatever they were trained for."""
_OLDER = Profile(
    family="older", native_tools=False, tool_role=False, strategy="prompted", context_tokens=_CAREFUL_TOKENS
)
_QWEN25_SMALL = Profile(family="qwen2.5", small=True, parallel_calls=False, context_tokens=_CAREFUL_TOKENS)
_GEMMA = Profile(
    family="gemma",
    native_tools=False,
    system_role=False,
    alternation=True,
    tool_role=False,
    dialect="gemma3",
    strategy="prompted",
    context_tokens=32_768,
)
_OPENAI = Profile(family="openai", context_tokens=128_000, reasoning="none")
_QWEN3_CODER = Profile(
    family="qwen3-coder",
    dialect="qwen3-xml",
    teach="hermes",
    late_system=False,
    context_tokens=131_072,
    reasoning="reasoning_content",
)
_THINKS = Profile(context_tokens=131_072, reasoning="reasoning_content")
_QWEN3 = Profile(family="qwen3", dialect="hermes", teach="hermes", context_tokens=32_768, reasoning="reasoning_content")
_DEEPSEEK = Profile(family="deepseek", dialect="deepseek", context_tokens=65_536, reasoning="reasoning_content")

_ROWS: tuple[tuple[str, Profile], ...] = (
    (r"smollm|tinyllama", replace(_OLDER, small=True)),
    (
        r"qwen2\.?5[-_]?coder.*?\b(0\.5|1\.5|3)b",
        replace(_QWEN25_SMALL, family="qwen2.5-coder", dialect="fenced-json", guided="grammar"),
    ),
    (r"qwen2\.?5[-_]?coder", Profile(family="qwen2.5-coder", dialect="fenced-json", context_tokens=32_768)),
    (
        r"qwen[-_]?2\.?5.*?\b(0\.5|1\.5|3)b",
        replace(_QWEN25_SMALL, dialect="hermes", teach="hermes"),
    ),
    (r"qwen3[-_]?coder|qwen[-_]?3\.[5-9]|nemotron[-_]?3|mimo|step[-_]?3\.5", _QWEN3_CODER),
    (r"qwen3.*?\b(0\.6|1\.7)b", replace(_QWEN3, small=True)),
    (r"qwen3", replace(_QWEN3, family="hermes")),
    (
        r"qwen|qwq|hermes|exaone|granite[-_]?4|a\.?x[-_]?[34]|midm",
        Profile(family="hermes", dialect="hermes", teach="hermes", context_tokens=32_768),
    ),
    (r"functiongemma", replace(_GEMMA, family="functiongemma", dialect="functiongemma", small=True)),
    (r"gemma[-_]?4", Profile(family="gemma4", dialect="gemma4", context_tokens=131_072)),
    (r"gemma.*?\b(270m|1b|2b)", replace(_GEMMA, small=True)),
    (r"gemma", _GEMMA),
    (r"llama[-_]?3.*?\b(1b|3b)\b", replace(_LLAMA_JSON, small=True)),
    (r"llama[-_]?4", replace(_LLAMA_JSON, family="llama4", dialect="pythonic", parallel_calls=True)),
    (r"llama", _LLAMA_JSON),
    (
        r"mistral|mixtral|ministral|magistral|devstral|codestral",
        Profile(family="mistral", dialect="mistral", late_system=False, alternation=False, context_tokens=131_072),
    ),
    (r"phi[-_]?4[-_]?mini", Profile(family="phi", dialect="phi-4-mini", context_tokens=131_072)),
    (
        r"phi",
        Profile(family="phi", native_tools=False, tool_role=False, strategy="prompted", context_tokens=16_384),
    ),
    (r"deepseek[-_]?r1", replace(_DEEPSEEK, reasoning="none")),  # Its API answers 400 to it, its template cuts it out.
    (r"deepseek", _DEEPSEEK),
    (
        r"gpt[-_]?oss",
        replace(_THINKS, family="gpt-oss", dialect="harmony", parallel_calls=False, thinks_in_levels=True),
    ),
    (r"glm[-_]?4\.[5-9]|glm[-_]?5", replace(_THINKS, family="glm", dialect="glm")),
    (r"kimi", replace(_THINKS, family="kimi", dialect="kimi")),
    (r"minimax", replace(_THINKS, family="minimax", reasoning="content")),
    (r"granite", Profile(family="granite", dialect="granite", context_tokens=131_072)),
    (r"solar|hyperclova|kanana", Profile(family="korean", context_tokens=32_768)),
    (r"\bo[134](-|$)|gpt-5", replace(_OPENAI, max_tokens_field="max_completion_tokens", guided="json_schema")),
    (r"gpt-|chatgpt", replace(_OPENAI, guided="json_schema")),
    (r"gemini", Profile(family="gemini", guided="json_schema", context_tokens=1_048_576)),
    (r"claude", Profile(family="claude", dialect="anthropic-xml", context_tokens=200_000)),
    (r"stablelm|zephyr|vicuna|orca|falcon", _OLDER),
)


def profile_for(model: str) -> Profile:
    """Return the first family whose pattern is found in the name, else the careful default; small by its size there."""
    row = next((profile for pattern, profile in _ROWS if re.search(pattern, model, re.IGNORECASE)), Profile())
    parameters = of_name(model)
    return replace(row, small=parameters < SMALL_BELOW) if parameters else row
