"""Gemma's own literals: `call:N{key:<|"|>text<|"|>,n:1}`."""

from __future__ import annotations

from naru.dialects.bodies.json_calls import next_member, read_json
from naru.dialects.bodies.values import capture, delimited
from naru.dialects.call_writer import CallWriter
from naru.dialects.dialect import Dialect
from naru.dialects.literal import encodable, parse_literal
from naru.dialects.patterns import lazy_pattern
from naru.dialects.source import NotACall, Reading, Source, literal_at, match_here, skip_space, until

_HEAD = lazy_pattern(r"call:\s*([^\s{}<>]+?)\s*\{")
_KEY = lazy_pattern(r"[^:{}\[\],\"<>\n]+:")


def read_gemma(source: Source, writer: CallWriter, row: Dialect, opener: str) -> Reading[None]:
    """Read the call after `opener`; the row's delimiter stands on both sides of a text."""
    delimiter = row.delimiter
    source.pos += len(opener)
    first = yield from skip_space(source)
    if first and first in "{[":
        yield from read_json(source, writer, marked=True, closers=row.closers)
        return
    head = yield from until(source, _HEAD, 200)
    if head.start() != source.pos:
        raise NotACall
    source.pos = head.end()
    writer.start(head[1])
    while (yield from next_member(source)) != "}":
        writer.key((yield from _read_key(source, delimiter)))
        yield from _read_value(source, writer, delimiter)
    source.pos += 1
    writer.end(source.offset)


def _read_key(source: Source, delimiter: str) -> Reading[str]:
    found = match_here(source, _KEY, 400)
    if found is None and (yield from literal_at(source, (delimiter,))):
        parts: list[str] = []
        source.pos += len(delimiter)
        yield from delimited(source, parts.append, delimiter)
        if (yield from skip_space(source)) != ":":
            raise NotACall
        source.pos += 1
        return "".join(parts)
    if found is None:
        found = yield from until(source, _KEY, 400)
    if found.start() != source.pos:
        raise NotACall
    source.pos = found.end()
    return found[0][:-1].strip().strip("\"'")


def _read_value(source: Source, writer: CallWriter, delimiter: str) -> Reading[None]:
    yield from skip_space(source)
    if (yield from literal_at(source, (delimiter,))) and writer.takes_text:
        source.pos += len(delimiter)
        end = source.text.find(delimiter, source.pos)
        if end >= 0:
            writer.value(encodable(source.text[source.pos : end]))
            source.pos = end + len(delimiter)
            return
        writer.open_text()
        yield from delimited(source, writer.text, delimiter)
        writer.close_text()
    else:
        written = yield from capture(source, delimiter)
        try:
            writer.value(parse_literal(written, delimiter))
        except ValueError as error:
            raise NotACall from error
