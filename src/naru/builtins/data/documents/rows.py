"""Rows of tables and nested dumps as documents: `lot.yield_pct (numeric): 수율; unit: %`.

A row is cells under headings; every cell of it is told, so that nothing is lost to search or to the model.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from naru.builtins.data.documents.document import Document, Scalar
from naru.builtins.data.documents.headings import Role, is_of_model, is_table_of_columns, role_of

_CONTAINERS = frozenset(
    "tables columns fields schemas items data documents docs rows records cols properties tablemetadata databases "
    "catalog catalogue table schema definitions entries results models sources".split()
)
"""Keys that say what their values are, and are no names of things."""
_METADATA = frozenset({"metadata", "meta"})
_OWNERS = frozenset({"schema", "table", "table text"})
"""Roles of cells that may be told once, above the first of a table's columns."""
_NUMBER = re.compile(r"\d+|[0-9a-fA-F-]{16,}")
"""An id that says nothing to a reader."""


@dataclass(frozen=True, slots=True)
class Row:
    """Cells under headings, and where they stood."""

    cells: Sequence[tuple[str, Any]]
    place: str
    """Within its file: `3`, `tables.lot.2`."""
    names: tuple[str, ...] = ()
    """What it stands under: the table's name in a nested dump."""
    is_whole: bool = False
    """Its text is a document already, and gets nothing before or after it."""
    refused: str = ""
    """Why it is none."""


def table_rows(lines: Iterable[Sequence[Any]], names: tuple[str, ...] = ()) -> Iterator[Row]:
    """Read a table whose first line holds the headings; cells beyond them are kept too. An empty line is no row."""
    headings: Sequence[str] | None = None
    roles: Sequence[Role] = ()
    above: dict[int, Any] = {}
    number = 0
    for line in lines:
        if not line:
            continue
        if headings is None:
            headings = [str(cell).strip() for cell in line]
            roles = [role_of(heading) for heading in headings]
            continue
        number += 1
        beyond = [""] * (len(line) - len(headings))
        cells = _continued(line, roles, above)
        yield Row(list(zip([*headings, *beyond], cells, strict=False)), str(number), names)


def _continued(line: Sequence[Any], roles: Sequence[Role], above: dict[int, Any]) -> Sequence[Any]:
    """Give a column the table that was told last, where its own cell is empty; `above` keeps what was told."""
    told = {at: role for at, (role, cell) in enumerate(zip(roles, line, strict=False)) if _plain(cell)}
    owners = {at: line[at] for at, role in told.items() if role in _OWNERS}
    if "table" in told.values():
        above.clear()
        above.update(owners)
    elif "column" in told.values() and owners.items() <= above.items():
        return [cell if at in told else above.get(at, cell) for at, cell in enumerate(line)]
    return line


def nested_rows(value: Any, place: str = "", names: tuple[str, ...] = (), *, is_record: bool = False) -> Iterator[Row]:
    """Walk decoded JSON or YAML: lists of rows, `{"id": "text"}`, Chroma exports, schema dumps however deep.

    `is_record` says that it is an item of a list, so that a mapping is one row and not an entry for each key.
    """
    if lines := _lines_of(value, is_record=is_record):
        for row in table_rows(lines, names):
            yield replace(row, place=_join(place, row.place))
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from nested_rows(item, _join(place, str(number)), names, is_record=True)
    elif isinstance(value, Mapping):
        yield from _mapping_rows(value, place, names, is_record=is_record)
    else:
        yield Row([("text", value)], place)


def _lines_of(value: Any, *, is_record: bool) -> list[list[Any]]:
    """Return the lines of a table, headings first: a list of lists, or headings above columns.

    `{"id": ["a"], "text": ["one"]}`, and with `{"0": "a"}` for `["a"]`: as programs export tables.
    """
    if isinstance(value, list):
        are_lines = len(value) > 1 and all(isinstance(line, list) for line in value)
        return value if are_lines and is_table_of_columns([str(cell) for cell in value[0]]) else []
    if not isinstance(value, Mapping) or is_record or not value:
        return []
    columns = [list(column.values()) if isinstance(column, Mapping) else column for column in value.values()]
    if not is_table_of_columns([str(heading) for heading in value]) or not all(
        isinstance(one, list) for one in columns
    ):
        return []
    keys = {tuple(column) if isinstance(column, Mapping) else tuple(range(len(column))) for column in value.values()}
    if len(keys) != 1:
        return []
    return _named([[str(heading) for heading in value], *map(list, zip(*columns, strict=True))], keys.pop())


def _table_in(value: Mapping[Any, Any]) -> tuple[list[list[Any]], set[str]]:
    """Return a table whose headings stand beside its lines, headings first, and the keys that it stands under.

    `{"columns": ["id", "text"], "data": [["a", "one"]]}`, as programs export tables.
    """
    headings = value.get("columns")
    under = next((key for key in ("data", "rows") if isinstance(value.get(key), list)), "")
    if not isinstance(headings, list) or not under or not all(isinstance(heading, str) for heading in headings):
        return [], set()
    if not all(isinstance(line, list) and len(line) == len(headings) for line in value[under]):
        return [], set()
    lines, keys = [headings, *value[under]], value.get("index")
    if isinstance(keys, list) and len(keys) == len(value[under]):
        return _named(lines, keys), {"columns", under, "index"}
    return lines, {"columns", under}


def _named(lines: list[list[Any]], keys: Sequence[Any]) -> list[list[Any]]:
    """Put before a table's lines what they are called, unless they are only counted."""
    if all(str(key).isdecimal() for key in keys):
        return lines
    heading = "" if any(role_of(str(heading)) == "id" for heading in lines[0]) else "id"
    return [[heading, *lines[0]], *([key, *line] for key, line in zip(keys, lines[1:], strict=True))]


def _mapping_rows(
    value: Mapping[Any, Any], place: str, names: tuple[str, ...], *, is_record: bool = False, key: str = ""
) -> Iterator[Row]:
    """Yield the rows of a mapping: itself when it is one, the things that it holds, or an entry for each key."""
    if _is_export(value):
        yield from _exported_rows(value, place)
        return
    cells = {str(name): inner for name, inner in value.items()}
    roles = {role_of(name): name for name in reversed(cells) if not isinstance(cells[name], list | Mapping)}
    is_record = is_record or _describes(set(roles), is_named=bool(key))
    lines, taken = _table_in(value)
    parts = {name: inner for name, inner in cells.items() if not lines and _has_rows(name, inner, is_record=is_record)}
    own = [(name, inner) for name, inner in cells.items() if name not in parts and name not in taken]
    naming = next((roles[role] for role in ("table", "name", "id") if role in roles), "")
    title = str(cells[naming]) if naming else key
    under = (*names, title) if title else names
    below = _rows_below(lines, place, under) if lines else _part_rows(parts, place, under)
    is_beside = lines or any(isinstance(inner, list) or _is_container(name) for name, inner in parts.items())
    if is_record and not lines and (not parts or any(name != naming for name, _ in own)):
        is_counted = key.isdecimal() and bool(roles.keys() & {"id", "name", "column", "table"})
        is_named = not key or is_counted or any(str(inner) == key for _, inner in own)
        yield Row(own if is_named else [("name", key), *own], place, names)
    elif not is_record and not is_beside:
        inside = (*names, key) if key else names
        yield from (Row([("id", ".".join((*inside, name))), ("text", text)], _join(place, name)) for name, text in own)
    else:
        yield from (_beside(place, name) for name, _ in own if name != naming)
        below = _under(title, below, _beside(place, naming)) if naming else below
    yield from below


def _part_rows(parts: Mapping[str, Any], place: str, names: tuple[str, ...]) -> Iterator[Row]:
    is_catalogue = any(_is_container(name) for name in parts)
    for name, inner in parts.items():
        where = _join(place, name)
        if is_catalogue and not _is_container(name) and isinstance(inner, list) and not _are_described(inner):
            for number in range(1, len(inner) + 1):
                yield Row([], _join(where, str(number)), refused="it describes nothing, beside rows that do")
        elif isinstance(inner, Mapping) and not _is_container(name):
            yield from _mapping_rows(inner, where, names, key=name)
        else:
            yield from nested_rows(inner, where, names if _is_container(name) else (*names, name))


def _under(title: str, rows: Iterable[Row], otherwise: Row) -> Iterator[Row]:
    """Yield rows, and what they stand under when none of them is called by it."""
    is_told = False
    for row in rows:
        found = {role_of(heading): _plain(value) for heading, value in row.cells if _plain(value)}
        is_told |= f".{title}." in f".{found.get('id')}."
        is_told |= title in row.names and ("column" in found or "name" in found) and "table" not in found
        yield row
    if not is_told:
        yield otherwise


def _rows_below(lines: Sequence[Sequence[Any]], place: str, names: tuple[str, ...]) -> Iterator[Row]:
    if len(lines) == 1:
        yield Row([], _join(place, "columns"), refused="it holds nothing below its headings")
    for row in table_rows(lines, names):
        yield replace(row, place=_join(place, row.place))


def _beside(place: str, name: str) -> Row:
    return Row([], _join(place, name), refused="it stands beside the rows and is none of them")


def _are_described(rows: Sequence[Any]) -> bool:
    """Tell whether any row has a heading that a catalogue of columns or of documents has."""
    return any(not isinstance(row, Mapping) or any(role_of(str(key)) for key in row) for row in rows)


def _describes(roles: set[Role], *, is_named: bool) -> bool:
    """Tell by its headings a mapping that is one row from one with an entry for each key."""
    if is_named:
        return bool(roles & {"column", "type", "text"})
    return "column" in roles or ("text" in roles and len(roles) > 1) or {"name", "type"} <= roles


def _is_container(name: str) -> bool:
    return name.replace("_", "").casefold() in _CONTAINERS


def _has_rows(name: str, value: Any, *, is_record: bool) -> bool:
    """Tell a list of rows or a mapping of things from a detail of the row that holds it."""
    if isinstance(value, Mapping):
        return not (is_record and name.casefold() in _METADATA)
    if not isinstance(value, list):
        return False
    return not is_record or any(isinstance(item, Mapping | list) for item in value)


def _is_export(value: Mapping[Any, Any]) -> bool:
    """Tell Chroma's form: ids, documents and metadatas side by side."""
    ids, documents = value.get("ids"), value.get("documents")
    return isinstance(ids, list) and isinstance(documents, list) and len(ids) == len(documents)


def _exported_rows(value: Mapping[Any, Any], place: str) -> Iterator[Row]:
    columns = [value["ids"], value["documents"], value.get("metadatas") or []]
    if any(isinstance(inner, list) for inner in columns[0]):  # a query's answer: a list for each question
        columns = [[item for inner in outer for item in inner or []] for outer in columns]
    ids, documents, metadatas = columns
    for number, id_ in enumerate(ids, 1):
        metadata = metadatas[number - 1] if number <= len(metadatas) else None
        text = documents[number - 1] if number <= len(documents) else None
        cells = [("id", id_), ("text", text), ("metadata", metadata or {})]
        yield Row(cells, _join(place, str(number)), is_whole=True)


def document_of(row: Row, before: str) -> Document:
    """Make one row a document; its text is empty when the row holds nothing to find.

    `before` is what stands before its place: `columns.csv#`.
    """
    source = f"{before}{row.place}" if row.place else before.rstrip("#")
    told, metadata = _told(row)
    of_column = any(role_of(heading) == "column" for heading, _ in told)
    places: dict[Role, int] = {}
    for at in sorted(range(len(told)), key=lambda at: is_of_model(told[at][0])):
        places.setdefault(role_of(told[at][0], of_column=of_column), at)
    found = {role: told[at][1] for role, at in places.items()}
    name, named_by = _name_of(row, found)
    text = found.get("text", "")
    id_ = found.get("id") or name or source
    if row.is_whole:
        return Document(id_, text, source, metadata)
    is_column = "column" in found or ("name" in found and ("type" in found or "table" in found or bool(row.names)))
    if not text and not is_column:
        says = told if any(role_of(heading) != "id" for heading, _ in told) else []
        return Document(id_, "; ".join(_cell(heading, value) for heading, value in says), source, metadata)
    head = name or ("" if _NUMBER.fullmatch(id_) or "id" not in found else id_)
    head += f" ({found['type']})" if head and "type" in found else ""
    body = text if not head or text.startswith(head) else f"{head}: {text}" if text else head
    parts: tuple[Role, ...] = ("id", "text", *named_by, *(("type",) if head else ()))
    used = {places[role] for role in parts if role in places}
    details = [_cell(heading, value) for at, (heading, value) in enumerate(told) if at not in used]
    return Document(id_, "; ".join([body, *details]), source, metadata)


def _name_of(row: Row, found: Mapping[Role, str]) -> tuple[str, tuple[Role, ...]]:
    """Return what a row is called, and by which cells: `schema.table.column`, or a name under what it stands in."""
    own: tuple[Role, ...] = ("column",) if found.get("column") else ("name",) if found.get("name") else ()
    owners: tuple[Role, ...] = ("schema", "table") if found.get("table") or not own else ()
    above = () if owners else row.names
    return ".".join(filter(None, [*above, *(found.get(role) for role in (*owners, *own))])), (*owners, *own)


def _told(row: Row) -> tuple[list[tuple[str, str]], dict[str, Scalar]]:
    """Return the cells that say something, as text, and the metadata that the row brought."""
    told: list[tuple[str, str]] = []
    metadata: dict[str, Scalar] = {}
    for heading, value in row.cells:
        if isinstance(value, Mapping) and heading.casefold() in _METADATA:
            metadata |= {str(key): inner if _is_storable(inner) else _plain(inner) for key, inner in value.items()}
        elif text := _plain(value):
            told.append((heading, text))
    return told, metadata


def _is_storable(value: Any) -> bool:
    """Tell what every store gives back as it was: no NaN, and no integer beyond 64 bits."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, Scalar) and (not isinstance(value, int) or value.bit_length() < 64)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and not any(isinstance(item, Mapping | list) for item in value):
        return ", ".join(filter(None, map(_plain, value)))
    if isinstance(value, list | Mapping):
        return json.dumps(value, ensure_ascii=False, default=str) if value else ""
    return str(value).strip()


def _cell(heading: str, value: str) -> str:
    return f"{heading}: {value}" if heading else value


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
