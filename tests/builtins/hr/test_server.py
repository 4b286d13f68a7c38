"""V5: `naru-hr` over stdio, with the official client, and what bad databases get."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

pytestmark = pytest.mark.slow

SERVER = [sys.executable, "-m", "naru.builtins.hr.server"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_lists_and_calls_the_four_tools(mode):
    async with Client(stdio_client(StdioServerParameters(command=SERVER[0], args=SERVER[1:])), mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [
            "search_docs",
            "get_employee_info",
            "get_all_employees",
            "calculate_vacation_days",
        ]
        everyone = await client.call_tool("get_all_employees", {})
        assert len(everyone.structured_content["result"]) == 20
        missing = await client.call_tool("get_employee_info", {"employee_id": "EMP099"})
        assert missing.is_error
        assert missing.content[0].text.startswith("No employee EMP099.")
        wrong = await client.call_tool("calculate_vacation_days", {"employee_id": "EMP001"})
        assert wrong.is_error
        assert "year" in wrong.content[0].text


def _missing(path):
    return path / "none.db"


def _folder(path):
    return path


def _no_database(path):
    (path / "x.db").write_text("this is no database" * 100, encoding="utf-8")
    return path / "x.db"


def _empty(path):
    sqlite3.connect(path / "x.db").close()
    return path / "x.db"


def _read_only(path):
    sqlite3.connect(path / "x.db").executescript("create table t (a)").close()
    (path / "x.db").chmod(0o444)
    return path / "x.db"


@pytest.mark.parametrize("make", [_missing, _folder, _no_database, _empty, _read_only])
def test_a_database_that_cannot_be_used_is_one_line_and_a_failing_exit(make, tmp_path):
    done = subprocess.run([*SERVER, "--db", str(make(tmp_path))], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("naru-hr: opening the HR database")
    assert "Traceback" not in done.stderr
