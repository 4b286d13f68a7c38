"""Issue 20, line 3: DuckDB works in a process of its own, which a statement may take down, and nothing else with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from naru.builtins.data.databases.apart import as_told
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError, RefusedStatementError
from naru.builtins.data.databases.open import open_database
from naru.config import DataSettings
from tests.builtins.data.databases.schema import duckdb_file

pytestmark = pytest.mark.slow
pytest.importorskip("duckdb", reason="install the extra `duckdb`")
COUNT = "SELECT count(*) AS n FROM lot"
GREEDY = {
    "one long text": "SELECT length(rpad('x', 2000000000, 'y'))",
    "a list": "SELECT length(array_to_string(range(1000000000), ','))",
    "a text in a text": "SELECT length(replace(repeat('a', 10000000), 'a', repeat('b', 10000000)))",
    "base 64": "SELECT octet_length(from_base64(repeat('A', 2000000000)))",
}
DEAF = "SELECT levenshtein(repeat('a', 2000000), repeat('b', 2000000))"


def children() -> set[int]:
    """Give the processes that this one has started and that still run."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that ended meanwhile
            found |= set(map(int, (task / "children").read_text(encoding="utf-8").split()))
    return found


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    settings = {"naru_database_url": duckdb_file(tmp_path), "postgresql_db_statement_timeout_seconds": 4}
    opened = open_database(DataSettings(**settings, _env_file=None))  # type: ignore[arg-type]
    yield opened
    await opened.close()


@pytest.mark.parametrize("name", GREEDY)
async def test_a_statement_that_takes_all_memory_is_told_and_the_next_is_answered(name: str, database: Database):
    with pytest.raises(QueryError):
        await database.query(GREEDY[name])
    assert (await database.query(COUNT)).records == [{"n": 60}]


async def test_a_statement_that_hears_nothing_is_ended_and_those_beside_it_are_answered(database: Database):
    await database.check()
    deaf = [asyncio.ensure_future(database.query(DEAF)) for _ in range(3)]
    beside = await asyncio.gather(*(database.query(COUNT) for _ in range(8)))
    assert [one.records for one in beside] == [[{"n": 60}]] * 8
    ended = await asyncio.gather(*deaf, return_exceptions=True)
    assert {type(one) for one in ended} == {QueryError}
    assert (await database.query(COUNT)).records == [{"n": 60}]


async def test_a_question_that_nobody_waits_for_takes_nothing_with_it(database: Database):
    await database.check()
    for _ in range(2):
        asked = asyncio.ensure_future(database.query(DEAF))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait([asked], timeout=60)
    assert (await database.query(COUNT)).records == [{"n": 60}]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's prlimit")
async def test_who_waits_is_answered_though_the_child_can_do_nothing_more(database: Database):
    before = children()
    await database.check()
    (child,) = children() - before
    resource.prlimit(child, resource.RLIMIT_DATA, (1, 1))  # not a thread more, nor a text
    outcomes = await asyncio.gather(*(database.query(COUNT) for _ in range(8)))
    assert [one.records for one in outcomes] == [[{"n": 60}]] * 8


async def test_a_statement_for_which_a_fresh_child_has_no_memory_either_is_told_after_that_one(database: Database):
    for _ in range(2):  # the second time it is the child that counted which is asked first
        with pytest.raises(QueryError, match="Memory"):
            await database.query(GREEDY["a list"])
        assert (await database.query(COUNT)).records == [{"n": 60}]


async def test_a_killed_child_is_told_and_another_is_started_and_closing_leaves_none(database: Database):
    before = children()
    asked = asyncio.ensure_future(database.query(DEAF))
    async with asyncio.timeout(60):
        while not (child := children() - before):
            await asyncio.sleep(0.01)
    os.kill(*child, signal.SIGKILL)
    with pytest.raises(QueryError, match="DuckDB ended while it worked"):
        await asked
    assert (await database.query(COUNT)).records == [{"n": 60}]
    await database.close()
    assert children() <= before


async def test_a_child_that_ends_with_its_database_is_not_killed(database: Database, monkeypatch: pytest.MonkeyPatch):
    """To kill it takes its exit from asyncio, which then writes "Unknown child process" among what a person reads."""
    before = children()
    await database.check()
    killed = []
    monkeypatch.setattr(asyncio.subprocess.Process, "kill", lambda process: killed.append(process.pid))
    await database.close()
    assert killed == []
    assert children() <= before


async def test_what_fails_in_the_child_is_told_as_what_it_is_and_not_as_memory(database: Database):
    with pytest.raises(QueryError, match=r"What works with the database failed: AttributeError: .*'forget'"):
        await database._ask("forget")  # type: ignore[attr-defined]
    assert (await database.query(COUNT)).records == [{"n": 60}]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "took more memory"),
        (RuntimeError("can't start new thread"), "took more memory"),
        (RuntimeError("dictionary changed size"), "failed: RuntimeError: dictionary changed size"),
    ],
)
def test_of_runtime_errors_only_a_thread_without_room_is_told_as_memory(error: Exception, told: str):
    assert told in str(as_told(error))


async def test_what_the_child_refuses_is_refused_in_its_words(database: Database, tmp_path: Path):
    with pytest.raises(RefusedStatementError, match="read_text in FROM reads more than tables") as refused:
        await database.query("SELECT * FROM read_text('/etc/passwd')")
    assert refused.value.remedy == "Write the query without it."
    missing = open_database(DataSettings(naru_database_url=f"duckdb:///{tmp_path}/none.duckdb", _env_file=None))
    with pytest.raises(DatabaseUnavailableError, match="There is no DuckDB file"):
        await missing.check()
    await missing.close()
