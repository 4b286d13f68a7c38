"""Mends a tag where its form needs one of a few, and what stands there is one slip away from one of them alone."""

from __future__ import annotations

from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.slips import MOST_ADDED, meant_by
from naru.dialects.texts.source import Reading, Source, need, space_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from naru.dialects.calls.writer import CallWriter

_VENDOR = lazy_pattern(r"(?:\]<\]\w+\[>\[)?<(?:[｜|]{0,2}\w+[:｜|]{1,2} ?)?")
_CALL_HEADS = ("function={}>", 'invoke name="{}">')
_LOOK_AHEAD = 40
_SHORTEST = 5
"""Characters; the beginning of a shorter tag tells nothing."""


def opening_tags(heads: tuple[str, ...], writer: CallWriter) -> list[str]:
    """Return the opening tags of the arguments that are awaited, and how the tag of any argument begins."""
    return _filled(heads, [name for name in writer.declared if writer.awaits(name)])


def call_tags_after(opener: str, names: Iterable[str]) -> list[str]:
    """Return the tags that name a tool after the marker that announced its call, and how the tag of any tool begins."""
    vendor = _VENDOR.match(opener)
    prefixes = {"<", vendor[0] if vendor is not None else "<"}
    return _filled([f"{prefix}{head}" for prefix in prefixes for head in _CALL_HEADS], names)


def _filled(heads: Iterable[str], names: Iterable[str]) -> list[str]:
    names = list(names)
    tags = [head.format(name) for head in heads for name in names]
    begun = dict.fromkeys(head.partition("{}")[0] for head in heads)
    return tags + [tag for tag in begun if len(tag) >= _SHORTEST]


def tag_meant(source: Source, tags: Collection[str], offset: int) -> Reading[tuple[str, int]]:
    """Return the one of some tags that what stands at `offset` is a slip of, and the length of what does."""
    if not tags:
        return "", 0
    yield from need(source, offset + max(map(len, tags)) + MOST_ADDED + _LOOK_AHEAD)
    start = source.pos + offset
    meant, size = meant_by(source.text, start, tags)
    end = start + size
    if meant and not _is_all(meant, source.text[start:end], source.text[end : end + _LOOK_AHEAD]):
        return "", 0
    return meant, size


def _is_all(meant: str, written: str, after: str) -> bool:
    """Tell whether nothing of a tag is left after what was taken for one with a slip."""
    if meant[-1] == ">" != written[-1]:
        return ">" not in after.partition("<")[0]  # it may have an attribute, or another name
    # What goes on with the argument's name may be another tag, but for two marks that changed places.
    return meant[-1] == ">" or written[-1] == meant[-1] or written[-2:] == meant[:-3:-1]


def mended(source: Source, writer: CallWriter, tags: Collection[str]) -> Reading[bool]:
    """Put the one of some tags that was meant in its place, after white space; tell whether there was one."""
    offset = yield from space_end(source)
    meant, size = yield from tag_meant(source, tags, offset)
    if not meant:
        return False
    start = source.pos + offset
    written = source.text[start : start + size]
    if written == meant:
        return False
    writer.repair("wrong-tag", written, meant)
    source.put(meant, offset, size)
    return True
