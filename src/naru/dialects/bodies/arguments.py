"""A call's arguments as an object, as the text of one, in a code fence or in backticks; members of JSON objects."""

from __future__ import annotations

import re

from naru.dialects.bodies.values import MOST_NESTED, capture, collect_quoted, delimited, quoted
from naru.dialects.calls.keys import role_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.closing import COLONS, COMMAS, MOST_SPACE, ends_there
from naru.dialects.texts.literal import (
    BARE_KEY,
    CLOSERS,
    WRITTEN_BREAKS,
    decode_json,
    parse_literal,
    unescape,
)
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    match_at,
    need,
    skip_space,
    space_end,
)

_SEPARATORS = (*COMMAS, "/", "#", "\\")
_INSIDE = {quote: lazy_pattern(rf"[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+", re.DOTALL) for quote in "\"'"}
_COMMENT = lazy_pattern(r"(?://|#)[^\n]*\n|/\*.*?\*/", re.DOTALL)
_MEMBER = lazy_pattern(r"\s{0,40}[,，]\s{0,40}\"([\w.\-]{1,64})\"\s{0,8}[:：]")
_MEMBER_SO_FAR = lazy_pattern(r"\s{0,40}(?:[,，]\s{0,40}(?:\"[\w.\-]{0,64}(?:\"\s{0,8})?)?)?\Z")
"""What begins a member after a brace; a wait for it ends within a line."""
_LABEL = lazy_pattern(r"(?:[a-z]{1,8} )?([A-Za-z_]{2,24})[:：]")
_LABEL_SO_FAR = lazy_pattern(r"[A-Za-z_ ]{1,40}\Z")
_GOES_ON = lazy_pattern(r"\s{0,200}[\"',，:\]}]")
_OBJECT = lazy_pattern(r"\s{0,200}\{\s{0,8}[\"']?([\w.\-]{1,64})[\"']?\s{0,8}[:：]")
_OBJECT_SO_FAR = lazy_pattern(r"\s{0,200}(?:\{\s{0,8}(?:[\"']?[\w.\-]{0,64}(?:[\"']?\s{0,8})?)?)?\Z")
_SPACE_SO_FAR = lazy_pattern(r"\s{0,200}\Z")
_LONG_KEY = 160
"""Characters; each may be written in six, and a key is looked for in the next 1,000."""
_LONG_SPACE = lazy_pattern(rf"\s{{{MOST_SPACE}}}")
_FENCE_LINE = lazy_pattern(r"```[\w+\-]*[ \t]*\n?")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def complete_object(source: Source, *, values_at: int = 1) -> tuple[dict[str, Any], int] | None:
    """Return the strict object at `pos` and where it ends, if it is certain that it ends there.

    The arguments' values stand in it at the depth of `values_at`.
    """
    decoded = decode_json(source.text, source.pos)
    if decoded is None or type(decoded[0]) is not dict:
        return None
    if decoded[1] - source.pos > MOST_SPACE and _LONG_SPACE.search(source.text, source.pos, decoded[1]):
        return None  # which the slow way takes for no call where it stands between tokens
    if decoded[1] - source.pos > _LONG_KEY and _is_odd(decoded[0], values_at + MOST_NESTED):
        return None  # which the slow way may take for a part of the value before it, or for no call
    certain = ends_there(source.text, decoded[1] - 1)
    return decoded if certain or (certain is None and source.final) else None


def _is_odd(value: Any, most_nested: int) -> bool:
    """Tell whether a structure has a long key, or others too deep within it. Not by recursion, which may end sooner."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > most_nested or any(len(key) > _LONG_KEY for one in level if isinstance(one, dict) for key in one):
            return True
        inner = [each for one in level for each in (one.values() if isinstance(one, dict) else one)]
        level = [each for each in inner if isinstance(each, dict | list)]
    return False


def open_brace(source: Source, writer: CallWriter) -> Reading[bool]:
    """Consume the brace at `pos`, and a second one right after it, as in a template; tell whether there was one."""
    source.pos += 1
    if not (yield from need(source, 1)) or source.text[source.pos] != "{":
        return False
    source.pos += 1
    writer.repair("extra-brace", "{")
    return True


def close_brace(source: Source, *, doubled: bool) -> Reading[None]:
    """Consume the brace at `pos`, and the second one of a doubled pair."""
    source.pos += 1
    if doubled and (yield from need(source, 1)) and source.text[source.pos] == "}":
        source.pos += 1


def next_member(source: Source) -> Reading[str]:
    """Consume space, commas and comments, and return the character that a member of an object begins with, or `}`."""
    while True:
        first = yield from skip_space(source)
        if not first:
            raise Incomplete
        if first not in _SEPARATORS:
            return first
        yield from _skip_separator(source)


def _skip_separator(source: Source) -> Reading[None]:
    """Consume the comma or the comment at `pos`."""
    if source.text[source.pos] in COMMAS:
        source.pos += 1
        return
    if source.text[source.pos] == "\\":
        yield from _skip_written_break(source)
        return
    source.pos = (yield from match_at(source, _COMMENT, 400)).end()


def _skip_written_break(source: Source) -> Reading[None]:
    """Consume a line break or a tab that was written as an escape between two tokens."""
    if not (yield from literal_at(source, WRITTEN_BREAKS)):
        raise NotACall
    source.pos += 2


def json_space(source: Source) -> Reading[str]:
    """Consume white space, escaped line breaks and comments too, and return the character after it."""
    first = yield from skip_space(source)
    while first == "\\" or (first == "/" and (yield from literal_at(source, ("//", "/*")))):
        yield from _skip_separator(source)
        first = yield from skip_space(source)
    return first


def read_key(source: Source) -> Reading[str]:
    """Read an object's key and the colon after it, also a doubled one."""
    if source.text[source.pos] in CLOSERS:
        key = yield from collect_quoted(source, "{", key=True)
    else:
        found = yield from match_at(source, BARE_KEY, 200)
        key = found[0].strip()
        source.pos = found.end()
    following = yield from json_space(source)
    if following not in COLONS:
        raise NotACall if following else Incomplete
    source.pos += 1
    if (yield from json_space(source)) in COLONS:
        source.pos += 1
    return key


def read_field(source: Source) -> Reading[Any]:
    """Read a whole value and decode it."""
    first = source.text[source.pos : source.pos + 1]
    if first and first in CLOSERS:
        return (yield from collect_quoted(source, "{"))
    written = yield from capture(source)
    try:
        return parse_literal(written)
    except ValueError as error:
        raise NotACall from error


def read_any_arguments(source: Source, writer: CallWriter, first: str) -> Reading[bool]:
    """Read the arguments at `pos` of the call that was started; False where none begin with the character `first`.

    They are an object, the text of one in quotation marks, or either in a code fence or in single backticks.
    """
    if first == "{":
        yield from read_arguments(source, writer)
    elif first == '"' or first == "'":
        yield from read_arguments_as_text(source, writer)
    elif first == "`":
        yield from _read_fenced_arguments(source, writer)
    else:
        return False
    return True


def skip_arguments_label(source: Source, first: str) -> Reading[str]:
    """Consume words such as `with arguments:` before arguments; return the character that then comes, else `first`."""
    if not first.isalpha():
        return first
    while not source.final and _LABEL_SO_FAR.match(source.text, source.pos):
        yield
    label = _LABEL.match(source.text, source.pos)
    if label is None or role_of(label[1]) != "arguments":
        return first
    source.pos = label.end()
    return (yield from skip_space(source))


def _read_fenced_arguments(source: Source, writer: CallWriter) -> Reading[None]:
    closer = (yield from literal_at(source, ("```",))) or "`"
    if closer == "`":
        source.pos += 1
    else:
        yield from skip_fence_line(source)
    first = yield from skip_space(source)
    if not first or first not in "{\"'":
        raise NotACall if first else Incomplete
    yield from read_any_arguments(source, writer, first)
    offset = yield from space_end(source)
    if (yield from literal_at(source, (closer,), offset)):
        source.pos += offset + len(closer)
    elif closer == "`":
        raise NotACall


def skip_fence_line(source: Source) -> Reading[None]:
    """Consume the line that opens or closes a code fence."""
    source.pos = (yield from match_at(source, _FENCE_LINE, 40)).end()


def lost_member(source: Source, writer: CallWriter) -> Reading[str]:
    """Return the argument that comes after the brace that was consumed, if one does: then that came too early."""
    if not writer.lacks_some:
        return ""
    while not source.final and _MEMBER_SO_FAR.match(source.text, source.pos):
        yield
    found = _MEMBER.match(source.text, source.pos)
    return found[1] if found is not None and writer.awaits(found[1]) else ""


def _is_over(source: Source, writer: CallWriter, *, enclosed: bool) -> Reading[bool]:
    """Tell whether the arguments end with the brace that was consumed.

    Raises:
        NotACall: It may be a text's own: one of them has stray quotes, and JSON goes on.
    """
    if enclosed:
        return True
    name = yield from lost_member(source, writer)
    if name:
        writer.repair("early-brace", name)
    elif writer.has_none and writer.declared:
        while not source.final and _OBJECT_SO_FAR.match(source.text, source.pos):
            yield
        found = _OBJECT.match(source.text, source.pos)
        if found is not None and writer.awaits(found[1]):
            raise NotACall  # two objects of arguments, of which the first is empty
    elif writer.has_strayed:
        while not source.final and _SPACE_SO_FAR.match(source.text, source.pos):
            yield
        if _GOES_ON.match(source.text, source.pos):
            raise NotACall
    return not name


def read_arguments(source: Source, writer: CallWriter, *, enclosed: bool = False) -> Reading[None]:
    """Read the arguments object at `pos` for the call that was started; text passes on as it arrives.

    With `enclosed` it stands in a call's object, which sees to what comes after its brace.
    """
    doubled = False
    decoded = complete_object(source)
    if decoded is not None:
        source.pos = decoded[1]
        writer.whole(decoded[0])
        if (yield from _is_over(source, writer, enclosed=enclosed)):
            return
    else:
        doubled = yield from open_brace(source, writer)
    while True:
        first = yield from next_member(source)
        if first == "}":
            yield from close_brace(source, doubled=doubled)
            if (yield from _is_over(source, writer, enclosed=enclosed)):
                return
            continue
        writer.key((yield from read_key(source)))
        yield from _read_argument(source, writer)
        first = yield from json_space(source)
        if first and first not in ",，}#" and first not in CLOSERS:
            raise NotACall


def read_arguments_as_text(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the arguments object that the JSON string at `pos` holds."""
    written = yield from inside_of_string(source)
    arguments = object_in(unescape(written))
    writer.repair("arguments-as-text", written)
    writer.whole(arguments)


def inside_of_string(source: Source) -> Reading[str]:
    """Consume the JSON string at `pos` and return what is written between its quotes."""
    parts: list[str] = []
    quote = source.text[source.pos]
    source.pos += 1
    while True:
        found = _INSIDE[quote].match(source.text, source.pos)
        end = found.end() if found else source.pos
        parts.append(source.text[source.pos : end])
        source.pos = end
        if source.text.startswith(quote, end):
            source.pos += 1
            return "".join(parts)
        if source.final:
            raise Incomplete
        yield


def object_in(text: str) -> dict[str, Any]:
    """Return the object that a text is.

    Raises:
        NotACall: It is none.
    """
    value = value_of(text)
    if not isinstance(value, dict):
        raise NotACall
    return value


def value_of(text: str) -> Any:
    """Return what a written value means.

    Raises:
        NotACall: It is none.
    """
    try:
        return parse_literal(text)
    except ValueError as error:
        raise NotACall from error


def _read_argument(source: Source, writer: CallWriter) -> Reading[None]:
    first = yield from json_space(source)
    if first and first in CLOSERS and writer.takes_text:
        writer.open_text()
        if (
            first in "\"'"
            and source.text[source.pos + 1 : source.pos + 2] in ("", first)
            and (yield from literal_at(source, (first * 3,)))
        ):
            stray = yield from _triple_quoted(source, writer, first * 3)
        else:
            stray = yield from quoted(source, writer.text, "{", keys=writer.declared)
        writer.close_text()
        if stray:
            writer.stray_quotes(stray)
    else:
        writer.value((yield from read_field(source)))


def _triple_quoted(source: Source, writer: CallWriter, quotes: str) -> Reading[int]:
    parts: list[str] = []
    source.pos += len(quotes)
    yield from delimited(source, parts.append, quotes)
    writer.text(unescape("".join(parts)))
    return 0
