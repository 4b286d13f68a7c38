"""Tags around reasoning, and around the answer that follows it."""

from __future__ import annotations

from naru.dialects.dialect import Thinking

THINKING: tuple[Thinking, ...] = (
    Thinking("<think>", ("</think>",), anywhere=False),
    Thinking("<think:", ("</think:",), anywhere=False),
    Thinking("<thinking>", ("</thinking>",), anywhere=False),
    Thinking("<thought>", ("</thought>",), anywhere=False),
    Thinking("<reasoning>", ("</reasoning>",), anywhere=False),
    Thinking("<scratch_pad>", ("</scratch_pad>",), anywhere=False),
    Thinking("<scratchpad>", ("</scratchpad>",), anywhere=False),
    Thinking("<seed:think>", ("</seed:think>",)),
    Thinking("[THINK]", ("[/THINK]",)),
    Thinking("◁think▷", ("◁/think▷",)),
    Thinking("<|channel>thought", ("<channel|>",)),
    Thinking("<|START_THINKING|>", ("<|END_THINKING|>",)),
    Thinking("<|thought_start|>", ("<|thought_end|>",)),
    Thinking("<|inner_prefix|>", ("<|inner_suffix|>",)),
    Thinking("<ifm|think>", ("</ifm|think>",)),
    Thinking("<ifm|think_fast>", ("</ifm|think_fast>",)),
    Thinking("<ifm|think_faster>", ("</ifm|think_faster>",)),
    Thinking("<|plamo:begin_think:plamo|>", ("<|plamo:end_think:plamo|>",)),
    Thinking("<|think|>", ("<|end|>", "<|/think|>")),
    Thinking("<|content_thinking|>", ("<|end_message|>",)),
    Thinking("Here is my thought process:", ("Here is my response:",), hinted="granite"),
    Thinking("Here's my thought process:", ("Here's my response:", "Here is my response:"), hinted="granite"),
)

ANSWER_TAGS = {"<answer>": "</answer>", "<response>": "</response>"}
"""Tags that some models put around the answer after their reasoning."""
