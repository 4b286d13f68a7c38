"""Calls between a marker and its closing tag, in whichever notation stands there."""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.bodies.arguments import read_any_arguments, skip_arguments_label, skip_fence_line
from naru.dialects.bodies.dashed import BEGINNINGS, read_dashed
from naru.dialects.bodies.json_calls import read_calls_as_text, read_complete_object, read_json
from naru.dialects.bodies.pythonic import read_pythonic
from naru.dialects.bodies.tags.arg_pairs import another_pair, pair_tags, read_pairs
from naru.dialects.bodies.tags.attributes import read_attributes
from naru.dialects.bodies.tags.call_tags import child_tags, tags_until
from naru.dialects.bodies.tags.mending import call_tags_after, mended
from naru.dialects.bodies.tags.xml_parameters import (
    NAME_TAGS,
    are_cut_beside,
    read_arguments_beside,
    read_named_elements,
    read_parameters,
    read_xml,
)
from naru.dialects.calls.keys import role_of
from naru.dialects.calls.offered import properties_of, required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.dialect import Dialect
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    match_here,
    skip_space,
    solid,
    space_end,
    until,
)
from naru.dialects.texts.tokens import Tokens
from naru.dialects.tool import Tool

_NAME = lazy_pattern(r"[^\s<>{}()\[\],\"'`]+(?=[\s<>{}()\[\],\"'`])")
_PAIR_HEAD = lazy_pattern(r"<((?:ifm\|)?)(?:arg_key|tool_sep)((?::[\w.\-]+)?)>")
_PAIR_STARTS = ("<arg_key", "<tool_sep", "<ifm|arg_key", "<ifm|tool_sep")
_SUFFIX = lazy_pattern(r"[\w.\-]+>")
_XML_STARTS = ("<", "]")


class _Layout:
    """What may stand between a marker and its closing tag besides calls."""

    __slots__ = ("after", "closers", "every")

    def __init__(self, closers: tuple[str, ...], inside: tuple[str, ...]) -> None:
        self.closers = closers
        self.every = Tokens((*closers, *inside, "```", "\\n", "\\r", "\\t"))
        self.after = Tokens((*closers, *inside) if inside else ())
        """What may go on after a closing tag."""


_layout = lru_cache(maxsize=64)(_Layout)


def read_tagged(source: Source, writer: CallWriter, row: Dialect, opener: str) -> Reading[None]:
    """Read `opener` and calls up to and with the closing tag; a complete call stands also where that is missing."""
    source.pos += len(opener)
    layout = (yield from _suffixed_layout(source)) if row.name == "hy" else _layout(row.closers, row.inside)
    before = len(writer.calls)
    while True:
        some = len(writer.calls) > before
        writer.extend(source.offset if some else 0)  # what was read so far stands where prose begins, not a call
        offset = solid(source)
        if offset < 0:
            offset = yield from space_end(source)
        first = source.text[source.pos + offset : source.pos + offset + 1]
        if first == "{":
            source.pos += offset
            if not read_complete_object(source, writer, marked=True):
                yield from _read_object(source, writer, layout, dashed=row.name == "calling-tool")
            continue
        found = yield from literal_at(source, layout.every, offset)
        if some and not found and not _may_go_on(first):
            return
        source.pos += offset
        if found in layout.closers:
            _consume_closer(source, found, some=some)
            if not (yield from _stands_next(source, layout.after)):
                return
        elif found:
            yield from _skip_layout(source, found)
        elif first == "<" and (again := (yield from literal_at(source, row.openers))):
            if (yield from _is_over(source, writer, again, some=some)):
                return
        elif not _is_stray(first, source, writer, some=some):
            yield from _read_or_mend(source, writer, layout.closers, opener)


def _read_or_mend(source: Source, writer: CallWriter, closers: tuple[str, ...], opener: str) -> Reading[None]:
    """Read a unit; one that does not begin as a call may begin with a slip in the tag that names its tool."""
    start = source.offset
    try:
        yield from read_unit(source, writer, closers)
    except NotACall:
        if source.offset != start or not (
            yield from mended(source, writer, call_tags_after(opener, writer.offered.names))
        ):
            raise
        yield from read_unit(source, writer, closers)


def _read_object(source: Source, writer: CallWriter, layout: _Layout, *, dashed: bool) -> Reading[None]:
    if dashed and (yield from literal_at(source, BEGINNINGS)):
        yield from read_dashed(source, writer)
    else:
        yield from read_json(source, writer, marked=True, closers=layout.closers)


def _skip_layout(source: Source, found: str) -> Reading[None]:
    if found != "```":
        source.pos += len(found)
    else:
        yield from skip_fence_line(source)


def _consume_closer(source: Source, closer: str, *, some: bool) -> None:
    if not some:
        raise NotACall
    source.pos += len(closer)


def _is_over(source: Source, writer: CallWriter, opener: str, *, some: bool) -> Reading[bool]:
    """Tell whether an opening tag inside ends the calls: it begins others, or was meant to close."""
    if some:
        offset = yield from space_end(source, len(opener))
        if source.pos + offset < len(source.text):
            return True
    writer.repair("doubled-tag", opener)
    source.pos += len(opener)
    return some


def _stands_next(source: Source, tokens: Tokens) -> Reading[bool]:
    """Tell whether one of `tokens` comes after white space."""
    if not tokens.longest:
        return False
    offset = yield from space_end(source)
    return bool((yield from literal_at(source, tokens, offset)))


def _is_stray(first: str, source: Source, writer: CallWriter, *, some: bool) -> bool:
    """Consume a separator, or a bracket that is one too many after a call."""
    if first == "," or first == ";":
        source.pos += 1
        return True
    if (some and first == "}") or (not some and first == ">"):
        writer.repair("extra-brace", first)
        source.pos += 1
        return True
    return False


def _may_go_on(first: str) -> bool:
    return bool(first) and (first in "{[<],;}" or first.isidentifier())


def _suffixed_layout(source: Source) -> Reading[_Layout]:
    """Read the suffix that HY puts on every tag, and return what may stand between such tags."""
    found = yield from until(source, _SUFFIX, 40)
    if found.start() != source.pos:
        raise NotACall
    source.pos = found.end()
    suffix = found[0]
    return _Layout((f"</tool_call:{suffix}", f"</tool_calls:{suffix}"), (f"<tool_call:{suffix}",))


def read_unit(
    source: Source, writer: CallWriter, closers: tuple[str, ...], *, in_unnamed: bool = False
) -> Reading[None]:
    """Read one call, or one list of calls, in the notation that its first character tells.

    Args:
        source: Stands before it.
        writer: Takes the calls.
        closers: What ends the region.
        in_unnamed: Whether a tag that names no tool was opened, in which no other may.
    """
    first = yield from skip_space(source)
    if not first:
        raise Incomplete
    if first in "{[":
        yield from read_json(source, writer, marked=True, closers=closers)
    elif first == "<" and (yield from literal_at(source, NAME_TAGS)):
        yield from read_named_elements(source, writer, closers)
    elif first == "<" and (tag := (yield from literal_at(source, _tags_of(tuple(writer.offered.names))))):
        if tag[-1] == " ":
            yield from read_attributes(source, writer)
            return
        source.pos += len(tag)
        writer.start(tag[1:-1])
        yield from read_parameters(source, writer, child_tags(tag[1:-1]))
        writer.end(source.offset)
    elif first in _XML_STARTS:
        yield from read_tag(source, writer, in_unnamed=in_unnamed)
    elif first == '"':
        yield from read_calls_as_text(source, writer, marked=True)
    else:
        yield from _read_named(source, writer, closers)


def read_tag(source: Source, writer: CallWriter, *, in_unnamed: bool = False) -> Reading[None]:
    """Read the call whose tag stands at `pos`, or the one in a tag that says that one follows."""
    closer = yield from read_xml(source, writer)
    if not closer:
        return
    if in_unnamed:
        raise NotACall
    yield from read_unit(source, writer, (closer,), in_unnamed=True)
    offset = yield from space_end(source)
    if (yield from literal_at(source, (closer,), offset)):
        source.pos += offset + len(closer)
        writer.extend(source.offset)


@lru_cache(maxsize=64)
def _tags_of(names: tuple[str, ...]) -> Tokens:
    """Return the tags that clients such as Cline name tools by; some models put them into their own marker."""
    return Tokens(tuple(f"<{name}{end}" for name in names for end in "> "))


def _awaited_name(source: Source, writer: CallWriter) -> Reading[re.Match[str]]:
    try:
        found = yield from until(source, _NAME, 200)
    except Incomplete:
        if writer.offered.could_begin(source.text[source.pos :].strip()):
            raise
        raise NotACall from None
    if found.start() != source.pos:
        raise NotACall
    return found


def _read_named(source: Source, writer: CallWriter, closers: tuple[str, ...]) -> Reading[None]:
    """Read a call that begins with the tool's name."""
    found = match_here(source, _NAME, 200)
    if found is None:
        found = yield from _awaited_name(source, writer)
    name = found[0]
    if role_of(name.removesuffix(":")) == "name" and writer.offered.find(name) is None:  # Step-Audio: `function f`
        source.pos += len(name)
        yield from skip_space(source)
        name = (yield from _awaited_name(source, writer))[0]
    offset = solid(source, len(name))
    if offset < 0:
        offset = yield from space_end(source, len(name))
    following = source.text[source.pos + offset : source.pos + offset + 1]
    if following == ">":  # GLM-5.3
        offset = yield from space_end(source, offset + 1)
        following = source.text[source.pos + offset : source.pos + offset + 1]
        if following not in ("", "{"):
            raise NotACall
    if following == "(":
        yield from read_pythonic(source, writer)
        return
    if not following:
        raise Incomplete
    if following == "<" and writer.offered.find(name) is None:
        name, offset = writer.offered.without_argument(name)
    tool = writer.start(name)
    source.pos += offset
    following = yield from skip_arguments_label(source, following)
    if not (yield from read_any_arguments(source, writer, following)):
        yield from _read_pairs(source, writer, closers, tool)
    writer.end(source.offset)


@lru_cache(maxsize=64)
def _other_starts(arguments: tuple[str, ...]) -> Tokens:
    """Return what arguments begin with that another form writes after the tool's name."""
    return Tokens(("<param", "<arg ", "<arg=", *(f"<{name}>" for name in arguments)))


def _read_pairs(source: Source, writer: CallWriter, closers: tuple[str, ...], tool: Tool) -> Reading[None]:
    if not closers:
        raise NotACall  # nothing would end them
    head = match_here(source, _PAIR_HEAD, 60)
    if head is None:
        closer = yield from literal_at(source, closers)
        if closer:
            beside = yield from read_arguments_beside(source, writer, len(closer))
            if not beside and required_of(tool) and are_cut_beside(source, len(closer)):
                raise Incomplete
            if not beside and (yield from another_pair(source, writer, pair_tags(), closer)):
                yield from read_pairs(source, writer, pair_tags(), closers)
            return
        if not (yield from literal_at(source, _PAIR_STARTS)):
            ends = tuple(closer for closer in closers if closer.startswith("</"))
            if ends and (yield from literal_at(source, _other_starts(tuple(properties_of(tool))))):
                yield from read_parameters(source, writer, tags_until(ends))
            else:
                yield from read_pairs(source, writer, pair_tags(), closers)
            return
        head = yield from until(source, _PAIR_HEAD, 60)
        if head.start() != source.pos:
            raise NotACall
    if not closers[0].endswith(f"{head[2]}>"):
        raise NotACall  # HY's tags have one suffix
    yield from read_pairs(source, writer, pair_tags(head[1], head[2]), closers)
