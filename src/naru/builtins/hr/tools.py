"""The HR server's four tools (V5)."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from naru.builtins.hr.database import HrDatabase, demo_database
from naru.builtins.hr.search import find_documents
from naru.errors import NotFoundError, ToolError
from naru.messages import TextPart, ToolResult
from naru.tools.functions.inject import Depends
from naru.tools.functions.registry import register_tool

READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}


def _demo() -> Iterator[HrDatabase]:
    with contextlib.closing(demo_database()) as database:
        yield database


Database = Annotated[HrDatabase, Depends(_demo, scope="application")]
"""The demo data, unless the host supplies `db`."""
EmployeeId = Annotated[str, Field(description="Employee id: EMP and three digits.")]


@register_tool(annotations=READ_ONLY)
def search_docs(
    query: Annotated[str, Field(description="Words to look for in titles and texts.")], db: Database
) -> list[dict[str, Any]] | ToolResult:
    """Search company documents: rules, policies, guides."""
    found = find_documents(db, query)
    if found:
        return found
    titles = ", ".join(row["title"] for row in db.rows("SELECT title FROM documents ORDER BY id LIMIT 20"))
    return ToolResult((TextPart(f"No document matches {query!r}. Titles: {titles}."),), {"result": []})


@register_tool(annotations=READ_ONLY)
def get_employee_info(employee_id: EmployeeId, db: Database) -> dict[str, Any]:
    """Get one employee's name, department, hire date and years of service."""
    employee = _employee(db, employee_id)
    hired = _date(employee["hire_date"])
    if hired is None:
        return {**employee, "years_of_service": None, "days_of_service": None}
    today = datetime.datetime.now().astimezone().date()
    years = today.year - hired.year - ((today.month, today.day) < (hired.month, hired.day))
    return {**employee, "years_of_service": max(0, years), "days_of_service": max(0, (today - hired).days)}


@register_tool(annotations=READ_ONLY)
def get_all_employees(db: Database) -> list[dict[str, Any]]:
    """List the id and name of every employee."""
    return db.rows("SELECT id, name FROM employees ORDER BY id")


@register_tool(annotations=READ_ONLY)
def calculate_vacation_days(
    employee_id: EmployeeId, year: Annotated[int, Field(description="Calendar year, four digits.")], db: Database
) -> dict[str, Any]:
    """Get one employee's vacation days of a year: total, used and remaining."""
    employee = _employee(db, employee_id)
    rows = db.rows("SELECT year, total, used FROM vacations WHERE employee_id = ? ORDER BY year", (employee["id"],))
    for row in rows:
        if row["year"] == year:
            total, used = (_days(employee["id"], row, what) for what in ("total", "used"))
            return {
                "employee_id": employee["id"],
                "name": employee["name"],
                "year": year,
                "total": total,
                "used": used,
                "remaining": _plain(total - used),
            }
    known = ", ".join(str(row["year"]) for row in rows)
    raise NotFoundError(
        f"No vacation record of {employee['id']} for {year}.", remedy=f"Years with a record: {known}." if known else ""
    )


TOOLS = (search_docs, get_employee_info, get_all_employees, calculate_vacation_days)


def _employee(db: HrDatabase, employee_id: str) -> dict[str, Any]:
    asked = "SELECT id, name, department, hire_date FROM employees WHERE id IN (?1, ?2) ORDER BY id = ?1 DESC"
    found = db.rows(asked, (employee_id.strip(), _normalised(employee_id)))
    if found:
        return found[0]
    span = db.rows("SELECT min(id) AS first, max(id) AS last FROM employees")[0]
    raise NotFoundError(
        f"No employee {employee_id.strip() or '(empty)'}.",
        remedy=f"Employee ids run from {span['first']} to {span['last']}." if span["first"] else "There are none yet.",
    )


def _normalised(employee_id: str) -> str:
    """Read `emp001`, `EMP-1`, `1` as a person means them."""
    match = re.fullmatch(r"(?:EMP)?[\s_-]*(\d{1,3})", employee_id.strip().upper())
    return f"EMP{int(match[1]):03d}" if match else employee_id.strip().upper()


def _date(text: Any) -> datetime.date | None:
    """Read `2020-03-01`, with a time after it, or as `2020. 3. 1` or `2020년 3월 1일`; None for what is no date."""
    match = re.match(r"\s*(\d{4})[^\dA-Za-z]{0,2}(\d{1,2})[^\dA-Za-z]{0,2}(\d{1,2})(?!\d)", str(text))
    try:
        return datetime.date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def _days(employee_id: str, row: dict[str, Any], what: str) -> int | float:
    try:
        return _plain(float(row[what]))
    except (TypeError, ValueError, OverflowError) as error:
        raise ToolError(
            f"The vacation record of {employee_id} for {row['year']} has {row[what]!r} as {what}, which is no number "
            "of days.",
            remedy="Correct it in the database.",
        ) from error


def _plain(days: float) -> int | float:
    return int(days) if float(days).is_integer() else round(days, 2)
