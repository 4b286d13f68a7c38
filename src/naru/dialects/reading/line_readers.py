"""What a line may begin with before a call, and the readers that begin after it."""

from __future__ import annotations

import re

from naru.dialects.bodies.react import read_action
from naru.dialects.bodies.unmarked import end_of_line, read_bare, read_line
from naru.dialects.calls.keys import THINGS, may_say_call, says_call
from naru.dialects.calls.writer import CallWriter
from naru.dialects.scanner import Body
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Reading, Source, literal_at, need, space_end

LABEL_INITIALS = "AaCcFfTt"
"""What labels begin with; other letters begin too many sentences to wait for more."""
_BEGINNINGS = (
    {"", "*", "**"}
    | {stars + word[: 2 - len(stars)] for word in THINGS if word[0] in LABEL_INITIALS for stars in ("", "*")}
    | set(LABEL_INITIALS.lower())
)
"""The first two characters of labels."""
_LABEL_WORDS = rf"(?P<words>[{LABEL_INITIALS}][A-Za-z]{{0,20}}(?:[ _\-][A-Za-z]{{1,20}}){{0,3}}?)"
_LABEL = lazy_pattern(rf"\*{{0,2}}{_LABEL_WORDS}(?: \d{{1,2}})?(?:\*\*)?[:：](?:\*\*)?")
_LABEL_SO_FAR = lazy_pattern(
    rf"\*{{0,2}}(?:{_LABEL_WORDS}[ _\-]?(?P<after>(?: ?\d{{1,2}})?(?:\*{{0,2}}|(?:\*\*)?[:：]\*?)))?\Z"
)
_LONGEST_VARIABLE = 32
_NAME = r"[A-Za-z_][\w.\-]{0,100}"
CALLED = lazy_pattern(rf"(?:_?call:\s{{0,8}}({_NAME})\s?[{{(]|(?:[a-z][a-z_]{{1,15}}:){{1,3}}({_NAME})\{{)")
CALLED_SO_FAR = lazy_pattern(
    rf"(?:_(?:c(?:al{{0,2}})?)?|_?call:\s{{0,8}}(?:{_NAME}\s?)?|(?:[a-z][a-z_]{{1,15}}:){{1,3}}(?:{_NAME})?)\Z"
)
"""A name after words with colons, such as `call:`, as Gemma writes them."""
_CALL_SO_FAR = r"(?:([A-Za-z_][\w.]{0,100})\(|[\w.]{0,100}\Z)"
AWAITED = lazy_pattern(rf"[ \t]{{1,8}}{_CALL_SO_FAR}")
_VALUE_SO_FAR = rf"[ \t]{{0,8}}(?:\Z|=(?!=)[ \t]{{0,8}}(?:await[ \t]{{1,8}})?{_CALL_SO_FAR})"
ASSIGNED = lazy_pattern(_VALUE_SO_FAR)
JAVASCRIPT = ("const", "let", "var")
DECLARED = lazy_pattern(rf"[ \t]{{1,8}}(?:[A-Za-z_]\w{{0,32}})?{_VALUE_SO_FAR}")
"""What comes after a name in `x = f(`, or a part of it at the end of the text."""


def label_at(text: str, at: int) -> re.Match[str] | None:
    """Return the label before a tool's name, of words that say that it is one."""
    if text[at : at + 2].lower() not in _BEGINNINGS:
        return None
    found = _LABEL.match(text, at)
    return found if found is not None and says_call(found["words"]) else None


def may_become_label(text: str, at: int) -> bool:
    """Tell whether the text from `at` on, which is still arriving, may become such a label."""
    if text[at : at + 2].lower() not in _BEGINNINGS:
        return False
    begun = _LABEL_SO_FAR.match(text, at)
    if begun is None or not begun["words"]:
        return begun is not None
    return says_call(begun["words"]) if begun["after"] else may_say_call(begun["words"])


def may_be_variable(word: str) -> bool:
    """Tell whether a word may be what a line of code assigns to: few answers begin with a small letter."""
    return "a" <= word[0] <= "z" and len(word) <= _LONGEST_VARIABLE


def may_call_tools(begun: str) -> bool:
    """Tell whether a word, which may still arrive, may be a function that calls tools: `call_tool` or `CallTool`."""
    return (begun[0].islower() or begun[0] in LABEL_INITIALS) and may_say_call(begun)


def after(source: Source, prefix: str, reader: Reading[None]) -> Reading[None]:
    """Read on after what the line begins with."""
    source.pos += len(prefix)
    yield from reader


def read_labelled(source: Source, writer: CallWriter, label: re.Match[str]) -> Reading[None]:
    """Read the action after a label; where that is not ReAct's own, nothing but more calls may follow."""
    takes_text = label["words"].lower() == "action"
    source.pos += len(label[0])
    yield from read_action(source, writer, takes_text=takes_text)
    while not takes_text:
        offset = yield from space_end(source)
        while not source.final and may_become_label(source.text, source.pos + offset):
            yield
        first = source.text[source.pos + offset : source.pos + offset + 1]
        if not first or label_at(source.text, source.pos + offset):
            return
        source.pos += offset
        yield from (read_bare if first in "{[" else read_line)(source, writer)


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
