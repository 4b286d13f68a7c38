"""Gemma's own literals: `call:N{key:<|"|>text<|"|>,n:1}`, and what smaller ones make of them.

Ordinary quotes, JSON keys, `=` for `:`, round brackets for braces, text without any quotes, several calls in a row.
"""

from __future__ import annotations

from naru.dialects.bodies.arguments import next_member, read_any_arguments, read_key
from naru.dialects.bodies.json_calls import read_json
from naru.dialects.bodies.values import capture, delimited, quoted
from naru.dialects.calls.offered import properties_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.dialect import Dialect
from naru.dialects.texts.closing import COLONS, Nesting
from naru.dialects.texts.literal import CLOSERS, encodable, parse_literal, without_layout
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
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

_HEAD = lazy_pattern(r"(?:_?call:)?\s*([^\s{}()<>]+?)\s*([{(])")
_KEY = lazy_pattern(r"[^:：=(){}\[\],\"<>\n]+[:：=]")
_JSON_CONTAINER = lazy_pattern(r"[\[{][\s\[{]{0,200}[\"\]}]")
_CONTAINER_SO_FAR = lazy_pattern(r"[\[{][\s\[{]{0,200}\Z")
_STOP = lazy_pattern(r"[,})]")
_COMMENT_AT_END = lazy_pattern(r"(?<=\S)[ \t]+(//|#)[ \t][^\n]*\n\s*\Z")
_NEXT_KEY = lazy_pattern(
    r",(?:\s|\\[nrt]|(?://|#)[^\n]{0,80}\n){0,40}[\"']?([^,:={}\[\]()\"'<>\n]{1,64})[\"']?\s{0,8}[:=]"
)
_NEXT_KEY_SO_FAR = lazy_pattern(
    r",(?:\s|\\[nrt]|(?://|#)[^\n]{0,80}\n){0,40}(?:/|(?://|#)[^\n]{0,80}|\\)?(?:[\"']?[^,:={}\[\]()\"'<>\n]{0,64}[\"']?\s{0,8})?\Z"
)
_BRACES: dict[str, tuple[str, Nesting]] = {"{": ("}", "{"), "(": (")", "(")}


def read_gemma(source: Source, writer: CallWriter, row: Dialect, opener: str) -> Reading[None]:
    """Read the calls after `opener`; the row's delimiter stands on both sides of a text."""
    source.pos += len(opener)
    first = yield from skip_space(source)
    if first and first in "{[":
        yield from read_json(source, writer, marked=True, closers=row.closers)
        return
    while True:
        head = yield from until(source, _HEAD, 200)
        if head.start() != source.pos:
            raise NotACall
        source.pos = head.end()
        # Smaller models put more words before the name; a tool's own name may have a colon, too.
        writer.start(head[1] if head[1] in writer.offered.names else head[1].rpartition(":")[2])
        closer, nesting = _BRACES[head[2]]
        while (first := (yield from next_member(source))) != closer:
            if first == "{":
                yield from read_any_arguments(source, writer, first)
                continue
            writer.key((yield from _read_key(source, row.delimiter)))
            yield from _read_value(source, writer, row, nesting)
        source.pos += 1
        offset = yield from space_end(source)
        goes_on = source.text.startswith(",", source.pos + offset)
        if goes_on:
            offset = yield from space_end(source, offset + 1)
        another = yield from literal_at(source, ("call:",), offset)
        ends = another or source.pos + offset >= len(source.text)
        if not ends and (goes_on or writer.has_strayed) and not (yield from literal_at(source, row.closers, offset)):
            raise NotACall  # the bracket was one too many, or a text's own
        writer.end(source.offset)
        if not another:
            return
        source.pos += offset


def _read_key(source: Source, delimiter: str) -> Reading[str]:
    if source.text[source.pos] in "\"'":
        return (yield from read_key(source))
    found = match_here(source, _KEY, 400)
    if found is None and (yield from literal_at(source, (delimiter,))):
        parts: list[str] = []
        source.pos += len(delimiter)
        yield from delimited(source, parts.append, delimiter)
        if (yield from skip_space(source)) not in (":", "="):
            raise NotACall
        source.pos += 1
        return "".join(parts)
    if found is None:
        found = yield from until(source, _KEY, 400)
    if found.start() != source.pos:
        raise NotACall
    source.pos = found.end()
    return found[0][:-1].strip().strip("\"'")


def _read_value(source: Source, writer: CallWriter, row: Dialect, nesting: Nesting) -> Reading[None]:
    first = yield from skip_space(source)
    if first in COLONS:  # a doubled one
        source.pos += 1
        first = yield from skip_space(source)
    if not first:
        raise Incomplete
    delimiter = row.delimiter
    if first == delimiter[0] and (yield from literal_at(source, (delimiter,))):
        yield from _read_delimited(source, writer, delimiter)
    elif first in CLOSERS:
        writer.open_text()
        stray = yield from quoted(source, writer.text, nesting, keys=writer.declared)
        writer.close_text()
        if stray:
            writer.stray_quotes(stray)
    elif first in "[{":
        while not source.final and _CONTAINER_SO_FAR.match(source.text, source.pos):
            yield
        own = "" if _JSON_CONTAINER.match(source.text, source.pos) else delimiter
        written = yield from capture(source, own)
        try:
            writer.value(parse_literal(written, own))
        except ValueError as error:
            raise NotACall from error
    else:
        written = without_layout(_without_comment((yield from _read_bare(source, writer, row)), writer).strip())
        torn = written[-1:] == '"' and (written.count('"') % 2 == 1 or written[0] in COLONS)
        if not written or torn or delimiter in written:
            raise NotACall
        if written.count("`") == 2 and len(written) > 1 and written[0] == written[-1] == "`":
            writer.repair("stray-quotes", written)
            written = written[1:-1]
        writer.written(written)


def _without_comment(written: str, writer: CallWriter) -> str:
    """Return a text without quotes up to the comment that its last line ends with; a text may have a `#`."""
    comment = _COMMENT_AT_END.search(written)
    if comment is None or (comment[1] == "#" and writer.takes_text):
        return written
    writer.leave_out(comment[0].strip())
    return written[: comment.start()]


def _read_delimited(source: Source, writer: CallWriter, delimiter: str) -> Reading[None]:
    if not writer.takes_text:
        parts: list[str] = []
        source.pos += len(delimiter)
        yield from delimited(source, parts.append, delimiter)
        writer.value(encodable("".join(parts)))
        return
    source.pos += len(delimiter)
    end = source.text.find(delimiter, source.pos)
    if end >= 0:
        writer.value(encodable(source.text[source.pos : end]))
        source.pos = end + len(delimiter)
        return
    writer.open_text()
    yield from delimited(source, writer.text, delimiter)
    writer.close_text()


def _read_bare(source: Source, writer: CallWriter, row: Dialect) -> Reading[str]:
    """Read text without quotes, up to the next argument's key or the bracket with which the call ends."""
    parts: list[str] = []
    while True:
        found = _STOP.search(source.text, source.pos)
        end = found.start() if found else len(source.text)
        parts.append(source.text[source.pos : end])
        source.pos = end
        if found is None:
            if source.final:
                raise Incomplete
            yield
            continue
        if found[0] == "," and (yield from _is_next_key(source, writer)):
            return "".join(parts)
        if found[0] != "," and (yield from _is_call_end(source, row)):
            return "".join(parts)
        parts.append(found[0])
        source.pos += 1


def _is_next_key(source: Source, writer: CallWriter) -> Reading[bool]:
    while not source.final and _NEXT_KEY_SO_FAR.match(source.text, source.pos):
        yield
    found = _NEXT_KEY.match(source.text, source.pos, source.pos + 160)
    declared = properties_of(writer.tool) if writer.tool is not None else []
    return found is not None and (found[1].strip() in declared or not declared)


def _is_call_end(source: Source, row: Dialect) -> Reading[bool]:
    offset = yield from space_end(source, 1)
    if source.pos + offset >= len(source.text):
        return not source.cut
    return bool((yield from literal_at(source, (*row.closers, *row.openers, "call:"), offset)))
