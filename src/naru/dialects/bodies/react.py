"""ReAct's lines: `Action:` with its `Action Input:`, and what models write after `Action:` instead."""

from __future__ import annotations

import re

from naru.dialects.bodies.arguments import read_any_arguments
from naru.dialects.bodies.begun_arguments import BEGIN, read_begun_arguments
from naru.dialects.bodies.call_object import arguments_from
from naru.dialects.bodies.json_calls import read_json
from naru.dialects.bodies.pythonic import read_pythonic
from naru.dialects.bodies.unmarked import end_of_line, read_fence
from naru.dialects.calls.offered import properties_of, required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    rest_of_line,
    skip_space,
    space_end,
    until,
)

_ACTION_NAME = lazy_pattern(
    r"[\s\[`*\"']*([A-Za-z_][\w.\-\\]*)[\]`*\"']*"
    r"(?:[ \t]*(?=[^\w.\-\\\]`*\"' \t])|[ \t]+(?=[Aa]ction[ _][Ii]nput))"
)
_ACTION_INPUT = lazy_pattern(
    r"(?:[-*] {0,3})?\*{0,2}(?:(?:action|tool)[ _]?)?(?:inputs?|arguments?|args|parameters?|params)"
    r"(?: \d{1,2})?\*{0,2} ?[:：]",
    re.IGNORECASE,
)
_ACTION_INPUT_SO_FAR = lazy_pattern(r"[-* ]{0,6}[A-Za-z_ ]{0,18}(?:\d{1,2})?\*{0,2} ?\Z")
_BRACKETED = lazy_pattern(r"\[[A-Za-z_][\w.\-]{0,99}\]")
_BRACKETED_SO_FAR = lazy_pattern(r"\[[\w.\-]{0,100}\Z")


def read_action(source: Source, writer: CallWriter, *, takes_text: bool) -> Reading[None]:
    """Read ReAct's `Action: tool` with its `Action Input:`, or what some write after `Action:` instead.

    Without `takes_text` the input must be an object: `Tool: search` and `Input: text` describe a tool.
    """
    first = yield from skip_space(source)
    if not first:
        raise Incomplete
    if (yield from literal_at(source, ("```",))):
        yield from read_fence(source, writer)
        return
    while not source.final and _BRACKETED_SO_FAR.match(source.text, source.pos):
        yield
    if first in "{[" and not _BRACKETED.match(source.text, source.pos):
        yield from read_json(source, writer, marked=False)
        yield from end_of_line(source, writer)
        return
    name = yield from until(source, _ACTION_NAME, 200)
    tool = writer.offered.find(name[1])
    if name.start() != source.pos or tool is None:
        raise NotACall
    if source.text[name.end()] == "[" and len(properties_of(tool)) == 1:
        yield from _read_in_brackets(source, writer, name)
        return
    if source.text[name.end()] == "(":
        source.pos = name.start(1)
        yield from read_pythonic(source, writer)
        yield from end_of_line(source, writer)
        return
    source.pos = name.end()
    yield from _read_after_name(source, writer, name[1], takes_text=takes_text)


def _read_after_name(source: Source, writer: CallWriter, name: str, *, takes_text: bool) -> Reading[None]:
    """Read the arguments, with their label before them or right after the name."""
    first = yield from skip_space(source)
    if first in (":", ","):
        source.pos += 1
        first = yield from skip_space(source)
    if first == "{" or first == "`":
        writer.start(name)
        yield from read_any_arguments(source, writer, first)
        writer.end(source.offset)
        return
    if (yield from literal_at(source, (BEGIN,))):
        writer.start(name)
        yield from read_begun_arguments(source, writer)
        writer.end(source.offset)
        return
    while not source.final and _ACTION_INPUT_SO_FAR.match(source.text, source.pos):
        yield
    label = _ACTION_INPUT.match(source.text, source.pos)
    if label is None:
        raise NotACall if source.pos < len(source.text) else Incomplete
    source.pos = label.end()
    while not source.final and len(source.text) - source.pos < len("**"):
        yield
    source.pos += 2 * source.text.startswith("**", source.pos)
    yield from _read_input(source, writer, name, takes_text=takes_text)


def _read_input(source: Source, writer: CallWriter, name: str, *, takes_text: bool) -> Reading[None]:
    tool = writer.start(name)
    offset = yield from space_end(source)
    first = source.text[source.pos + offset : source.pos + offset + 1]
    if first in ("{", "`") or (yield from literal_at(source, ('"{', "'{"), offset)):
        source.pos += offset
        yield from read_any_arguments(source, writer, first)
    elif not takes_text:
        raise NotACall if first else Incomplete
    else:
        text = yield from rest_of_line(source)
        if text.lower() in ("", "none", "null", "n/a", "{}"):
            if required_of(tool):
                raise NotACall
        else:
            writer.whole(arguments_from(text.strip("\"'"), tool))
    writer.end(source.offset)


def _read_in_brackets(source: Source, writer: CallWriter, name: re.Match[str]) -> Reading[None]:
    """Read the one argument of `Action: search[what to search]`, ReAct as it was first written."""
    source.pos = name.end() + 1
    text = yield from rest_of_line(source)
    if not text.endswith("]"):
        raise NotACall
    writer.whole(arguments_from(text[:-1], writer.start(name[1])))
    writer.end(source.offset)
