"""The seed's response shape (D3): status, message and, when it went well, a table."""

from __future__ import annotations

import json
from typing import Any, Literal, NotRequired, TypedDict

from naru.builtins.data.databases.database import QueryResult
from naru.messages import TextPart, ToolResult

CUT = "Only the first {count} rows are shown: add WHERE, LIMIT or aggregate to see what matters."


class TableContent(TypedDict):
    """The seed's `sql` and `records`, and what is worth knowing beside them."""

    sql: str
    records: list[dict[str, Any]]
    columns: list[dict[str, str]]
    row_count: int
    truncated: bool


class TableData(TypedDict):
    """A table, under the seed's name for it."""

    type: Literal["csv_table"]
    content: TableContent


class ToolResponse(TypedDict):
    """What `query_bga_database` answers."""

    status: Literal["success", "error"]
    message: str
    data: NotRequired[TableData]


def table_answer(result: QueryResult) -> ToolResponse:
    """Answer with the rows."""
    count = len(result.records)
    return {
        "status": "success",
        "message": f"SQL executed. {CUT.format(count=count)}" if result.is_truncated else "SQL executed.",
        "data": {
            "type": "csv_table",
            "content": {
                "sql": result.sql,
                "records": result.records,
                "columns": result.columns,
                "row_count": count,
                "truncated": result.is_truncated,
            },
        },
    }


def error_answer(error: Exception) -> ToolResult:
    """Answer with what went wrong: the seed's shape, marked as an error for MCP."""
    answer = {"status": "error", "message": f"Error while querying DB: {error}"}
    return ToolResult((TextPart(json.dumps(answer, ensure_ascii=False)),), answer, is_error=True)
