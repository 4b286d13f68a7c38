"""Every odd server of `odd_rows` over each transport where it applies: connected, or the right remedy (issue 16).

Those that a program keeps waiting for wait side by side: that is all they do.

Row `401` is report r2-26: a server that wants a login is NEEDS_AUTH, with what it asks for in plain sight. Report
r2-34, a filter under the key `tools`, is in `tests/cli/test_no_key_ignored.py`.

The table in `docs/reference/odd-servers.md` is made of the same rows: python -m tests.connections.test_odd_table
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from naru.connections.manager import Manager
from naru.records import ServerRecord, ServerStatus
from tests.connections.conftest import ONCE, managed
from tests.fixtures import odd_rows
from tests.fixtures.odd_rows import EVERYWHERE, OK, ROWS, Row, serve
from tests.waiting import sleep_as_the_machine, until

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "odd-servers.md"
LINES = [row for row in ROWS if row.over == ("stdio",) and row.outcome != OK]
CASES = [(row, over) for row in ROWS for over in row.over if row not in LINES]
HEAD = """# Odd servers

What servers do that the protocol does not foresee, and what becomes of them. Made by
`tests/connections/test_odd_table.py` of the rows of `tests/fixtures/odd_rows.py`, each of which is tried over every
transport that is filled in.

| A server that … | stdio | HTTP | SSE | told |
|---|---|---|---|---|
"""


def table() -> str:
    """Return the page."""
    lines = []
    for row in ROWS:
        cells = [(row.outcome if over in row.over else "") for over in EVERYWHERE]
        lines.append(f"| {row.does} | {' | '.join(cells)} | {row.says.replace('|', ' ')} |")
    return HEAD + "\n".join(lines) + "\n"


def program_of(row: Row, name: str) -> ServerRecord:
    config = {"command": sys.executable, "args": [odd_rows.__file__, row.name], **row.config}
    return ServerRecord(name=name, transport_type="STDIO", config=config)


@contextlib.asynccontextmanager
async def record_of(row: Row, over: str) -> AsyncIterator[ServerRecord]:
    if over == "stdio":
        yield program_of(row, "odd")
        return
    async with serve(row.name, sse=over == "sse") as url:
        # A URL that ends in /sse says what it is; here nobody does.
        url = url if row.declared else url.replace("/sse", "/mcp")
        config = {"url": url, **row.config}
        declared = {"http": "HTTP", "sse": "SSE"}[over] if row.declared else None
        yield ServerRecord(name="odd", transport_type=declared, config=config)


@pytest.mark.slow
@pytest.mark.parametrize(("row", "over"), CASES, ids=[f"{row.name}-{over}" for row, over in CASES])
async def test_an_odd_server_connects_or_is_told_what_to_mend(row: Row, over: str) -> None:
    settings = replace(ONCE, probe_timeout_seconds=0.5)
    if row.says == "not ready within":
        settings = replace(settings, connect_timeout_seconds=4)
    async with record_of(row, over) as record, managed(settings) as manager:
        await manager.register(record)
        is_connected = await manager.connect("odd")
        told = manager.explain("odd")
        assert is_connected is (row.outcome == OK), told
        whole = f"{told.summary} {told.remedy} {' '.join(manager.connection('odd').catalogue.warnings)}"
        assert row.says in whole
        if row.outcome != OK:
            assert manager.get_status("odd") is ServerStatus[row.outcome]
            assert told.remedy, "a person is told what to do"
        elif row.answer is not None:
            text = (await manager.call_tool("odd", "echo", {})).text
            assert text.replace("\t", "").replace("\ufffd", "") == row.answer


@pytest.mark.slow
async def test_n10_a_program_whose_lines_cannot_be_understood_is_told_what_to_mend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with managed(replace(ONCE, max_connecting=len(LINES))) as manager:
        for row in LINES:
            await manager.register(program_of(row, row.name))
        connecting = asyncio.gather(*(manager.connect(row.name) for row in LINES))
        await until(lambda: all(has_spoken(manager, row) for row in LINES))
        for _ in range(20):  # what is missed for the first time is had once more
            await sleep_as_the_machine(monkeypatch, ONCE.connect_timeout_seconds)
        assert await connecting == [False] * len(LINES)
        told = {row.name: manager.explain(row.name) for row in LINES}
        assert {one.status for one in told.values()} == {ServerStatus.FAILED}
        assert all(one.remedy for one in told.values()), "a person is told what to do"
        unsaid = [row.name for row in LINES if row.says not in f"{told[row.name].summary} {told[row.name].remedy}"]
        assert unsaid == [], told


def has_spoken(manager: Manager, row: Row) -> bool:
    """Whether a program has written what cannot be understood, has ended, or never will write."""
    connection = manager.connection(row.name)
    if row.name == "says-nothing" or manager.get_status(row.name) is ServerStatus.FAILED:
        return True
    unfinished = connection._session and connection._session.transport.unfinished_bytes
    return bool(connection.counters.noise_lines or connection.counters.strays or unfinished)


def test_the_page_is_made_of_the_rows() -> None:
    assert len(ROWS) >= 60
    assert PAGE.read_text(encoding="utf-8") == table(), "run: python -m tests.connections.test_odd_table"


if __name__ == "__main__":
    PAGE.write_text(table(), encoding="utf-8")
