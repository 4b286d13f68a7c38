"""V5, V6: the four HR tools."""

from __future__ import annotations

import datetime
import sqlite3

import pytest

from naru.builtins.hr.database import SCHEMA, open_database
from naru.builtins.hr.demo import DOCUMENTS, EMPLOYEES, VACATION_YEARS, vacations
from naru.builtins.hr.server import hr_toolset
from naru.builtins.hr.tools import TOOLS
from naru.tools.execute import execute_tool
from naru.tools.functions.signature import build_tool_schema


@pytest.fixture
async def ask():
    toolset = hr_toolset()

    async def ask(name, **arguments):
        return await execute_tool(name, arguments, toolset=toolset)

    yield ask
    await toolset.close()


def test_the_demo_data_is_what_the_readme_says():
    assert [employee[0] for employee in EMPLOYEES] == [f"EMP{number:03d}" for number in range(1, 21)]
    assert len(DOCUMENTS) == 12
    assert len(vacations()) == 20 * len(VACATION_YEARS)
    assert all(0 <= used <= total for _, _, total, used in vacations())


def test_no_schema_shows_the_database_or_an_id_that_could_be_copied():
    for tool in TOOLS:
        shown = str(build_tool_schema(tool))
        assert "'db'" not in shown
        assert "EMP0" not in shown


async def test_an_employee_has_years_of_service(ask):
    before = datetime.date.today()
    found = (await ask("get_employee_info", employee_id="EMP001"))["result"]
    hired = datetime.date(2015, 3, 2)
    assert found["name"] == "Kim Minjun"
    assert found["days_of_service"] in {(today - hired).days for today in (before, datetime.date.today())}
    assert found["years_of_service"] == found["days_of_service"] * 100 // 36525


@pytest.mark.parametrize("spelling", ["EMP005", "emp005", " EMP-5 ", "5", "005", "emp_5"])
async def test_an_id_may_be_spelled_as_people_and_small_models_do(ask, spelling):
    assert (await ask("get_employee_info", employee_id=spelling))["result"]["name"] == "최수아"


@pytest.mark.parametrize("employee_id", ["EMP099", "x", "", "EMP001' OR '1'='1"])
async def test_an_employee_who_is_not_there_is_said_with_the_range_of_ids(ask, employee_id):
    answer = await ask("get_employee_info", employee_id=employee_id)
    assert answer["success"] is False
    assert answer["error"].startswith("No employee ")
    assert "EMP001 to EMP020" in answer["error"]


@pytest.fixture
async def ask_own(tmp_path):
    """Ask of a database that somebody filled by hand."""
    made = sqlite3.connect(tmp_path / "own.db")
    made.executescript(SCHEMA.replace("NOT NULL", ""))
    made.executemany(
        "INSERT INTO employees VALUES (?, 'Kim', 'R&D', ?)",
        [("EMP001", "2020/02/29"), ("EMP002", "2020. 3. 1"), ("EMP003", "2020-03-01 09:00:00"), ("EMP004", "20200301"),
         ("EMP005", "2020년 3월 1일"), ("EMP006", "soon"), ("EMP007", None), ("emp-7", "2020-13-01")],
    )  # fmt: skip
    made.executemany("INSERT INTO vacations VALUES (?, 2026, ?, 3)", [("EMP001", None), ("EMP002", "15일")])
    made.execute("INSERT INTO documents VALUES (1, CAST(x'B0A1' AS TEXT), 'Rules of travel', 'x')")
    made.commit()
    made.close()
    toolset = hr_toolset(open_database(tmp_path / "own.db"))

    async def ask(name, **arguments):
        return await execute_tool(name, arguments, toolset=toolset)

    yield ask
    await toolset.close()


@pytest.mark.parametrize("number", range(1, 6))
async def test_a_day_of_hire_is_read_as_people_write_it(ask_own, number):
    found = (await ask_own("get_employee_info", employee_id=f"EMP{number:03d}"))["result"]
    assert (datetime.date.today() - datetime.timedelta(found["days_of_service"])).isoformat()[:7] in (
        "2020-02",
        "2020-03",
    )
    assert found["years_of_service"] >= 6


@pytest.mark.parametrize("employee_id", ["EMP006", "EMP007", "emp-7"])
async def test_an_employee_whose_day_of_hire_is_none_is_told_without_years(ask_own, employee_id):
    found = (await ask_own("get_employee_info", employee_id=employee_id))["result"]
    assert (found["id"], found["name"], found["years_of_service"]) == (employee_id, "Kim", None)


@pytest.mark.parametrize("employee_id", ["EMP001", "EMP002"])
async def test_days_that_are_no_number_are_said_with_what_stands_there(ask_own, employee_id):
    answer = await ask_own("calculate_vacation_days", employee_id=employee_id, year=2026)
    assert f"The vacation record of {employee_id} for 2026 has" in answer["error"]
    assert "which is no number of days" in answer["error"]


async def test_a_document_with_letters_of_another_encoding_is_found(ask_own):
    (found,) = (await ask_own("search_docs", query="travel"))["result"]
    assert (found["title"], found["content"]) == ("\ufffd\ufffd", "Rules of travel")


async def test_remaining_days_are_total_less_used(ask):
    for employee_id, year, total, used in vacations():
        found = (await ask("calculate_vacation_days", employee_id=employee_id, year=year))["result"]
        assert (found["total"], found["used"], found["remaining"]) == (total, used, total - used)


async def test_a_year_without_record_is_said_with_those_that_have_one(ask):
    answer = await ask("calculate_vacation_days", employee_id="EMP001", year=1999)
    assert answer == {
        "success": False,
        "error": "No vacation record of EMP001 for 1999. Years with a record: 2024, 2025, 2026.",
    }


async def test_all_employees_are_listed_by_id_and_name(ask):
    found = (await ask("get_all_employees"))["result"]
    assert [(row["id"], row["name"]) for row in found] == [employee[:2] for employee in EMPLOYEES]


async def test_a_search_without_hits_is_no_failure_and_names_the_titles(ask):
    assert await ask("search_docs", query="xyzzy") == {"success": True, "result": []}


async def test_the_registered_tools_work_alone_on_the_demo_data():
    answer = await execute_tool("get_employee_info", {"employee_id": "EMP003"})
    assert answer["result"]["name"] == "James Carter"
