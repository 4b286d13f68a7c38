"""Dialects that announce their calls with a marker."""

from __future__ import annotations

from naru.dialects.dialect import Dialect

_TAG_CLOSERS = ("</tool_call>", "</tool_calls>", "</tool-call>", "</toolcall>", "</function_call>", "</TOOL_CALL>")

MARKED: tuple[Dialect, ...] = (
    Dialect(
        "hermes",
        ("<tool_call>", "<tool-call>", "<toolcall>", "<TOOL_CALL>", "<｜tool_call｜>"),
        closers=(*_TAG_CLOSERS, "</function>", "<|/tool_call|>", "<｜/tool_call｜>"),
        inside=("<tool_sep>",),
        models=("qwen", "qwq", "hermes", "exaone", "granite-4", "glm", "nemotron-3", "mimo", "step-3.5", "trinity"),
    ),
    Dialect(
        "tool-calls",
        ("<tool_calls>",),
        closers=_TAG_CLOSERS,
        inside=("<tool_call>",),
        models=("jamba", "minimax-m1", "hunyuan"),
    ),
    Dialect("hy", ("<tool_calls:", "<tool_call:"), models=("hy-3", "hy-4")),
    Dialect(
        "granite-fc",
        ("<function_call>", "<functioncall>"),
        closers=("</function_call>", "</functioncall>"),
        models=("granite-20b",),
    ),
    Dialect("tools-tag", ("<tools>", "<tool>"), closers=("</tools>", "</tool>")),
    Dialect("nemotron", ("<TOOLCALL>",), closers=("</TOOLCALL>",), models=("nemotron",)),
    Dialect("longcat", ("<longcat_tool_call>",), closers=("</longcat_tool_call>",), models=("longcat",)),
    Dialect("iquest", ("<iquest_tool_call>",), closers=("</iquest_tool_call>",), models=("iquest",)),
    Dialect("seed-oss", ("<seed:tool_call>",), closers=("</seed:tool_call>",), models=("seed",)),
    Dialect(
        "k2-horizon",
        ("<ifm|tool_calls>", "<ifm|tool_call>"),
        closers=("</ifm|tool_call>", "</ifm|tool_calls>"),
        inside=("<ifm|tool_call>",),
        models=("k2-horizon",),
    ),
    Dialect("minimax-m2", ("<minimax:tool_call>",), closers=("</minimax:tool_call>",), models=("minimax-m2",)),
    Dialect(
        "minimax-m3",
        ("]<]minimax[>[<tool_call>",),
        closers=("]<]minimax[>[</tool_call>",),
        models=("minimax-m3",),
    ),
    Dialect("dots", ("<dots_function_call>",), closers=("</dots_function_call>",), models=("dots",)),
    Dialect(
        "function-calls",
        ("<function_calls>", "<antml:function_calls>"),
        closers=("</function_calls>", "</antml:function_calls>"),
        models=("claude", "olmo"),
    ),
    Dialect(
        "deepseek-dsml",
        (
            "<｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "<｜DSML｜ calls>", "<｜DSML｜calls>",
            "<｜DSML｜ tool_calls>", "<｜DSML｜ function_calls>",
            "<｜｜DSML｜｜tool_calls>", "<｜｜DSML｜｜function_calls>", "<｜｜DSML｜｜ calls>",
            "<|DSML|tool_calls>", "<|DSML|function_calls>", "<|DSML| calls>",
        ),
        closers=(
            "</｜DSML｜function_calls>", "</｜DSML｜tool_calls>", "</｜DSML｜ calls>", "</｜DSML｜calls>",
            "</｜DSML｜ tool_calls>", "</｜DSML｜ function_calls>",
            "</｜｜DSML｜｜tool_calls>", "</｜｜DSML｜｜function_calls>", "</｜｜DSML｜｜ calls>",
            "</|DSML|tool_calls>", "</|DSML|function_calls>", "</|DSML| calls>",
        ),
        models=("deepseek-v3.2", "deepseek-v4"),
    ),
    Dialect(
        "gigachat3.5",
        ("<｜GCML｜tool_calls>", "<｜GCML｜function_calls>"),
        closers=("</｜GCML｜tool_calls>", "</｜GCML｜function_calls>"),
        models=("gigachat3.5",),
    ),
    Dialect("atem", ("<atem:function_calls>",), closers=("</atem:function_calls>",), models=("muse",)),
    Dialect(
        "xml-tag",
        (
            "<function=", "<function ", "<function(", "<function/", "<invoke>", "<tool_use>",
            "<tool_call ", "<tool ", "<function_call ", "<tool_use ", "<call ",
            "<｜DSML｜invoke ", "<｜DSML｜ invoke ", "<｜｜DSML｜｜invoke ", "<invoke ",
        ),
        reader="xml",
        closers=("</tool_call>",),
        models=("minicpm", "functionary-v3.1", "qwen3-coder"),
    ),
    Dialect(
        "llama3-json",
        ("<|python_tag|>",),
        keep_space=True,
        models=("llama-3", "meta-llama"),
    ),
    Dialect(
        "llama4-pythonic",
        ("<|python_start|>",),
        closers=("<|python_end|>",),
        keep_space=True,
        models=("llama-4",),
    ),
    Dialect(
        "lfm2",
        ("<|tool_call_start|>", "[unused11]"),
        closers=("<|tool_call_end|>", "[unused12]"),
        models=("lfm2", "minicpm3", "pangu", "openpangu"),
    ),
    Dialect(
        "granite3",
        ("<|tool_call|>",),
        closers=("<|/tool_call|>", "<|tool_call_end|>", "</|tool_call|>"),
        models=("granite-3", "phi-4-mini"),
    ),
    Dialect(
        "internlm2",
        ("<|action_start|>",),
        closers=("<|action_end|>",),
        inside=("<|plugin|>", "<|interpreter|>"),
        models=("internlm", "intern-s1"),
    ),
    Dialect("cohere", ("<|START_ACTION|>",), closers=("<|END_ACTION|>",), models=("command", "c4ai")),
    Dialect("apertus", ("<|tools_prefix|>",), closers=("<|tools_suffix|>",), models=("apertus",)),
    Dialect("gigachat3", ("<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>\n"), models=("gigachat",)),
    Dialect("calling-tool", ("[Calling tool:", "[TOOL_CALL]"), closers=("]", "[/TOOL_CALL]")),
    Dialect("lm-studio", ("[TOOL_REQUEST]",), closers=("[END_TOOL_REQUEST]", "[END_TOOL_RESULT]")),
    Dialect(
        "gemma4",
        ("<|tool_call>",),
        reader="gemma",
        closers=("<tool_call|>",),
        delimiter='<|"|>',
        keep_space=True,
        models=("gemma-4",),
    ),
    Dialect(
        "functiongemma",
        ("<start_function_call>",),
        reader="gemma",
        closers=("<end_function_call>",),
        delimiter="<escape>",
        models=("functiongemma",),
    ),
    Dialect(
        "deepseek-v3",
        ("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<|tool▁calls▁begin|>", "<|tool▁call▁begin|>"),
        reader="marks",
        marks=(
            ("<｜tool▁calls▁begin｜>", "section"), ("<｜tool▁call▁begin｜>", "open"), ("<｜tool▁sep｜>", "arguments"),
            ("<｜tool▁call▁end｜>", "close"), ("<｜tool▁calls▁end｜>", "end"),
            ("<|tool▁calls▁begin|>", "section"), ("<|tool▁call▁begin|>", "open"), ("<|tool▁sep|>", "arguments"),
            ("<|tool▁call▁end|>", "close"), ("<|tool▁calls▁end|>", "end"),
        ),
        models=("deepseek",),
    ),
    Dialect(
        "step3",
        ("<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "<|tool_calls_begin|>"),
        reader="marks",
        marks=(
            ("<｜tool_calls_begin｜>", "section"), ("<｜tool_call_begin｜>", "open"), ("<｜tool_sep｜>", "arguments"),
            ("<｜tool_call_end｜>", "close"), ("<｜tool_calls_end｜>", "end"),
            ("<|tool_calls_begin|>", "section"), ("<|tool_call_begin|>", "open"), ("<|tool_sep|>", "arguments"),
            ("<|tool_call_end|>", "close"), ("<|tool_calls_end|>", "end"),
        ),
        models=("step3",),
    ),
    Dialect(
        "kimi-k2",
        ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>", "<|tool_call_begin|>"),
        reader="marks",
        marks=(
            ("<|tool_calls_section_begin|>", "section"), ("<|tool_call_section_begin|>", "section"),
            ("<|tool_call_begin|>", "open"), ("<|tool_call_argument_begin|>", "arguments"),
            ("<|tool_call_end|>", "close"),
            ("<|tool_calls_section_end|>", "end"), ("<|tool_call_section_end|>", "end"),
        ),
        id_is_name=True,
        keep_space=True,
        models=("kimi", "moonshot"),
    ),
    Dialect(
        "mistral",
        ("[TOOL_CALLS]",),
        reader="marks",
        marks=(("[TOOL_CALLS]", "open"), ("[CALL_ID]", "id"), ("[ARGS]", "arguments"), ("[/TOOL_CALLS]", "end")),
        keep_space=True,
        models=("mistral", "ministral", "magistral", "devstral", "codestral", "pixtral"),
    ),
    Dialect(
        "solar-open",
        ("<|tool_calls|>", "<|tool_call:begin|>"),
        reader="marks",
        marks=(
            ("<|tool_calls|>", "section"), ("<|tool_call:begin|>", "open"), ("<|tool_call:name|>", "name"),
            ("<|tool_call:args|>", "arguments"), ("<|tool_call:end|>", "close"), ("<|calls|>", "end"),
        ),
        models=("solar",),
    ),
    Dialect(
        "plamo3",
        ("<|plamo:begin_tool_requests:plamo|>", "<|plamo:begin_tool_request:plamo|>"),
        reader="marks",
        marks=(
            ("<|plamo:begin_tool_requests:plamo|>", "section"), ("<|plamo:begin_tool_request:plamo|>", "open"),
            ("<|plamo:begin_tool_name:plamo|>", "name"), ("<|plamo:end_tool_name:plamo|>", "named"),
            ("<|plamo:begin_tool_arguments:plamo|>", "arguments"),
            ("<|plamo:constrain|>json<|plamo:msg|>", "noise"), ("<|plamo:msg|>", "noise"),
            ("<|plamo:end_tool_arguments:plamo|>", "noise"),
            ("<|plamo:end_tool_request:plamo|>", "close"), ("<|plamo:end_tool_requests:plamo|>", "end"),
        ),
        models=("plamo",),
    ),
    Dialect(
        "inkling",
        ("<|message_model|>", "<|content_invoke_tool_json|>"),
        reader="marks",
        marks=(
            ("<|message_model|>", "open"), ("<|content_invoke_tool_json|>", "arguments"), ("<|end_message|>", "close"),
        ),
        models=("inkling",),
    ),
    Dialect(
        "qwen-agent",
        ("✿FUNCTION✿",),
        reader="marks",
        marks=(
            ("✿FUNCTION✿:", "open"), ("✿FUNCTION✿", "open"), ("✿ARGS✿:", "arguments"), ("✿ARGS✿", "arguments"),
            ("✿RESULT✿:", "end"), ("✿RESULT✿", "end"), ("✿RETURN✿:", "end"), ("✿RETURN✿", "end"),
        ),
        models=("qwen-agent", "qwen2-", "qwen1.5"),
    ),
    Dialect(
        "harmony",
        ("<|channel|>", "<|start|>assistant", "<|start|> assistant"),
        reader="header",
        models=("gpt-oss", "muse", "beam"),
    ),
    Dialect("kimi-k3", ("<|open|>", "<|close|>"), reader="xtml", models=("kimi-k3",)),
)  # fmt: skip
"""Rows in no particular order: the longest opener that stands at a place wins."""

STRUCTURE = (
    "<|begin|>assistant", "<|im_start|>assistant", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>",
    "<|END_TEXT|>", "<|content_text|>", "<|end_message|>", "<|return|>", "<|call|>", "<|end|>", "<|message|>",
)  # fmt: skip
"""Special tokens around answers: they say nothing and are left out."""

STOPS = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>", "<turn|>", "</s>",
    "<eos>", "<｜end▁of▁sentence｜>", "<|eot|>", "<|eom|>", "<|end_of_msg|>", "<|user|>", "<|observation|>",
    "<|tool_response>", "<|END_OF_TURN_TOKEN|>", "[e~[", "<|end_of_role|>", "<|flush|>",
    "<end_action>", "<end_code>",
)  # fmt: skip
"""Tokens that end a reply; left out where nothing comes after them."""
