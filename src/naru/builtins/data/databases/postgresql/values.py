"""Rows as faithful JSON: exact digits, nested values, no lost columns.

PostgreSQL writes each row as JSON itself, so dates, intervals, arrays, composites and ranges keep its own forms.
Numbers stay JSON numbers when a double holds them exactly and become text otherwise; equal column names are numbered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import orjson

from naru.builtins.data.databases.errors import QueryError
from naru.builtins.data.databases.numbers import EXACT_DIGITS, number, unique_names
from naru.builtins.data.databases.postgresql.columns import NUMERIC, ResultColumn
from naru.builtins.data.databases.rows import plain
from naru.messages import JsonObject

_EXACT_INTEGER = 10**EXACT_DIGITS

_PLAIN_TYPES = frozenset(
    # bool, "char", name, int2, int4, text, oid, float4, float8, bpchar, varchar, date, time, timestamp, timestamptz,
    # interval, timetz, uuid
    (16, 18, 19, 21, 23, 25, 26, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 2950)
)
_INT8 = 20
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
LEVELS = 200
"""Of one row: every writer of JSON on its way to the model takes these, with what stands around them (about 250)."""


def records(texts: Sequence[bytes], columns: Sequence[ResultColumn]) -> list[JsonObject]:
    """Read rows that the server wrote with `row_to_json`.

    Raises:
        QueryError: a value of JSON is nested more deeply than is read here.
    """
    try:
        rows = _rows(texts, columns)
        if any(text.count(b"[") + text.count(b"{") > LEVELS for text in texts) and _levels(rows) > LEVELS + 1:
            raise RecursionError
        # A column of type json may hold half a character, which no answer can.
        return plain(rows) if any(map(_HALF.search, texts)) else rows
    except RecursionError as error:
        raise QueryError("A value is nested too deeply.", remedy="Ask for it as text: column::text.") from error


def _levels(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(_levels, value.values() if isinstance(value, dict) else value), default=0)


def _rows(texts: Sequence[bytes], columns: Sequence[ResultColumn]) -> list[JsonObject]:
    names = [column.name for column in columns]
    whole = b"[" + b",".join(texts) + b"]"
    if len(set(names)) < len(names):
        keys = unique_names(names)
        rows = json.loads(whole, object_pairs_hook=_Pairs, parse_int=number, parse_float=number)
        return [dict(zip(keys, (_plain(value) for _, value in row), strict=True)) for row in rows]
    if not all(_keeps_digits(column) for column in columns):
        return json.loads(whole, parse_int=number, parse_float=number)  # type: ignore[no-any-return] # a list of rows
    rows = orjson.loads(whole)
    for name in (column.name for column in columns if column.type_code == _INT8):
        for row in rows:
            value = row[name]
            if value is not None and not -_EXACT_INTEGER < value < _EXACT_INTEGER:
                row[name] = number(str(value))
    return rows  # type: ignore[no-any-return] # a list of rows


def _keeps_digits(column: ResultColumn) -> bool:
    """Tell whether a fast JSON reader loses nothing of this column; large int8 values are mended afterwards."""
    if column.type_code == NUMERIC:
        return column.precision is not None and column.precision <= EXACT_DIGITS
    return column.type_code in _PLAIN_TYPES or column.type_code == _INT8


class _Pairs(list[tuple[str, Any]]):
    """An object as read, its repeated keys kept."""


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        keys = unique_names([key for key, _ in value])
        return dict(zip(keys, (_plain(inner) for _, inner in value), strict=True))
    return [_plain(item) for item in value] if isinstance(value, list) else value
