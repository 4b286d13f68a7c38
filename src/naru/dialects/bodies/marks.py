"""Calls cut into parts by special tokens: a row says what each token means (DeepSeek, Kimi K2, Mistral, Solar...)."""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.bodies.json_calls import read_arguments, read_json
from naru.dialects.bodies.tagged import read_fenced_arguments, skip_fence_line
from naru.dialects.bodies.xml_parameters import read_xml
from naru.dialects.call_writer import CallWriter
from naru.dialects.catalog.marked import MARKED
from naru.dialects.dialect import Dialect
from naru.dialects.patterns import lazy_pattern
from naru.dialects.source import Incomplete, NotACall, Reading, Source, literal_at, skip_space, space_end, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from naru.dialects.dialect import Role

_WORD = lazy_pattern(r"[\s:]*[\w.\-:/]*\s*\Z")
_UNFINISHED_TOKEN = lazy_pattern(r"[<\[✿][^\s]*\Z")
_KIMI_NAME = lazy_pattern(r"(?:functions\.)?(.+?)(?::\d+)?")
_NAME_LINE = lazy_pattern(r"\s*([\w.\-:/]+)\s*(?=[`{\n])")
_LONGEST_NAME = 300


@lru_cache(maxsize=32)
def _tokens(name: str) -> tuple[re.Pattern[str], dict[str, Role]]:
    roles = next(dict(row.marks) for row in MARKED if row.name == name)
    ordered = sorted(roles, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, [*ordered, "{"]))), roles


def read_marks(source: Source, writer: CallWriter, row: Dialect, opener: str) -> Reading[None]:
    """Read calls from `opener` to the section's end, or to after the last call where there is no section."""
    source.pos += len(opener)
    pattern, roles = _tokens(row.name)
    role: Role | None = roles[opener]
    section = role == "section"
    before = len(writer.calls)
    skipped = False
    while True:
        if role == "end":
            if skipped and len(writer.calls) == before:
                raise NotACall  # talk about the markers
            return
        if role in ("open", "arguments"):
            yield from _read_call(source, writer, row, role)
            role = yield from _next_role(source, roles)
            if not role and not section:
                return
        if role not in ("open", "end"):
            try:
                role, some = yield from _skip_to_call(source, pattern, roles)
                skipped = skipped or some
            except Incomplete:
                if len(writer.calls) > before and not source.text[source.pos :].strip():
                    return
                raise


def _next_role(source: Source, roles: dict[str, Role]) -> Reading[Role | None]:
    """Consume the token after a call, if there is one that can follow, and return its role."""
    offset = yield from space_end(source)
    found = yield from literal_at(source, tuple(roles), offset)
    role = roles.get(found)
    if role in ("open", "end"):
        source.pos += offset + len(found)
    return role if role in ("open", "end", "close") else None


def _skip_to_call(source: Source, pattern: re.Pattern[str], roles: dict[str, Role]) -> Reading[tuple[Role, bool]]:
    """Drop what stands inside a section but outside a call; tell what comes, and whether any text was dropped."""
    some = False
    while True:
        found = yield from until(source, pattern, _LONGEST_NAME)
        role = roles.get(found[0])
        some = some or bool(source.text[source.pos : found.start()].strip())
        if role in ("open", "end"):
            source.pos = found.end()
            return role, some
        if role not in ("noise", "close"):
            raise NotACall
        source.pos = found.end()


def _read_call(source: Source, writer: CallWriter, row: Dialect, role: Role) -> Reading[None]:
    """Read one call from after its opening token to after its closing token."""
    pattern, roles = _tokens(row.name)
    first = yield from skip_space(source)
    if role == "open" and first == "`":
        yield from _read_fenced(source, writer)
        return
    if role == "open" and first and first in "[{" and not (yield from literal_at(source, tuple(roles))):
        yield from read_json(source, writer, marked=True)
        return
    name = identifier = ""
    while role != "arguments":
        word = yield from _word(source, pattern)
        found = yield from literal_at(source, tuple(roles))
        following = roles.get(found, "arguments")
        source.pos += len(found)
        if role == "id" or following == "name":
            identifier = word or identifier
        else:
            name = word or name
        role = following
        if role in ("close", "end", "section"):
            raise NotACall
    yield from _read_arguments(source, writer, row, name, identifier)


def _read_fenced(source: Source, writer: CallWriter) -> Reading[None]:
    """Read JSON calls in a code fence."""
    yield from skip_fence_line(source)
    first = yield from skip_space(source)
    if not first or first not in "[{":
        raise NotACall
    yield from read_json(source, writer, marked=True)
    offset = yield from space_end(source)
    if (yield from literal_at(source, ("```",), offset)):
        source.pos += offset + 3
        writer.extend(source.offset)


def _word(source: Source, pattern: re.Pattern[str]) -> Reading[str]:
    """Consume a name or an id up to the next token; anything that cannot be one ends the attempt at once."""
    while True:
        found = pattern.search(source.text, source.pos)
        word = source.text[source.pos : found.start() if found else len(source.text)]
        cut = word if found else _UNFINISHED_TOKEN.sub("", word)
        if len(word) > _LONGEST_NAME or not _WORD.match(cut):
            raise NotACall
        if found:
            source.pos = found.start()
            return word.strip(" \t\r\n:")
        if source.final:
            raise Incomplete
        yield


def _read_arguments(source: Source, writer: CallWriter, row: Dialect, name: str, identifier: str) -> Reading[None]:
    roles = dict(row.marks)
    noise = tuple(token for token, role in row.marks if role == "noise")
    yield from skip_space(source)
    found = yield from literal_at(source, noise)
    source.pos += len(found)
    if name == "function" and writer.offered.find(name) is None:
        name = yield from _name_after_kind(source)
    elif row.name == "inkling":
        yield from skip_space(source)
        yield from read_json(source, writer, marked=True)
        yield from _close(source, writer, roles)
        return
    if row.id_is_name:
        identifier = name
        name = _KIMI_NAME.fullmatch(name)[1] if name else name  # type: ignore[index] # it matches any name
    first = yield from skip_space(source)
    if first == "<":
        yield from read_xml(source, writer)
        yield from _close(source, writer, roles)
        return
    writer.start(name, identifier)
    if first == "{":
        yield from read_arguments(source, writer)
    elif first == "`":
        yield from read_fenced_arguments(source, writer)
    else:
        raise NotACall if first else Incomplete
    offset = yield from space_end(source)
    noisy = yield from literal_at(source, noise, offset)
    if noisy:
        source.pos += offset + len(noisy)
    if not (yield from _close(source, writer, roles)) and "close" in roles.values():
        offset = yield from space_end(source)
        if source.pos + offset < len(source.text):
            raise NotACall
    writer.end(source.offset)


def _name_after_kind(source: Source) -> Reading[str]:
    """Read the name that DeepSeek V3 writes after the word `function`, which may also stand before XML (Step 3)."""
    if (yield from skip_space(source)) == "<":
        return ""
    found = yield from until(source, _NAME_LINE, _LONGEST_NAME)
    if found.start() != source.pos:
        raise NotACall
    source.pos = found.end()
    return found[1]


def _close(source: Source, writer: CallWriter, roles: dict[str, Role]) -> Reading[bool]:
    """Consume the call's closing token if it is there."""
    offset = yield from space_end(source)
    found = yield from literal_at(source, tuple(token for token, role in roles.items() if role == "close"), offset)
    if found:
        source.pos += offset + len(found)
        writer.extend(source.offset)
    return bool(found)
