"""Calls cut into parts by special tokens: a row says what each token means (DeepSeek, Kimi K2, Mistral, Solar...)."""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.bodies.arguments import read_any_arguments, skip_fence_line
from naru.dialects.bodies.json_calls import read_json
from naru.dialects.bodies.pythonic import read_pythonic
from naru.dialects.bodies.tagged import read_tag
from naru.dialects.calls.offered import required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.catalog.marked import MARKED, STOPS
from naru.dialects.dialect import Dialect
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Incomplete, NotACall, Reading, Source, literal_at, skip_space, space_end, until
from naru.dialects.texts.tokens import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from naru.dialects.dialect import Role
    from naru.dialects.tool import Tool

_WORD = lazy_pattern(r"[\s:]*[\w.\-:/!]*\s*\Z")
_UNFINISHED_TOKEN = lazy_pattern(r"[<\[✿][^\s]*\Z")
_KIMI_NAMES = (
    lazy_pattern(r"(?:functions\.)?(.+?)(?:[:!]\d+)?"),
    lazy_pattern(r"(?:functions?)?[.:]?(.+?)[:!.]?\d*"),
)
"""As it should be written, and without the marks between its parts."""
_NAME_LINE = lazy_pattern(r"\s*([\w.\-:/]+)\s*(?=[`{\n])")
_LONGEST_NAME = 300
_PYTHON = lazy_pattern(r"[A-Za-z_][\w.\-]{0,100}\(")
_NAME_SO_FAR = lazy_pattern(r"[A-Za-z_][\w.\-]{0,100}\Z")


class _Marks:
    """A row's tokens by what they say."""

    __slots__ = ("close", "every", "noise", "pattern", "roles")

    def __init__(self, row: Dialect) -> None:
        self.roles: dict[str, Role] = dict(row.marks)
        self.every = Tokens(self.roles)
        self.close = Tokens(token for token, role in row.marks if role == "close")
        self.noise = Tokens(token for token, role in row.marks if role == "noise")
        ordered = sorted(self.roles, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, [*ordered, "{"])))


@lru_cache(maxsize=32)
def _marks(name: str) -> _Marks:
    return _Marks(next(row for row in MARKED if row.name == name))


def read_marks(source: Source, writer: CallWriter, row: Dialect, opener: str) -> Reading[None]:
    """Read calls from `opener` to the section's end, or to after the last call where there is no section."""
    source.pos += len(opener)
    marks = _marks(row.name)
    role: Role | None = marks.roles[opener]
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
            role = yield from _next_role(source, marks)
            if not role and not section:
                return
        if role not in ("open", "end"):
            try:
                role, left_out = yield from _skip_to_call(source, marks)
                if left_out.strip():
                    skipped = True
                    writer.leave_out(left_out)
            except Incomplete:
                if len(writer.calls) > before and not source.text[source.pos :].strip():
                    return
                raise


def _next_role(source: Source, marks: _Marks) -> Reading[Role | None]:
    """Consume the token after a call, if there is one that can follow, and return its role."""
    offset = yield from space_end(source)
    found = yield from literal_at(source, marks.every, offset)
    role = marks.roles.get(found)
    if role in ("open", "end"):
        source.pos += offset + len(found)
    return role if role in ("open", "end", "close") else None


def _skip_to_call(source: Source, marks: _Marks) -> Reading[tuple[Role, str]]:
    """Consume what stands inside a section but outside a call; return what comes, and the text on the way."""
    text = ""
    while True:
        found = yield from until(source, marks.pattern, _LONGEST_NAME)
        role = marks.roles.get(found[0])
        word = source.text[source.pos : found.start()]
        if role == "arguments" and not text.strip() and word.strip():  # the mark that begins a call was left out
            return "open", ""
        text += word
        if role not in ("open", "end", "noise", "close"):
            raise NotACall
        source.pos = found.end()
        if role in ("open", "end"):
            return role, text


def _read_call(source: Source, writer: CallWriter, row: Dialect, role: Role) -> Reading[None]:
    """Read one call from after its opening token to after its closing token."""
    marks = _marks(row.name)
    first = yield from skip_space(source)
    if role == "open" and first == "`":
        yield from _read_fenced(source, writer)
        return
    if role == "open" and first and first in "[{" and not (yield from literal_at(source, marks.every)):
        yield from read_json(source, writer, marked=True)
        return
    if role == "open" and (yield from _is_python(source)):
        yield from read_pythonic(source, writer)
        return
    name = identifier = ""
    while role != "arguments":
        word = yield from _word(source, marks.pattern)
        found = yield from literal_at(source, marks.every)
        following = marks.roles.get(found, "arguments")
        source.pos += len(found)
        if role == "id" or following == "name":
            identifier = word or identifier
        else:
            name = word or name
        role = following
        if role in ("close", "end", "section"):
            raise NotACall
    yield from _read_arguments(source, writer, row, name, identifier)


def _is_python(source: Source) -> Reading[bool]:
    """Tell whether a name and a round bracket come."""
    while not source.final and _NAME_SO_FAR.match(source.text, source.pos):
        yield
    return _PYTHON.match(source.text, source.pos) is not None


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
    marks = _marks(row.name)
    yield from _skip_noise(source, marks)
    if name == "function" and writer.offered.find(name) is None:
        name = yield from _name_after_kind(source)
    elif row.name == "inkling":
        first = yield from skip_space(source)
        if first not in ("{", "["):
            raise NotACall if first else Incomplete
        yield from read_json(source, writer, marked=True)
        yield from _close(source, writer, marks)
        return
    if row.id_is_name:
        identifier = name
        name = _name_in(name, writer)
    first = yield from skip_space(source)
    if first == "<":
        yield from read_tag(source, writer)
        yield from _close(source, writer, marks)
        return
    tool = writer.start(name, identifier)
    if not (yield from read_any_arguments(source, writer, first)):
        yield from _read_nothing(source, marks, first, tool)
    yield from _skip_noise(source, marks)
    if not (yield from _close(source, writer, marks)) and marks.close.longest:
        offset = yield from space_end(source)
        if source.pos + offset < len(source.text) and not (yield from literal_at(source, STOPS, offset)):
            raise NotACall
    writer.end(source.offset)


def _name_in(identifier: str, writer: CallWriter) -> str:
    """Return the tool's name that a Kimi id holds; what it means is looked up in the strict reading first."""
    names = [found[1] for pattern in _KIMI_NAMES if (found := pattern.fullmatch(identifier))]
    return next((name for name in names if writer.offered.find(name) is not None), identifier)


def _read_nothing(source: Source, marks: _Marks, first: str, tool: Tool) -> Reading[None]:
    """See to it that a call without arguments ends here, and that its tool needs none."""
    if not first and source.cut:
        raise Incomplete
    if required_of(tool) or (first and not (yield from literal_at(source, marks.every))):
        raise NotACall


def _name_after_kind(source: Source) -> Reading[str]:
    """Read the name that DeepSeek V3 writes after the word `function`, which may also stand before XML (Step 3)."""
    if (yield from skip_space(source)) == "<":
        return ""
    found = yield from until(source, _NAME_LINE, _LONGEST_NAME)
    if found.start() != source.pos:
        raise NotACall
    source.pos = found.end()
    return found[1]


def _skip_noise(source: Source, marks: _Marks) -> Reading[None]:
    if marks.noise.longest:
        offset = yield from space_end(source)
        found = yield from literal_at(source, marks.noise, offset)
        source.pos += offset + len(found) if found else 0


def _close(source: Source, writer: CallWriter, marks: _Marks) -> Reading[bool]:
    """Consume the call's closing token if it is there."""
    if not marks.close.longest:
        return False
    offset = yield from space_end(source)
    found = yield from literal_at(source, marks.close, offset)
    if found:
        source.pos += offset + len(found)
        writer.extend(source.offset)
    return bool(found)
