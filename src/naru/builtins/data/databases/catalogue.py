"""What a database holds, and the documents that tell of it: one for each column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from naru.builtins.data.documents.document import Document

VALUES_TOLD = 8
VALUE_CHARACTERS = 40
VALUES = "; values: "
"""Stands before them in a document, after all else."""
_PART = re.compile(r'"((?:[^"]|"")*)"|([^.]+)')


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table or view."""

    name: str
    type: str
    comment: str = ""
    is_key: bool = False
    """Part of the primary key."""
    values: Sequence[str] = ()
    """All or the first of its distinct values, where they are few."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: columns of this table are those of another."""

    columns: Sequence[str]
    table: str
    """The other table, as `Table.name` writes it."""
    other_columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view."""

    name: str
    """With its schema before it when that is not the usual one: `sales.orders`; see `joined_name`."""
    columns: Sequence[Column]
    comment: str = ""
    references: Sequence[Reference] = ()

    def column(self, name: str) -> Column | None:
        """Return the column of that name."""
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All tables of one database."""

    tables: Sequence[Table] = field(default=())

    def table(self, name: str) -> Table | None:
        """Return the table of that name."""
        return next((table for table in self.tables if table.name == name), None)


def joined_name(*parts: str) -> str:
    """Write the parts of a name with dots between; a part that has a dot itself stands in quotes: `sales."2024.q1"`."""
    return ".".join('"' + one.replace('"', '""') + '"' if "." in one or one[:1] == '"' else one for one in parts if one)


def parted_name(name: str) -> tuple[str, str]:
    """Return the schema, which may be empty, and the bare name of what `joined_name` wrote."""
    *schema, bare = [plain or quoted.replace('""', '"') for quoted, plain in _PART.findall(name)]
    return "".join(schema), bare


def documents_of(catalogue: Catalogue, source: str) -> list[Document]:
    """Write one document for each column: `lot.yield_pct (numeric): 수율; of 생산 로트; values: 97.1, …`."""
    return [
        Document(f"{table.name}.{joined_name(column.name)}", text, source, {"table": table.name, "column": column.name})
        for table in catalogue.tables
        for column, text in _texts(table)
    ]


def _texts(table: Table) -> Iterator[tuple[Column, str]]:
    for column in table.columns:
        text = f"{table.name}.{column.name} ({column.type})"
        if column.comment:
            text += f": {column.comment}"
        details = [f"of {table.comment}"] if table.comment else []
        details += ["primary key"] if column.is_key else []
        details += [
            f"refers to {reference.table}.{other}"
            for reference in table.references
            for own, other in zip(reference.columns, reference.other_columns, strict=False)
            if own == column.name
        ]
        text = "; ".join([text, *details])
        if column.values:
            told = [value[:VALUE_CHARACTERS] for value in column.values[:VALUES_TOLD]]
            more = ", …" if len(column.values) > VALUES_TOLD else ""
            text += f"{VALUES}{', '.join(told)}{more}"
        yield column, text
