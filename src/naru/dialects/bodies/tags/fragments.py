"""What is left of a damaged tag: before a value, at its end, or after what may be its closing tag."""

from __future__ import annotations

from naru.dialects.bodies.tags.endings import Ending, is_slip, plain_name
from naru.dialects.calls.keys import role_of, says_call
from naru.dialects.calls.offered import properties_of
from naru.dialects.scanner import markers
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Reading, Source, need
from naru.dialects.tool import Tool

LONGEST_FRAGMENT = 100
"""Characters."""
_BETWEEN = lazy_pattern(r"[:|｜]")
"""What sets a vendor's prefix or suffix off from a tag's name."""
_FRAGMENT = lazy_pattern(
    r"(?:< ?[/\\]? ?((?<=[/\\])[\w:.\-｜|]{1,40}|[\w:.\-｜|]{3,40})[^<>\n]{0,40}(?:>[\w>]?)?|[/\\]([\w:.\-｜|]{3,40})>"
    r"|(?:\[|&lt;)[/\\]?([\w:.\-｜|]{3,40})(?:\]|&gt;)?)\s*\Z"
)
_MARK = lazy_pattern(r"[^\w\s.!?\"'`]\Z")
"""What ends what is left of a tag, and no sentence."""
_NO_NAME = ("</", "</>", "<>")
_BRACKET_BEFORE_CLOSER = lazy_pattern(r"(?:[^\s/<]</|\n</?)\Z")
_NO_LETTERS = lazy_pattern(r"[\W_]+")
_LAST_CLOSER = lazy_pattern(r"</([\w:.\-｜|]{1,60})[^<>]{0,30}>[\w>]?\s*\Z")
_CLOSERS = lazy_pattern(r"(?:\s{0,80}</[\w:.\-｜|]{1,60}>){0,4}")
_CLOSERS_SO_FAR = lazy_pattern(r"(?:\s{0,80}</[\w:.\-｜|]{1,60}>){0,4}\s{0,80}(?:<(?:/[\w:.\-｜|]{0,60})?)?\Z")
_GOES_ON = lazy_pattern(r"[ \t]+[^\s<\[&({‹＜]|[\"'`),.;:!?…。，、）」](?!<)")


def ends_in_a_tag(text: str, ending: Ending, tool: Tool | None) -> bool:
    """Tell whether a text closes with another tag of the call, or what is left of the value's closing tag."""
    text = text[-LONGEST_FRAGMENT:].rstrip()
    if text.endswith(_NO_NAME) or (_MARK.search(text) and _letters(text).endswith(_letters(ending.name))):
        return True
    found = _FRAGMENT.search(text)
    if found is None:
        return False
    if found[0].strip() in markers().table:
        return True
    name = plain_name(found[1] or found[2] or found[3])
    if says_call(name) or role_of(name) == "arguments" or is_slip(name, ending.name):
        return True
    around = ending.structure.union(map(plain_name, properties_of(tool)) if tool is not None else ())
    return ending.name.startswith(name) or not around.isdisjoint(_BETWEEN.split(name))


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).lower()


def ends_in_a_bracket(text: str) -> bool:
    """Tell whether a value ends in a bracket too many before its closing tag.

    It stands right behind the line break, or with the tag's stroke; one behind a word may be the value's own: `Map<`.
    """
    return _BRACKET_BEFORE_CLOSER.search(text) is not None


def ends_in_a_stray_closer(text: str) -> bool:
    """Tell whether a text closes with a tag that nothing in it opens."""
    tag = _LAST_CLOSER.search(text[-LONGEST_FRAGMENT:])
    return tag is not None and f"<{tag[1]}" not in text


def is_spoken_of(source: Source, offset: int) -> Reading[bool]:
    """Tell whether a text goes on on the same line after closing tags, one of which ends at `offset`."""
    while not source.final and _CLOSERS_SO_FAR.match(source.text, source.pos + offset):
        yield
    closers = _CLOSERS.match(source.text, source.pos + offset)
    offset = closers.end() - source.pos if closers is not None else offset
    yield from need(source, offset + 2)
    return _GOES_ON.match(source.text, source.pos + offset) is not None
