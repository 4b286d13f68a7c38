"""One call as models of different families write it."""

from __future__ import annotations

import json

_CALL = {"name": "get_weather", "arguments": {"city": "Seoul"}}
_JSON = json.dumps(_CALL)
_BAR = "｜"
MODEL_TEXTS: dict[str, str] = {
    "hermes": f"<tool_call>\n{_JSON}\n</tool_call>",
    "fenced": f"```json\n{_JSON}\n```",
    "bare": _JSON,
    "llama": '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Seoul"}}',
    "mistral": f"[TOOL_CALLS] [{_JSON}]",
    "qwen3-xml": "<tool_call>\n<function=get_weather>\n<parameter=city>\nSeoul\n</parameter>\n</function>\n"
    "</tool_call>",
    "glm": "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Seoul</arg_value>\n</tool_call>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Seoul"}<|tool_call_end|><|tool_calls_section_end|>',
    "deepseek": f"<{_BAR}tool▁calls▁begin{_BAR}><{_BAR}tool▁call▁begin{_BAR}>get_weather<{_BAR}tool▁sep{_BAR}>"
    f'{{"city": "Seoul"}}<{_BAR}tool▁call▁end{_BAR}><{_BAR}tool▁calls▁end{_BAR}>',
    "pythonic": '[get_weather(city="Seoul")]',
    "gemma": '```tool_code\nprint(get_weather(city="Seoul"))\n```',
    "react": 'Action: get_weather\nAction Input: {"city": "Seoul"}',
    "anthropic": '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Seoul</parameter>\n</invoke>\n'
    "</function_calls>",
    "cline": "<get_weather>\n<city>Seoul</city>\n</get_weather>",
}
