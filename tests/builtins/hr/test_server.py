"""V5: `naru-hr` over stdio, with the official client, and what bad databases get."""

from __future__ import annotations

import signal
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
        assert client.server_info.name == "naru-hr", "beside a hub and naru-data it is told apart"
        offered = client.server_capabilities.model_dump(exclude_none=True).keys()
        assert offered == {"tools", "logging"}, "it has no prompts, resources or completions"
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


def test_a_server_of_its_own_starts_without_an_http_client_and_without_the_sdk():
    code = (
        "import sys; from naru.builtins.hr.server import main\n"
        "try: main([])\nexcept SystemExit as left: assert not left.code\n"
        "print({name.partition('.')[0] for name in sys.modules} & {'aiohttp', 'mcp', 'starlette', 'uvicorn'})"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, input="", capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr.strip() == "set()", "stdout is the protocol's, whoever prints"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_is_told_by_its_exit_code(number):
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        server.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert '"id":1' in server.stdout.readline()
        server.send_signal(number)
        assert server.wait(60) == 128 + number


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
