"""What a line may begin with before a call, and the readers that begin after it."""

from __future__ import annotations

import re

from naru.dialects.bodies.react import read_action
from naru.dialects.bodies.unmarked import end_of_line, read_line
from naru.dialects.calls.writer import CallWriter
from naru.dialects.scanner import Body
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import NotACall, Reading, Source, literal_at, need, space_end

LABELS = (
    "action", "tool", "function", "call", "tool name", "tool call", "tool_call", "function name", "function call",
    "function_call",
)  # fmt: skip
"""What stands before a colon and a tool's name, in any case; after the first the input may be text."""
LABEL = lazy_pattern(rf"\*{{0,2}}(?P<word>{'|'.join(LABELS)})(?: \d{{1,2}})?(?:\*\*)?[:：](?:\*\*)?", re.IGNORECASE)
LABEL_SO_FAR = lazy_pattern(
    rf"\*{{0,2}}(?:|{'|'.join({word[:size] for word in LABELS for size in range(1, len(word))})}"
    rf"|(?:{'|'.join(LABELS)})(?: \d{{0,2}})?(?:\*{{0,2}}|(?:\*\*)?[:：]\*?))\Z",
    re.IGNORECASE,
)
_CALL_SO_FAR = r"(?:([A-Za-z_][\w.]{0,100})\(|[\w.]{0,100}\Z)"
AWAITED = lazy_pattern(rf"[ \t]{{1,8}}{_CALL_SO_FAR}")
_VALUE_SO_FAR = rf"[ \t]{{0,8}}(?:\Z|=(?!=)[ \t]{{0,8}}(?:await[ \t]{{1,8}})?{_CALL_SO_FAR})"
ASSIGNED = lazy_pattern(_VALUE_SO_FAR)
JAVASCRIPT = ("const", "let", "var")
DECLARED = lazy_pattern(rf"[ \t]{{1,8}}(?:[A-Za-z_]\w{{0,32}})?{_VALUE_SO_FAR}")
"""What comes after a name in `x = f(`, or a part of it at the end of the text."""


def after(source: Source, prefix: str, reader: Reading[None]) -> Reading[None]:
    """Read on after what the line begins with."""
    source.pos += len(prefix)
    yield from reader


def read_labelled(source: Source, writer: CallWriter, label: re.Match[str]) -> Reading[None]:
    """Read the action after a label; where that is not ReAct's own, nothing but another such may follow."""
    takes_text = label["word"].lower() == LABELS[0]
    source.pos += len(label[0])
    yield from read_action(source, writer, takes_text=takes_text)
    if not takes_text:
        offset = yield from space_end(source)
        while not source.final and LABEL_SO_FAR.match(source.text, source.pos + offset):
            yield
        if source.pos + offset < len(source.text) and not LABEL.match(source.text, source.pos + offset):
            raise NotACall


def read_assigned(source: Source, writer: CallWriter, prefix: str) -> Reading[None]:
    """Read a line such as `x = f(…)`, and a `print(x)` after it."""
    source.pos += len(prefix)
    writer.leave_out(prefix)
    yield from read_line(source, writer)
    use = f"print({prefix.split('=')[0].split()[-1]})"
    offset = yield from space_end(source)
    if (yield from literal_at(source, (use,), offset)):
        source.pos += offset + len(use)
        writer.leave_out(use)
        yield from end_of_line(source, writer)


def stripped_body(source: Source, at: int) -> Reading[Body | None]:
    """Read a message of gpt-oss whose special tokens were left out, up to the next one's header."""
    thinks = source.text.startswith("analysis", at)
    source.pos = at + len("analysis" if thinks else "assistantfinal")
    yield from need(source, 1)
    return Body("reasoning", ("assistantfinal",), ("assistantcommentary to=",)) if thinks else None


def invented(source: Source, at: int) -> Reading[Body | None]:
    """Leave out an observation that the model invented, and all that it built on it."""
    source.pos = at
    yield from need(source, 1)
    return Body("dropped", ())
