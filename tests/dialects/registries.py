"""Which dialect reads what the parsers of vLLM 0.33 and SGLang 0.5.23 are registered for.

A hint may be such a name. The value is a case in `tests/cases/` that is read right, or the name of the dialect that
the case shows; the tests check every one.
"""

from __future__ import annotations

VLLM_TOOLS = {
    "dots": "dots/one", "deepseek_v3": "deepseek-r1/fenced-json", "deepseek_v31": "deepseek-v31/one",
    "deepseek_v32": "deepseek-v32/one", "deepseek_v4": "deepseek-v4/one", "deepseek_v41": "deepseek-v41/one",
    "cohere_command3": "cohere-command/two", "cohere_command4": "cohere-command/two", "ernie45": "ernie45/think",
    "glm45": "hyperclovax-32b/one", "glm47": "ling3/one", "ling3": "ling3/one", "granite-20b-fc": "granite-20b-fc/two",
    "granite": "granite3/one", "granite4": "granite4/two", "hermes": "hermes/scratch_pad",
    "hf": "response-template/hermes", "beam": "beam/one", "poolside_v1": "poolside/one",
    "hunyuan_a13b": "hunyuan-a13b/two", "hy_v3": "hy-v3/two", "hy_v4": "hy-v3/suffixed", "internlm": "internlm2/one",
    "jamba": "jamba/two", "lfm2": "lfm2/pythonic", "kimi_k2": "kimi-k2/two", "kimi_k3": "kimi-k3/one",
    "k2_horizon": "k2-horizon/xml", "llama3_json": "llama-python-tag/semicolon",
    "llama4_json": "dev-llama-parameters-bare", "llama4_pythonic": "llama4/python-start", "longcat": "longcat/one",
    "mimo": "mimo/two", "minimax_m2": "minimax-m2/two", "minimax_m3": "minimax-m3/one", "minicpm5": "minicpm5/two",
    "mistral": "mistral/call-id", "olmo3": "olmo3/two", "plamo3": "plamo3/one", "muse": "muse-atem/one",
    "muse_glimmer": "muse-atem/one", "musespark1x": "muse-atem/one", "openai": "harmony/one",
    "phi4_mini_json": "phi4-mini/functools", "pythonic": "pythonic/list", "qwen3_coder": "nemotron-v3/one",
    "qwen3_json": "exaone4/one", "qwen3_xml": "nemotron-v3/one", "seed_oss": "seed-oss/two", "step3": "step3/one",
    "step3p5": "step3p5/one", "step5": "step3p5/one", "inkling": "inkling/one", "xlam": "xlam/array",
    "gigachat3": "gigachat3/one", "functiongemma": "functiongemma/two", "gemma4": "gemma4/two",
    "apertus": "apertus/two",
}  # fmt: skip

SGLANG_TOOLS = {
    "apertus2509": "apertus/two", "beam": "beam/one", "cohere_command4": "cohere-command/two",
    "deepseekv3": "deepseek-r1/fenced-json", "deepseekv31": "deepseek-v31/one", "deepseekv32": "deepseek-v32/one",
    "deepseekv4": "deepseek-v4/one", "deepseekv41": "deepseek-v41/one", "dots": "dots/one",
    "glm": "hyperclovax-32b/one", "glm45": "hyperclovax-32b/one", "glm47": "ling3/one", "gpt-oss": "harmony/one",
    "k2_horizon": "k2-horizon/xml", "kimi_k2": "kimi-k2/two", "kimi_k3": "kimi-k3/one", "lfm2": "lfm2/json",
    "ling3": "ling3/one", "llama3": "llama-python-tag/semicolon", "mimo": "mimo/two", "minicpm5": "minicpm5/cdata",
    "mistral": "mistral/call-id", "muse": "muse-atem/one", "poolside_v1": "poolside/one", "pythonic": "pythonic/list",
    "qwen": "exaone4/one", "qwen25": "exaone4/one", "qwen3_coder": "nemotron-v3/one", "spark25": "spark25/one",
    "step3": "step3/one", "step3p5": "step3p5/one", "minimax-m2": "minimax-m2/two", "minimax-m3": "minimax-m3/one",
    "nanbeige": "nemotron-v3/one", "trinity": "trinity/inside-think", "interns1": "internlm2/spaced",
    "hermes": "granite4/two", "hunyuan": "hy-v3/two", "gigachat3": "gigachat3/role_sep", "gigachat35": "gigachat35/one",
    "gemma4": "gemma4/two", "inkling": "inkling/one", "iquest_q1": "iquest/one",
    "response_template": "response-template/hermes",
}  # fmt: skip
