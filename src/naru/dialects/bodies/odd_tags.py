"""JSON calls after a tag that says so but is no dialect's marker: `<ToolCall>{…}</ToolCall>`, `[function-call]{…}`."""

from __future__ import annotations

from naru.dialects.bodies.json_calls import read_json
from naru.dialects.bodies.unmarked import CALL_LABELS, end_of_line
from naru.dialects.bodies.xml_parameters import read_named_elements
from naru.dialects.calls.keys import letters
from naru.dialects.calls.writer import CallWriter
from naru.dialects.catalog.marked import MARKED
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Reading, Source, space_end

_TAG = lazy_pattern(
    r"[<\[]\s{0,2}([A-Za-z][\w\-]{0,24})\s{0,2}[>\]]{1,2}\s{0,40}(?=[{\[]|[A-Za-z_][\w.\-]{0,100}\s*</)"
)
_TAG_SO_FAR = lazy_pattern(
    r"[<\[]\s{0,2}([A-Za-z][\w\-]{0,24})?\s{0,2}[>\]]{0,2}\s{0,40}(?:[A-Za-z_][\w.\-]{0,100}\s*<?)?\Z"
)
_CLOSING_TAG = lazy_pattern(r"[<\[]\s{0,2}[/\\]\s{0,2}([A-Za-z][\w\-]{0,24})\s{0,2}[>\]]")
_CLOSING_TAG_SO_FAR = lazy_pattern(r"[<\[][\s/\\]{0,5}[\w\-]{0,25}\s{0,2}\Z")


_NAMES = frozenset(map(letters, (*CALL_LABELS, "tool_name", "function_name"))) | {
    letters(opener[1:-1]) for row in MARKED for opener in row.openers if opener[1:-1].replace("-", "_").isidentifier()
}
"""What a tag before calls may be called: as a marker in any spelling, or as a fence that holds calls."""


def tag_name(text: str, at: int) -> str:
    """Return the name of a tag at `at` that announces JSON calls; empty where there is none."""
    tag = _TAG.match(text, at)
    return tag[1] if tag is not None and letters(tag[1]) in _NAMES else ""


def may_become_tag(text: str, at: int) -> bool:
    """Tell whether the text from `at` on, which is still arriving, may become such a tag."""
    begun = _TAG_SO_FAR.match(text, at)
    if begun is None:
        return False
    name = letters(begun[1] or "")
    if begun.end(1) in (-1, begun.end()):
        return any(known.startswith(name) for known in _NAMES)
    return name in _NAMES


def read_in_tags(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the tag at `pos`, the JSON after it and its closing tag, if there is one, up to the end of the line."""
    tag = _TAG.match(source.text, source.pos)
    assert tag is not None
    source.pos = tag.end()
    writer.repair("odd-tag", tag[0].rstrip())
    if source.text[tag.end()] not in "{[":
        source.pos = tag.start()
        yield from read_named_elements(source, writer)
        yield from end_of_line(source, writer)
        return
    yield from read_json(source, writer, marked=False, closers=("</",))
    offset = yield from space_end(source)
    while not source.final and _CLOSING_TAG_SO_FAR.match(source.text, source.pos + offset):
        yield
    closer = _CLOSING_TAG.match(source.text, source.pos + offset)
    if closer is not None and letters(closer[1]) == letters(tag[1]):
        source.pos = closer.end()
    yield from end_of_line(source, writer)
