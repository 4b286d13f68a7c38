"""Calls as JSON: an object, a list, several in a row; arguments pass on while they arrive.

What is complete and strict when it is first looked at is decoded at once; the slow way reads the same, and mends
spelling: stray and odd quotes, commas, literals, control characters, a missing or doubled outer brace.
"""

from __future__ import annotations

from naru.dialects.bodies.arguments import (
    close_brace,
    complete_object,
    inside_of_string,
    json_space,
    lost_member,
    next_member,
    open_brace,
    read_arguments,
    read_field,
    read_key,
    value_of,
)
from naru.dialects.bodies.call_object import NotOffered, beside_arguments, call_id, name_in, name_remarks, write_calls
from naru.dialects.bodies.pythonic import read_pythonic, write_pythonic_text
from naru.dialects.bodies.values import collect_quoted
from naru.dialects.calls.keys import is_around_calls, role_of, tells_thoughts
from naru.dialects.calls.offered import Offered
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.literal import CLOSERS, unescape
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
    NotACall,
    Reading,
    Source,
    literal_at,
    match_at,
    rest_of_line,
    skip_space,
)

_SHORT_SCALAR = lazy_pattern(r"(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*)(?=\s*[,}])")
"""No number: what is numbered is a list of steps."""
_MEMBER_AFTER = lazy_pattern(r"\s*[,，]\s*(?:\"|\Z)")
"""What the slow way looks at: the object may have been closed too early."""
_LONGEST_REMARK, _MOST_REMARKS = 200, 3

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
        yield from _read_list(source, writer, marked=marked)
    else:
        yield from _read_object(source, writer, marked=marked, closers=closers)


def read_complete_object(source: Source, writer: CallWriter, *, marked: bool) -> bool:
    """Read the call object at `pos` if all of it has come and is strict JSON; False when not.

    Raises:
        NotOffered: It is no call of an offered tool.
    """
    decoded = complete_object(source, values_at=2)
    if decoded is None or _MEMBER_AFTER.match(source.text, decoded[1]):
        return False
    if not marked and not _may_open_a_call(next(iter(decoded[0]), ""), writer.offered):
        return False
    source.pos = decoded[1]
    write_calls(decoded[0], writer, source.offset, marked=marked)
    name_remarks(decoded[0], writer)
    return True


def _read_list(source: Source, writer: CallWriter, *, marked: bool, depth: int = 0) -> Reading[None]:
    before = len(writer.calls)
    source.pos += 1
    others: list[tuple[int, int]] = []
    while True:
        first = yield from next_member(source)
        if first == "]":
            source.pos += 1
            break
        if first == ";":
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
        if first == ")":
            source.pos += 1
            writer.repair("extra-brace", first)
        elif first and first not in ",，;]{/#" and not first.isidentifier():
            raise NotACall
    if len(writer.calls) == before:
        raise NotOffered
    if others:
        first_start = others[0][0]
        text = source.kept(first_start, source.offset)
        for start, end in others:
            writer.leave_out(text[start - first_start : end - first_start], "not-offered")


def _read_item(source: Source, writer: CallWriter, first: str, *, marked: bool, depth: int) -> Reading[None]:
    if first == "{":
        yield from _read_object(source, writer, marked=marked, closers=("]",))
    elif first == "[" and depth < 3:
        yield from _read_list(source, writer, marked=marked, depth=depth + 1)
    elif first in CLOSERS:
        text = yield from collect_quoted(source, "[")
        write_pythonic_text(text, writer, source.offset)
    else:
        yield from read_pythonic(source, writer)


def _read_object(source: Source, writer: CallWriter, *, marked: bool, closers: tuple[str, ...]) -> Reading[None]:
    """Read one call object key by key; its arguments pass on once the name before them is known."""
    if read_complete_object(source, writer, marked=marked):
        return
    doubled = yield from open_brace(source, writer)
    fields: dict[str, Any] = {}
    done = False
    before = len(writer.calls)
    while True:
        first = yield from next_member(source)
        if first == "}":
            yield from close_brace(source, doubled=doubled)
            if done and (yield from lost_member(source, writer)):
                continue
            break
        if done and (yield from literal_at(source, closers)):
            writer.repair("missing-brace", "", "}")
            break
        key = yield from read_key(source)
        first = yield from json_space(source)
        if not marked:
            yield from _check_unmarked_key(source, key, fields, writer.offered)
        if first == "{" and not done and (name := _name_before(key, fields, writer.offered)):
            writer.start(name, call_id(fields))
            yield from read_arguments(source, writer, enclosed=True)
            done = True
            continue
        value = yield from read_field(source)
        fields.setdefault(key, value)
        if not done and not marked and name_in(fields, writer.offered) == ("", key):
            raise NotACall
    if done:
        assert writer.tool is not None
        writer.add(beside_arguments(fields, writer.tool))
        writer.end(source.offset)
    else:
        write_calls(fields, writer, source.offset, marked=marked)
    name_remarks(fields, writer, with_arguments=done)
    if not marked and not _may_open_a_call(next(iter(fields), "name"), writer.offered):
        _check_declared(writer, before)


def _check_unmarked_key(source: Source, key: str, fields: dict[str, Any], offered: Offered) -> Reading[None]:
    """See to it that an unmarked object tells of no outcome, and has at most few short remarks before its call."""
    if role_of(key) == "outcome":
        raise NotACall
    if _may_open_a_call(key, offered) or any(_may_open_a_call(name, offered) for name in fields):
        return
    first = source.text[source.pos : source.pos + 1]
    if len(fields) >= _MOST_REMARKS or not (first in "\"'_" or first.isalpha()):
        raise NotACall
    yield from match_at(source, _SHORT_SCALAR, _LONGEST_REMARK)


def _check_declared(writer: CallWriter, before: int) -> None:
    """See to it that the new calls have declared arguments only, unlike the schema of a tool with its title first."""
    if not all(writer.is_declared(call) for call in writer.calls[before:]):
        raise NotACall


def _may_open_a_call(key: str, offered: Offered) -> bool:
    """Tell whether an unmarked object that begins with this key may be a call, so that other JSON is not held back."""
    return bool(role_of(key)) or is_around_calls(key) or tells_thoughts(key) or offered.find(key) is not None


def _name_before(key: str, fields: dict[str, Any], offered: Offered) -> str:
    """Return the tool that is called if its arguments stand under `key`, so that they can pass on as they come."""
    if role_of(key) != "arguments" or any(role_of(name) == "arguments" for name in fields):
        return ""
    return "" if key == "parameters" and "description" in fields else name_in(fields, offered)[0]


def read_calls_as_text(source: Source, writer: CallWriter, *, marked: bool) -> Reading[None]:
    """Read the calls that the JSON string at `pos` holds."""
    written = yield from inside_of_string(source)
    writer.repair("call-as-text", written)
    write_calls(value_of(unescape(written)), writer, source.offset, marked=marked)


def read_escaped_calls(source: Source, writer: CallWriter) -> Reading[None]:
    """Read a line of JSON whose quotes are escaped though no string holds it."""
    written = yield from rest_of_line(source)
    writer.repair("call-as-text", written)
    write_calls(value_of(unescape(written)), writer, source.offset, marked=False)
