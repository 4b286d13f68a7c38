"""The tables that a script of SQL makes, whichever database it was written for, as rows of columns.

Read word by word, not by a grammar: a dump does not say whose SQL it is, and every database writes its own words after
a column. What is no table is passed over; a table or view whose columns the script does not list is named.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from naru.builtins.data.documents.rows import Row

_QUOTED = r"""
(?P<note>--[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z))|(?P<text>[NE]?'{text}(?:'|\Z))|(?P<body>\$(\w*)\$.*?(?:\$\4\$|\Z))
|"(?P<double>(?:[^"]|"")*)(?:"|\Z)|`(?P<tick>[^`]*)(?:`|\Z)|(?P<end>;|^[ \t]*(?:GO|/)[ \t]*\r?$)
"""
_PARTS = (
    _QUOTED
    + r"""
|\[(?P<bracket>[^\]\n]{0,128})\]|(?P<word>[^\W\d][\w$]*)|(?P<number>\d[\w.]*)|(?P<mark>\S)
"""
)
_OF_TABLES = frozenset("create alter comment exec execute".split())
_PLAIN_TEXT, _ESCAPED_TEXT = r"(?:[^']|'')*", r"(?:[^'\\]|\\.|'')*"
"""MySQL alone takes a backslash for the beginning of an escape; its dumps have names in backticks."""
_OF_NO_COLUMN = frozenset("constraint primary unique foreign check exclude like".split())
_MAYBE_NO_COLUMN = frozenset("key index fulltext spatial period partition".split())
"""Some databases let a column be called so."""
_AFTER_TYPE = frozenset(
    "not null default primary unique references check constraint comment collate generated as auto_increment "
    "autoincrement identity encode sortkey distkey on character enable masked sparse rowguidcol virtual stored "
    "invisible key storage compression options with persisted".split()
)
"""Words that no type is made of; `character` alone begins one (`character varying`), and is one's only at its start."""
_BEFORE_ADDED = ("add", "column", "if", "not", "exists")
_USUAL_SCHEMAS = frozenset({"public", "dbo", "main"})


@dataclass(slots=True)
class _Part:
    kind: str
    text: str
    line: int
    place: int
    raw: str

    @property
    def word(self) -> str:
        return self.text.casefold() if self.kind == "word" else ""

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "double", "tick", "bracket")


@dataclass(slots=True)
class _Column:
    table: str
    name: str
    type: str
    line: int
    notes: list[str] = field(default_factory=list)


def script_rows(text: str) -> Iterator[Row]:
    """Give a row for each column, and one that is refused for what has columns and does not list them."""
    text = _without_rows(text)
    columns: list[_Column] = []
    told: dict[str, str] = {}
    refused: list[Row] = []
    for statement in _statements(text):
        parts = [part for part in statement if part.kind != "note"]
        verb, what = parts[0].word, _made(parts)
        if verb == "comment":
            told |= _told(parts)
        elif verb.startswith("exec"):
            told |= _property(parts)
        elif what and verb in ("create", "alter"):
            found = _table(statement, parts, told, verb) if what == "table" else []
            columns += found
            if not found and verb == "create":
                at = next(at for at, part in enumerate(parts) if part.word == what)
                name = _name(parts, at + 1)[0]
                refused.append(Row([], str(parts[0].line), refused=f"the script does not list the columns of {name}"))
    for column in columns:
        comment = told.get(f"{column.table}.{column.name}".casefold()) or "; ".join(column.notes)
        yield Row(
            [("table", column.table), ("column", column.name), ("type", column.type), ("comment", comment),
             ("table comment", told.get(column.table.casefold(), ""))],
            str(column.line),
        )  # fmt: skip
    yield from refused


def _without_rows(text: str) -> str:
    """Empty the lines that PostgreSQL's dumps put between `COPY … FROM stdin;` and its end."""
    lines = text.split("\n")
    is_row = False
    for at, line in enumerate(lines):
        if is_row:
            is_row = line.rstrip("\r") != "\\."
            lines[at] = ""
        else:
            is_row = line[:5].upper() == "COPY " and line.rstrip().lower().endswith("from stdin;")
    return "\n".join(lines)


def _made(parts: Sequence[_Part]) -> str:
    """Return `table` or `view`, where a statement is about one: `CREATE GLOBAL TEMPORARY TABLE`."""
    for part in parts[1:6]:
        if part.word in ("table", "view"):
            return part.word
        if not part.word or part.word in ("as", "returns", "on"):
            break
    return ""


def _statements(text: str) -> Iterator[list[_Part]]:
    """Cut a script into statements; of those that tell nothing of tables only the end is looked for."""
    in_text = _ESCAPED_TEXT if "`" in text else _PLAIN_TEXT
    parts, ends = (
        re.compile(one.replace("{text}", in_text), re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE)
        for one in (_PARTS, _QUOTED)
    )
    gathered: list[_Part] = []
    line = at = counted = 0
    is_begun, is_told = False, True
    while found := (parts if is_told else ends).search(text, at):
        at = found.end()
        kind = found.lastgroup or ""
        if kind == "end":
            if is_begun and is_told:
                yield gathered
            gathered, is_begun, is_told = [], False, True
        elif is_told:
            line += text.count("\n", counted, found.start())
            counted = found.start()
            gathered.append(_Part(kind, found[kind], line + 1, counted, found[0]))
            is_told = is_begun or kind == "note" or gathered[-1].word in _OF_TABLES
            is_begun = is_begun or kind != "note"
    if is_begun and is_told:
        yield gathered


def _name(parts: Sequence[_Part], at: int) -> tuple[str, int]:
    """Return a name and where it ends; without its schema where that is the usual one."""
    while at < len(parts) and parts[at].word in ("if", "not", "exists", "only"):
        at += 1
    names: list[str] = []
    while at < len(parts) and parts[at].is_name:
        names.append(parts[at].text.replace('""', '"'))
        at += 1
        if at >= len(parts) or parts[at].text != ".":
            break
        at += 1
    usual = [name for name in names[:-1] if name.casefold() not in _USUAL_SCHEMAS]
    return ".".join([*usual, *names[-1:]]), at


def _table(statement: Sequence[_Part], parts: Sequence[_Part], told: dict[str, str], verb: str) -> list[_Column]:
    """Read `CREATE TABLE name (…)` and `ALTER TABLE name ADD COLUMN …`."""
    at = next(at for at, part in enumerate(parts) if part.word == "table")
    table, at = _name(parts, at + 1)
    if verb == "alter":
        return _added(table, parts, at)
    if at >= len(parts) or parts[at].text != "(":
        return []
    begin = next(place for place, part in enumerate(statement) if part is parts[at])
    items, end = _items(statement, begin + 1)
    for place, part in enumerate(statement[end:], end):
        texts = [one for one in statement[place + 1 : place + 3] if one.kind == "text"]
        if part.word == "comment" and texts:
            told.setdefault(table.casefold(), _unquoted(texts[0].text))
    return [column for item in items if (column := _column(table, item))]


def _items(statement: Sequence[_Part], at: int) -> tuple[list[list[_Part]], int]:
    """Cut what stands in brackets at its commas; a note in the line where an item ends is that item's."""
    items: list[list[_Part]] = [[]]
    depth = 1
    while at < len(statement) and depth:
        part = statement[at]
        depth += {"(": 1, ")": -1}.get(part.raw, 0)
        is_behind = part.kind == "note" and not items[-1] and items[-2:][0][-1:] and items[-2][-1].line == part.line
        if is_behind:
            items[-2].append(part)
        elif part.raw == "," and depth == 1:
            items.append([])
        elif depth:
            items[-1].append(part)
        at += 1
    if at < len(statement) and statement[at].kind == "note" and items[-1] and items[-1][-1].line == statement[at].line:
        items[-1].append(statement[at])
    return items, at


def _added(table: str, parts: Sequence[_Part], at: int) -> list[_Column]:
    """Read `ADD COLUMN a int, ADD b int`."""
    found = []
    for item in _items(parts, at)[0]:
        if item and item[0].word == "add":
            column = _column(table, list(itertools.dropwhile(lambda part: part.word in _BEFORE_ADDED, item)))
            found += [column] if column else []
    return found


def _column(table: str, item: Sequence[_Part]) -> _Column | None:
    notes = [_note(part.text) for part in item if part.kind == "note"]
    parts = [part for part in item if part.kind != "note"]
    if not parts or not parts[0].is_name or parts[0].word in _OF_NO_COLUMN:
        return None
    if parts[0].word in _MAYBE_NO_COLUMN and not _is_typed(parts):
        return None
    end = next(
        (
            at
            for at, part in enumerate(parts[1:], 1)
            if part.word in _AFTER_TYPE and (at > 1 or part.word != "character")
        ),
        len(parts),
    )
    kind = ""
    for before, part in itertools.pairwise(parts[:end]):
        is_apart = kind and part.place > before.place + len(before.raw)
        kind += (" " if is_apart else "") + (part.raw if part.kind != "bracket" else part.text)
    for at, part in enumerate(parts[1:-1], 1):
        if part.word == "comment" and parts[at + 1].kind == "text":
            notes = [_unquoted(parts[at + 1].text)]
    return _Column(table, parts[0].text.replace('""', '"'), kind, parts[0].line, [note for note in notes if note])


def _is_typed(parts: Sequence[_Part]) -> bool:
    """Tell `key text` and `key varchar(20)` from `KEY (a)`, `KEY ix (a)` and `PERIOD FOR x (a, b)`."""
    kinds = [part.kind for part in parts[1:4]]
    after = parts[2].word in _AFTER_TYPE if len(parts) > 2 else True
    return kinds[:1] == ["word"] and (after or (parts[2].raw == "(" and kinds[2:] == ["number"]))


def _told(parts: Sequence[_Part]) -> dict[str, str]:
    """Read `COMMENT ON COLUMN name IS 'text'`."""
    if len(parts) < 6 or parts[2].word not in ("column", "table") or parts[-1].kind != "text":
        return {}
    return {_name(parts, 3)[0].casefold(): _unquoted(parts[-1].text)}


def _property(parts: Sequence[_Part]) -> dict[str, str]:
    """Read how SQL Server tells of a column: a procedure's named texts."""
    words = [part.text for part in parts]
    given = {
        words[at].casefold(): _unquoted(words[at + 2])
        for at in range(len(words) - 2)
        if words[at - 1] == "@" and words[at + 1] == "=" and parts[at + 2].kind == "text"
    }
    names = [given.get(f"level{level}name", "") for level in (0, 1, 2)]
    shown = [name for name in names if name and name.casefold() not in _USUAL_SCHEMAS]
    return {".".join(shown).casefold(): given["value"]} if given.get("name") == "MS_Description" and shown else {}


def _unquoted(text: str) -> str:
    return re.sub(r"^[NE]?'|'$", "", text, flags=re.IGNORECASE).replace("''", "'").replace("\\'", "'")


def _note(text: str) -> str:
    return text.strip("-#/* \t\r\n")
