"""Rows of any Python driver as faithful JSON, within limits; for engines that do not write JSON themselves."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from naru.builtins.data.databases.database import Limits, QueryResult
from naru.builtins.data.databases.errors import QueryError
from naru.builtins.data.databases.numbers import number, unique_names
from naru.messages import JsonObject


def collected(
    sql: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]], limits: Limits
) -> QueryResult:
    """Read rows until one of the limits is met; a column's type '' is told by its first value.

    Raises:
        QueryError: the first row alone passes the byte limit.
    """
    names = unique_names([name for name, _ in columns])
    types = [type_ for _, type_ in columns]
    records: list[JsonObject] = []
    size = 0
    is_truncated = False
    for row in rows:
        if len(records) == limits.rows:
            is_truncated = True
            break
        types = [type_ or _type_of(value) for type_, value in zip(types, row, strict=True)]
        record = dict(zip(names, map(plain, row), strict=True))
        size += len(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
        if size > limits.bytes:
            if not records:
                raise QueryError(
                    f"The first row alone has {size} bytes; at most {limits.bytes} are returned.",
                    remedy="Ask for fewer columns, or for a part of the text.",
                )
            is_truncated = True
            break
        records.append(record)
    told = [{"name": name, "type": type_ or "null"} for name, type_ in zip(names, types, strict=True)]
    return QueryResult(sql, told, records, is_truncated)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: digits exact, dates in ISO form, bytes in hex."""
    if value is None or isinstance(value, bool):
        return value
    for kinds, as_json in _FORMS:
        if isinstance(value, kinds):
            return as_json(value)
    return str(value)


_FORMS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, lambda value: value.encode("utf-8", "replace").decode()),
    ((int, Decimal), lambda value: number(str(value))),
    (float, lambda value: value if math.isfinite(value) else str(value)),
    ((bytes, bytearray, memoryview), lambda value: "\\x" + bytes(value).hex()),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (Mapping, lambda value: {_key(key): plain(inner) for key, inner in value.items()}),
    ((list, tuple, set), lambda value: [plain(inner) for inner in value]),
)


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key if isinstance(key, int | float | Decimal) else plain(key))


def _type_of(value: Any) -> str:
    names = {int: "integer", float: "real", str: "text", bytes: "blob"}
    return names.get(type(value), "")
