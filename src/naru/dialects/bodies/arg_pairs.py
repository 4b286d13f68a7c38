"""Calls as a name and pairs of key and value tags: GLM's `N<arg_key>k</arg_key><arg_value>v</arg_value>`."""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.bodies.tagged_values import Ending, read_tagged_text
from naru.dialects.call_writer import CallWriter
from naru.dialects.patterns import lazy_pattern
from naru.dialects.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    match_here,
    skip_space,
    space_end,
    until,
)

_LONGEST_HEAD = 400


class PairTags:
    """GLM's tags with a vendor's prefix or suffix on each name: `<{prefix}arg_key{suffix}>` and so on."""

    __slots__ = ("head", "key", "key_end", "kind", "kind_end", "separator", "value", "value_end")

    def __init__(self, prefix: str, suffix: str) -> None:
        def tag(name: str, slash: str = "") -> str:
            return f"<{slash}{prefix}{name}{suffix}>"

        self.key, self.key_end = tag("arg_key"), lazy_pattern(re.escape(tag("arg_key", "/")))
        self.kind, self.kind_end = tag("arg_type"), lazy_pattern(re.escape(tag("arg_type", "/")))
        self.value, self.value_end = tag("arg_value"), tag("arg_value", "/")
        self.separator = tag("tool_sep")
        key, value = (re.escape(written) for written in (self.key, self.value))
        self.head = lazy_pattern(rf"{key}([^<]*){re.escape(tag('arg_key', '/'))}\s*{value}")
        """An argument up to its value, where nothing is missing and no type is given."""


@lru_cache(maxsize=16)
def pair_tags(prefix: str = "", suffix: str = "") -> PairTags:
    """Return the tags of a vendor, made once."""
    return PairTags(prefix, suffix)


def read_pairs(source: Source, writer: CallWriter, tags: PairTags, closers: tuple[str, ...]) -> Reading[None]:
    """Read the arguments of the call that was started, up to one of `closers`, which is left."""
    while True:
        first = yield from skip_space(source)
        if not first:
            raise Incomplete
        head = match_here(source, tags.head, _LONGEST_HEAD)
        if head is not None:
            writer.key(head[1].strip())
            source.pos = head.end()
            yield from read_tagged_text(source, writer, _ending(tags, closers))
            continue
        found = yield from literal_at(source, (*closers, tags.key, tags.separator))
        if found in closers and found:
            return
        source.pos += len(found)
        if found == tags.key:
            yield from _read_pair(source, writer, tags, closers)
        elif not found:
            raise NotACall


def _read_pair(source: Source, writer: CallWriter, tags: PairTags, closers: tuple[str, ...]) -> Reading[None]:
    end = yield from until(source, tags.key_end, 400)
    writer.key(source.text[source.pos : end.start()].strip())
    source.pos = end.end()
    offset = yield from space_end(source)
    kind = ""
    found = yield from literal_at(source, (tags.kind, tags.value), offset)
    if found == tags.kind:
        source.pos += offset + len(found)
        end = yield from until(source, tags.kind_end, 100)
        kind = "text" if source.text[source.pos : end.start()].strip() == "string" else "json"
        source.pos = end.end()
        offset = yield from space_end(source)
        found = yield from literal_at(source, (tags.value,), offset)
    source.pos += offset + len(found)
    if not found:
        writer.repair("missing-tag", "", tags.value)

    yield from read_tagged_text(source, writer, _ending(tags, closers), kind=kind)


@lru_cache(maxsize=64)
def _ending(tags: PairTags, closers: tuple[str, ...]) -> Ending:
    def implied(source: Source, writer: CallWriter, found: str, at_line_start: bool) -> Reading[bool]:
        offset = yield from space_end(source, len(found))
        missing = source.pos + offset >= len(source.text)
        missing = missing or bool((yield from literal_at(source, ("<",), offset)))
        if missing:
            writer.repair("missing-tag", "", tags.value_end)
        return missing

    return Ending(tags.value_end, (tags.key, *closers), closers, implied)
