"""Calls in a tag that says so but is no dialect's marker: `<ToolCall>{…}</ToolCall>`, `[function-call]{…}`."""

from __future__ import annotations

import re

from naru.dialects.bodies.tagged import read_tag, read_unit
from naru.dialects.bodies.tags.call_tags import call_tags
from naru.dialects.bodies.tags.xml_parameters import read_named_elements, read_parameters
from naru.dialects.bodies.unmarked import end_of_line
from naru.dialects.calls.keys import letters, may_say_call, says_call
from naru.dialects.calls.offered import Offered
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Reading, Source, space_end

_TAG = lazy_pattern(r"([<\[])\s{0,2}([A-Za-z][\w\-]{0,24})\s{0,2}[>\]]{1,2}(?![>\]])")
_TAG_SO_FAR = lazy_pattern(r"[<\[]\s{0,2}([A-Za-z][\w\-]{0,24})?(\s{0,40}[>\]]{0,2})\Z")
_TAG_WITH_ATTRIBUTES = lazy_pattern(r"<([A-Za-z][\w\-]{0,24})\s{1,40}[A-Za-z]")
_NAME_ELEMENT = lazy_pattern(r"[<\[]\s{0,2}[\w\-]{1,25}\s{0,2}[>\]]\s{0,40}[A-Za-z_][\w.\-]{0,100}\s{0,40}</")
_NAME_ELEMENT_SO_FAR = lazy_pattern(
    r"[<\[]\s{0,2}[\w\-]{1,25}\s{0,2}[>\]]{1,2}\s{0,40}(?:[A-Za-z_][\w.\-]{0,100}\s{0,40}<?)?\Z"
)
_CLOSING_TAG = lazy_pattern(r"[<\[]\s{0,2}[/\\]\s{0,2}([A-Za-z][\w\-]{0,24})\s{0,2}[>\]]")
_CLOSING_TAG_SO_FAR = lazy_pattern(r"[<\[][\s/\\]{0,5}[\w\-]{0,25}\s{0,2}\Z")
_ALSO = "json"
_HALF_TAG = lazy_pattern(r"(?:function ?)?=[\"']?(?P<name>[\w.\-]{1,100})[\"']?>(?=\s{0,8}<(?:param|/function>))")
_HALF_TAG_SO_FAR = lazy_pattern(r"(?:function ?)?=[\"']?[\w.\-]{0,100}[\"']?(?:>\s{0,8}(?:<[/a-z]{0,9})?)?\Z")


def announces_call(text: str, at: int) -> bool:
    """Tell whether the tag at `at` says that a call follows."""
    tag = _TAG.match(text, at)
    if tag is None:
        tag = _TAG_WITH_ATTRIBUTES.match(text, at)
        return tag is not None and says_call(tag[1])
    return says_call(tag[2]) or letters(tag[2]) == _ALSO


def may_become_tag(text: str, at: int) -> bool:
    """Tell whether the text from `at` on, which is still arriving, may become such a tag."""
    begun = _TAG_SO_FAR.match(text, at)
    if begun is None:
        return False
    name = begun[1] or ""
    if not begun[2]:
        return may_say_call(name) or _ALSO.startswith(letters(name))
    return says_call(name) or letters(name) == _ALSO


def read_in_tags(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the tag at `pos`, the call after it and its closing tag, if there is one, up to the end of the line."""
    tag = _TAG.match(source.text, source.pos)
    if tag is None:
        yield from read_tag(source, writer)
        yield from end_of_line(source, writer)
        return
    writer.repair("odd-tag", tag[0])
    bracket, name = tag[1], tag[2]
    while not source.final and _NAME_ELEMENT_SO_FAR.match(source.text, source.pos):
        yield
    if _NAME_ELEMENT.match(source.text, source.pos):
        yield from read_named_elements(source, writer)
        yield from end_of_line(source, writer)
        return
    source.pos += len(tag[0])
    yield from read_unit(source, writer, (f"</{name}>" if bracket == "<" else f"[/{name}]",))
    offset = yield from space_end(source)
    while not source.final and _CLOSING_TAG_SO_FAR.match(source.text, source.pos + offset):
        yield
    closer = _CLOSING_TAG.match(source.text, source.pos + offset)
    if closer is not None and letters(closer[1]) == letters(name):
        source.pos += offset + len(closer[0])
    yield from end_of_line(source, writer)


def half_tag(text: str, at: int, offered: Offered) -> re.Match[str] | None:
    """Return the tag of a call that lost its beginning, where arguments after it show that one was meant."""
    found = _HALF_TAG.match(text, at)
    return found if found is not None and offered.find(found["name"]) is not None else None


def may_become_half_tag(text: str, at: int) -> bool:
    """Tell whether the text from `at` on, which is still arriving, may become such a tag."""
    return _HALF_TAG_SO_FAR.match(text, at) is not None


def read_half_tag(source: Source, writer: CallWriter, tag: re.Match[str]) -> Reading[None]:
    """Read `function=N>` or `=N>` and the arguments, up to the end of the line."""
    writer.start(tag["name"])
    writer.repair("missing-tag", tag[0], f"<function={tag['name']}>")
    source.pos += len(tag[0])
    yield from read_parameters(source, writer, call_tags("", "", "function", tag["name"]))
    writer.end(source.offset)
    yield from end_of_line(source, writer)
