"""Calls as a name and pairs of key and value tags: GLM's `N<arg_key>k</arg_key><arg_value>v</arg_value>`."""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.bodies.tags.endings import Ending
from naru.dialects.bodies.tags.mending import mended, opening_tags
from naru.dialects.bodies.tags.tagged_values import read_tagged_text
from naru.dialects.calls.offered import properties_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.slips import MOST_ADDED
from naru.dialects.texts.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    match_here,
    need,
    skip_space,
    space_end,
    until,
)

_LONGEST_HEAD = 400
_NEXT_SO_FAR = lazy_pattern(r"\s{0,40}(?:<[\w|:.]{0,30}>?)?[^<>\n]{0,100}(?:<(?:/[\w|:.\-]{0,60})?)?\Z")
_KEY = lazy_pattern(r"\s*[^<>\s]{1,200}(?:\s+[^<>\s]{1,200})*(?=\s*<)")


class PairTags:
    """GLM's tags with a vendor's prefix or suffix on each name: `<{prefix}arg_key{suffix}>` and so on."""

    __slots__ = (
        "around", "bare", "element", "fragment", "head", "key", "key_end", "key_head", "kind", "kind_end", "next",
        "separator", "value", "value_end",
    )  # fmt: skip

    def __init__(self, prefix: str, suffix: str) -> None:
        def tag(name: str, slash: str = "") -> str:
            return f"<{slash}{prefix}{name}{suffix}>"

        self.key, self.key_end = tag("arg_key"), tag("arg_key", "/")
        self.kind, self.kind_end = tag("arg_type"), lazy_pattern(re.escape(tag("arg_type", "/")))
        self.value, self.value_end = tag("arg_value"), tag("arg_value", "/")
        self.separator = tag("tool_sep")
        self.around = (self.key, self.key_end, self.value_end)
        """What may stand around a key by mistake."""
        key, value = (re.escape(written) for written in (self.key, self.value))
        self.head = lazy_pattern(rf"{key}([^<>]+){re.escape(self.key_end)}\s*{value}")
        """An argument up to its value, where nothing is missing and no type is given."""
        self.element = lazy_pattern(rf"{key}[^<>]+{re.escape(self.key_end)}")
        """A key without a slip in its tags."""
        self.key_head = lazy_pattern(rf"{key}(?P<key>[^<>]*)<")
        self.bare = lazy_pattern(rf"(?P<key>[^<>\n]{{1,100}}){re.escape(self.key_end)}")
        self.next = lazy_pattern(rf"\s{{0,40}}(?:{key})?(?P<key>[^<>\n]{{1,100}}){re.escape(self.key_end)}")
        """An argument after the call's closing tag."""
        self.fragment = lazy_pattern(rf"<|(?:&lt;|\W){{0,5}}{re.escape(self.value[1:-1])}")
        """What is left of a value's opening tag."""


@lru_cache(maxsize=16)
def pair_tags(prefix: str = "", suffix: str = "") -> PairTags:
    """Return the tags of a vendor, made once."""
    return PairTags(prefix, suffix)


def another_pair(source: Source, writer: CallWriter, tags: PairTags, closer: str) -> Reading[bool]:
    """Consume the call's closing tag at `pos` where an argument that it may have comes after; tell whether it did."""
    while not source.final and _NEXT_SO_FAR.match(source.text, source.pos + len(closer)):
        yield
    found = tags.next.match(source.text, source.pos + len(closer))
    key = found["key"].strip() if found is not None else ""
    if not key or not (writer.awaits(key) or (not writer.declared and not writer.has(key))):
        return False
    source.pos += len(closer)
    writer.repair("misplaced-tag", closer)
    return True


def read_pairs(
    source: Source, writer: CallWriter, tags: PairTags, closers: tuple[str, ...], *, to_the_end: bool = False
) -> Reading[None]:
    """Read the arguments of the call that was started, up to one of `closers`, which is left.

    With `to_the_end` the end of the text will do after an argument.
    """
    some = False
    while True:
        first = yield from skip_space(source)
        if not first:
            if to_the_end and some and not source.cut:
                return
            raise Incomplete
        some = True
        head = match_here(source, tags.head, _LONGEST_HEAD)
        if head is not None:
            key = head[1].strip()
            writer.key(key)
            source.pos = head.end()
            yield from read_tagged_text(source, writer, _ending(tags, closers, key))
            continue
        found = yield from literal_at(source, (*closers, tags.separator))
        if found in closers and found:
            if not (yield from another_pair(source, writer, tags, found)):
                return
            continue
        if found:
            source.pos += len(found)
            continue
        if (yield from _is_over_without(source, writer, tags, closers)):
            continue
        if not (yield from _mends_key(source, writer, tags, closers)):
            yield from _read_pair(source, writer, tags, closers)


def _is_over_without(source: Source, writer: CallWriter, tags: PairTags, closers: tuple[str, ...]) -> Reading[bool]:
    """Consume the closing tag of a value that a call without arguments has none of (GLM 5.2); tell whether it did."""
    if writer.lacks_all or not (yield from literal_at(source, (tags.value_end,))):
        return False
    offset = yield from space_end(source, len(tags.value_end))
    if not (yield from literal_at(source, closers, offset)):
        return False
    writer.repair("misplaced-tag", tags.value_end)
    source.pos += offset
    return True


def _mends_key(source: Source, writer: CallWriter, tags: PairTags, closers: tuple[str, ...]) -> Reading[bool]:
    """Mend the key with its tags, or the tag after the arguments; tell whether there was a slip in it."""
    ends = () if writer.lacks_all else closers[:1]
    expected = [*opening_tags((f"{tags.key}{{}}{tags.key_end}",), writer), tags.separator, *ends]
    yield from need(source, max(map(len, expected)) + MOST_ADDED + 1)
    if tags.element.match(source.text, source.pos) is not None:
        return False
    return (yield from mended(source, writer, expected))


def _read_pair(source: Source, writer: CallWriter, tags: PairTags, closers: tuple[str, ...]) -> Reading[None]:
    """Read an argument of whose tags some may be missing, doubled or mistaken for another."""
    calls = tuple(f"<{closer[2:]}" for closer in closers if closer.startswith("</"))
    before = yield from _tags_here(source, (*tags.around, *calls))  # GLM 5 writes the call's tag for the first key's
    found = yield from until(source, _KEY, _LONGEST_HEAD)
    if found.start() != source.pos:
        raise NotACall
    key = found[0].strip()
    name, equals, value = key.partition("=")
    source.pos = found.end()
    after = yield from _tags_here(source, tags.around)
    kind = yield from _read_kind(source, tags)
    if equals and after == [tags.value_end] and writer.tool is not None and name.strip() in properties_of(writer.tool):
        writer.repair("missing-tag", "", tags.value)
        writer.key(name.strip())
        writer.written(value.strip())
        return
    yield from mended(source, writer, (tags.value,))
    opened = yield from _value_opens(source, tags)
    if [*before, *after] != [tags.key, tags.key_end] or not opened:
        tool = writer.tool
        if tool is None or key not in (properties_of(tool) or (key,)) or not (after or opened):
            raise NotACall
        if not opened and (yield from _is_fragment(source, tags)):
            raise NotACall
        writer.repair("misplaced-tag" if opened else "missing-tag", "".join(before + after), tags.value)
    writer.key(key)
    yield from read_tagged_text(source, writer, _ending(tags, closers, key, opened=opened), kind=kind, trim=not opened)
    if not opened and tags.value in writer.last_text:
        raise NotACall


def _is_fragment(source: Source, tags: PairTags) -> Reading[bool]:
    """Tell whether what comes is another tag, or what is left of one, and no value."""
    offset = yield from space_end(source)
    yield from need(source, offset + len(tags.value) + 4)
    return tags.fragment.match(source.text, source.pos + offset) is not None


def _tags_here(source: Source, tags: tuple[str, ...]) -> Reading[list[str]]:
    """Consume tags that follow each other, with white space before each."""
    found: list[str] = []
    while True:
        offset = yield from space_end(source)
        tag = yield from literal_at(source, tags, offset)
        if not tag:
            return found
        source.pos += offset + len(tag)
        found.append(tag)


def _value_opens(source: Source, tags: PairTags) -> Reading[bool]:
    """Consume the value's opening tag if it is there; white space after it is the value's."""
    offset = yield from space_end(source)
    if not (yield from literal_at(source, (tags.value,), offset)):
        return False
    source.pos += offset + len(tags.value)
    return True


def _read_kind(source: Source, tags: PairTags) -> Reading[str]:
    """Read what the vendor's type tag says about the value."""
    offset = yield from space_end(source)
    found = yield from literal_at(source, (tags.kind,), offset)
    if not found:
        return ""
    source.pos += offset + len(found)
    end = yield from until(source, tags.kind_end, 100)
    kind = "text" if source.text[source.pos : end.start()].strip() == "string" else "json"
    source.pos = end.end()
    return kind


@lru_cache(maxsize=256)
def _ending(tags: PairTags, closers: tuple[str, ...], key: str, *, opened: bool = True) -> Ending:
    own = tuple(closer for closer in closers if not closer.startswith("</function")) or closers
    return Ending(
        key, tags.value_end, openers=(tags.value,), head=tags.key_head, ends=own, arguments=(tags.key,),
        calls=tuple(f"<{closer[2:]}" for closer in own if closer.startswith("</")), mends=opened, bare=tags.bare,
        heads=(f"{tags.key}{{}}{tags.key_end}",),
    )  # fmt: skip
