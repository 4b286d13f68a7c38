"""Calls as JSON: an object, a list, several in a row; arguments pass on while they arrive.

What is complete and strict when it is first looked at is decoded at once; the slow way reads the same, and mends
spelling: stray and odd quotes, commas, literals, control characters, a missing or doubled outer brace.
"""

from __future__ import annotations

import re

from naru.dialects.bodies.call_object import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    OUTCOME_KEYS,
    NotOffered,
    call_id,
    first_key_may_open_a_call,
    write_calls,
)
from naru.dialects.bodies.pythonic import read_pythonic, write_pythonic_text
from naru.dialects.bodies.values import capture, collect_quoted, delimited, quoted
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.literal import (
    BARE_KEY,
    CLOSERS,
    COLONS,
    COMMAS,
    decode_json,
    ends_there,
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
    need,
    rest_of_line,
    skip_space,
    until,
)

_SEPARATORS = (*COMMAS, "/", "#", "\\")
_WRITTEN_BREAKS = ("\\n", "\\r", "\\t")
_INSIDE = lazy_pattern(r"(?:[^\"\\]|\\.)*", re.DOTALL)
_COMMENT = lazy_pattern(r"(?://|#)[^\n]*\n|/\*.*?\*/", re.DOTALL)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_json(source: Source, writer: CallWriter, *, marked: bool, closers: tuple[str, ...] = ()) -> Reading[None]:
    """Read the object or list of calls at `pos`.

    Args:
        source: Stands before `{` or `[`.
        writer: Takes the calls.
        marked: Whether a marker said that a call follows.
        closers: What ends the region; standing before the outer brace they stand for it.
    """
    if source.text[source.pos] == "[":
        yield from _read_list(source, writer, marked=marked, closers=closers)
    else:
        yield from _read_object(source, writer, marked=marked, closers=closers)


def read_complete_object(source: Source, writer: CallWriter, *, marked: bool) -> bool:
    """Read the call object at `pos` if all of it has come and is strict JSON; False when not.

    Raises:
        NotOffered: It is no call of an offered tool.
    """
    decoded = _complete_object(source)
    if decoded is None:
        return False
    if not marked and decoded[0]:
        _check_unmarked_key(next(iter(decoded[0])), writer, is_first=True)
    source.pos = decoded[1]
    write_calls(decoded[0], writer, source.offset, marked=marked)
    return True


def _complete_object(source: Source) -> tuple[dict[str, Any], int] | None:
    """Return the strict object at `pos` and where it ends, if it is certain that it ends there."""
    decoded = decode_json(source.text, source.pos)
    if decoded is None or type(decoded[0]) is not dict:
        return None
    certain = ends_there(source.text, decoded[1] - 1)
    return decoded if certain or (certain is None and source.final) else None


def _read_list(
    source: Source, writer: CallWriter, *, marked: bool, closers: tuple[str, ...], depth: int = 0
) -> Reading[None]:
    before = len(writer.calls)
    source.pos += 1
    others: list[tuple[int, int]] = []
    while True:
        first = yield from skip_space(source)
        if first == "]":
            source.pos += 1
            break
        if first in (",", ";"):
            source.pos += 1
            continue
        start = source.offset
        try:
            yield from _read_item(source, writer, first, marked=marked, depth=depth)
        except NotOffered:
            if not marked:
                raise NotACall from None  # Unmarked lists are calls as a whole or not at all.
            others.append((start, source.offset))
            continue
        first = yield from skip_space(source)
        if first and first not in ",;]{" and not first.isidentifier():
            raise NotACall
    if len(writer.calls) == before:
        raise NotOffered
    if others:
        first_start = others[0][0]
        text = source.kept(first_start, source.offset)
        for start, end in others:
            writer.leave_out(text[start - first_start : end - first_start], "not-offered")


def _read_item(source: Source, writer: CallWriter, first: str, *, marked: bool, depth: int) -> Reading[None]:
    if not first:
        raise Incomplete
    if first == "{":
        yield from _read_object(source, writer, marked=marked, closers=("]",))
    elif first == "[" and depth < 3:
        yield from _read_list(source, writer, marked=marked, closers=("]",), depth=depth + 1)
    elif first in CLOSERS:
        text = yield from collect_quoted(source, "[")
        write_pythonic_text(text, writer, source.offset)
    else:
        yield from read_pythonic(source, writer)


def _read_object(source: Source, writer: CallWriter, *, marked: bool, closers: tuple[str, ...]) -> Reading[None]:
    """Read one call object key by key; its arguments pass on once the name before them is known."""
    if read_complete_object(source, writer, marked=marked):
        return
    doubled = yield from _open_brace(source, writer)
    fields: dict[str, Any] = {}
    done = False
    while True:
        first = yield from next_member(source)
        if first == "}":
            yield from _close_brace(source, doubled=doubled)
            break
        if done and (yield from literal_at(source, closers)):
            writer.repair("missing-brace", "", "}")
            break
        key = yield from read_key(source)
        if not marked:
            _check_unmarked_key(key, writer, is_first=not fields and not done)
        first = yield from _space(source)
        if first == "{" and not done and _may_stream(key, fields, writer):
            writer.start(_name(fields), call_id(fields))
            yield from read_arguments(source, writer)
            done = True
            continue
        value = yield from read_field(source)
        if not done:
            fields.setdefault(key, value)
            if not marked and key in NAME_KEYS and isinstance(value, str) and not writer.offered.find(value):
                raise NotACall
    if done:
        writer.end(source.offset)
    else:
        write_calls(fields, writer, source.offset, marked=marked)


def _open_brace(source: Source, writer: CallWriter) -> Reading[bool]:
    """Consume the brace at `pos`, and a second one right after it, as in a template; tell whether there was one."""
    source.pos += 1
    if not (yield from need(source, 1)) or source.text[source.pos] != "{":
        return False
    source.pos += 1
    writer.repair("extra-brace", "{")
    return True


def _close_brace(source: Source, *, doubled: bool) -> Reading[None]:
    """Consume the brace at `pos`, and the second one of a doubled pair."""
    source.pos += 1
    if doubled and (yield from need(source, 1)) and source.text[source.pos] == "}":
        source.pos += 1


def _check_unmarked_key(key: str, writer: CallWriter, *, is_first: bool) -> None:
    if key in OUTCOME_KEYS or (is_first and not first_key_may_open_a_call(key, writer.offered)):
        raise NotACall


def next_member(source: Source) -> Reading[str]:
    """Consume space, commas and comments, and return the character that a member of an object begins with, or `}`."""
    while True:
        first = yield from skip_space(source)
        if not first:
            raise Incomplete
        if first not in _SEPARATORS:
            return first
        yield from _skip_separator(source)


def _triple_quoted(source: Source, writer: CallWriter, quotes: str) -> Reading[int]:
    parts: list[str] = []
    source.pos += len(quotes)
    yield from delimited(source, parts.append, quotes)
    writer.text(unescape("".join(parts)))
    return 0


def _skip_separator(source: Source) -> Reading[None]:
    """Consume the comma or the comment at `pos`."""
    if source.text[source.pos] in COMMAS:
        source.pos += 1
        return
    if source.text[source.pos] == "\\":
        yield from _skip_written_break(source)
        return
    comment = yield from until(source, _COMMENT, 400)
    if comment.start() != source.pos:
        raise NotACall
    source.pos = comment.end()


def _skip_written_break(source: Source) -> Reading[None]:
    """Consume a line break or a tab that was written as an escape between two tokens."""
    if not (yield from literal_at(source, _WRITTEN_BREAKS)):
        raise NotACall
    source.pos += 2


def _space(source: Source) -> Reading[str]:
    """Consume white space, escaped line breaks too, and return the character after it."""
    first = yield from skip_space(source)
    while first == "\\":
        yield from _skip_written_break(source)
        first = yield from skip_space(source)
    return first


def _name(fields: dict[str, Any]) -> Any:
    return next(value for key, value in fields.items() if key in NAME_KEYS and isinstance(value, str))


def _may_stream(key: str, fields: dict[str, Any], writer: CallWriter) -> bool:
    if key not in ARGUMENT_KEYS or any(name in ARGUMENT_KEYS for name in fields):
        return False
    if key == "parameters" and "description" in fields:
        return False
    names = [value for name, value in fields.items() if name in NAME_KEYS and isinstance(value, str)]
    return bool(names) and writer.offered.find(names[0]) is not None


def read_key(source: Source) -> Reading[str]:
    """Read an object's key and the colon after it."""
    if source.text[source.pos] in CLOSERS:
        key = yield from collect_quoted(source, "{", key=True)
    else:
        found = yield from until(source, BARE_KEY, 200)
        if found.start() != source.pos:
            raise NotACall
        key = found[0].strip()
        source.pos = found.end()
    following = yield from _space(source)
    if following not in COLONS:
        raise NotACall if following else Incomplete
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


def read_arguments(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the arguments object at `pos` for the call that was started; text passes on as it arrives."""
    decoded = _complete_object(source)
    if decoded is not None:
        source.pos = decoded[1]
        writer.whole(decoded[0])
        return
    doubled = yield from _open_brace(source, writer)
    while True:
        first = yield from next_member(source)
        if first == "}":
            yield from _close_brace(source, doubled=doubled)
            return
        writer.key((yield from read_key(source)))
        yield from _read_argument(source, writer)
        first = yield from _space(source)
        if first and first not in ",，}" and first not in CLOSERS:
            raise NotACall


def read_arguments_as_text(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the arguments object that the JSON string at `pos` holds."""
    written = yield from _inside_of_string(source)
    arguments = object_in(unescape(written))
    writer.repair("arguments-as-text", written)
    writer.whole(arguments)


def read_calls_as_text(source: Source, writer: CallWriter, *, marked: bool) -> Reading[None]:
    """Read the calls that the JSON string at `pos` holds."""
    written = yield from _inside_of_string(source)
    writer.repair("call-as-text", written)
    write_calls(_value_of(unescape(written)), writer, source.offset, marked=marked)


def read_escaped_calls(source: Source, writer: CallWriter) -> Reading[None]:
    """Read a line of JSON whose quotes are escaped though no string holds it."""
    written = yield from rest_of_line(source)
    writer.repair("call-as-text", written)
    write_calls(_value_of(unescape(written)), writer, source.offset, marked=False)


def _inside_of_string(source: Source) -> Reading[str]:
    """Consume the JSON string at `pos` and return what is written between its quotes."""
    parts: list[str] = []
    source.pos += 1
    while True:
        found = _INSIDE.match(source.text, source.pos)
        end = found.end() if found else source.pos
        parts.append(source.text[source.pos : end])
        source.pos = end
        if source.text.startswith('"', end):
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
    value = _value_of(text)
    if not isinstance(value, dict):
        raise NotACall
    return value


def _value_of(text: str) -> Any:
    try:
        return parse_literal(text)
    except ValueError as error:
        raise NotACall from error


def _read_argument(source: Source, writer: CallWriter) -> Reading[None]:
    first = yield from _space(source)
    if first and first in CLOSERS and writer.takes_text:
        writer.open_text()
        if (
            first in "\"'"
            and source.text[source.pos + 1 : source.pos + 2] in ("", first)
            and (yield from literal_at(source, (first * 3,)))
        ):
            stray = yield from _triple_quoted(source, writer, first * 3)
        else:
            stray = yield from quoted(source, writer.text, "{")
        writer.close_text()
        if stray:
            writer.repair("stray-quotes", str(stray))
    else:
        writer.value((yield from read_field(source)))
