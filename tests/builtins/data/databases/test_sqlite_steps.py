"""Issue 20, line 3: SQLite is interrupted between its steps, so no step may take long; and both end a query in time."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from naru.builtins.data.databases.errors import QueryError
from naru.builtins.data.databases.open import open_database
from naru.config import DataSettings
from tests.builtins.data.databases.schema import sqlite_file

pytestmark = pytest.mark.slow  # each database is a process of its own

GROWN = "WITH RECURSIVE t(x) AS (SELECT 'aaaaaaaaaa' UNION ALL SELECT x || x FROM t WHERE length(x) < 4000000) "
LONG_STEPS = {
    "instr": GROWN + "SELECT max(instr(x, substr(x, 1, 1000000) || 'b')) FROM t",
    "replace": GROWN + "SELECT count(*) FROM t WHERE replace(x, substr(x, 1, length(x) / 2) || 'b', 'c') = 'z'",
    "trim": GROWN + "SELECT count(*) FROM t WHERE trim(x, substr(x, 1, 9) || x) = 'z'",
    "strftime": GROWN + "SELECT count(strftime(replace(x, 'a', '%J'), 'now')) FROM t",
}
COUNTED = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
MATCHED = {
    "match": f"SELECT count(*) FROM notes WHERE notes MATCH ({COUNTED} SELECT group_concat('a' || i, ' OR ') FROM n)",
    "in from": f"SELECT count(*) FROM notes(({COUNTED} SELECT group_concat('a' || i, ' AND ') FROM n))",
}
LETTERS = (
    "SELECT format('%.*c', 2000000000, 'x')",
    "SELECT printf('%.2000000000c', 'x')",
    "SELECT printf('%-%%.2000000000c', 'x')",
    "SELECT printf('%5.2000000000lc', 'x')",
    "SELECT printf(CAST('%.2000000000c' AS BLOB), 'x')",
    "SELECT printf('%2000000d', 1)",
    "WITH f(a) AS (VALUES ('%.2000000000' || char(99))) SELECT printf(a, 'x') FROM f",
)


def settings(folder: Path, seconds: float = 5) -> DataSettings:
    url = sqlite_file(folder)
    return DataSettings(naru_database_url=url, postgresql_db_statement_timeout_seconds=seconds, _env_file=None)


async def test_a_function_that_takes_the_product_of_lengths_is_given_short_texts(tmp_path: Path):
    database = open_database(settings(tmp_path))
    for name, sql in LONG_STEPS.items():
        with pytest.raises(QueryError, match=f"too big .* with .*{name}.* at most 131072 bytes"):
            await database.query(sql)
    await database.close()


async def test_letters_are_not_repeated_by_a_number(tmp_path: Path):
    """By an argument, in the format, after a percent, with a length, as bytes, as a width, in a CTE."""
    database = open_database(settings(tmp_path))
    for sql in LETTERS:
        with pytest.raises(QueryError, match="printf makes at most 131072 bytes, and its %c takes no precision"):
            await database.query(sql)
    await database.close()


async def test_what_people_format_and_replace_is_as_the_engine_gives_it(tmp_path: Path):
    """Also in a view of the database's own, which a function of ours may not be used in."""
    wanted = settings(tmp_path)
    with sqlite3.connect(tmp_path / "bga.db") as connection:
        connection.execute(
            "CREATE VIEW told AS SELECT printf('%.1f%%', yield_pct) AS y, replace(product, 'B', 'C') p FROM lot"
        )
    database = open_database(wanted)
    asked = (
        "printf('%,d|%5.2f|%-4s|%c|%x', 1234567, 1.005, 'ab', 'xyz', 255) AS a, format('%s', NULL) AS b, printf() AS c"
    )
    raw = sqlite3.connect(":memory:").execute(f"SELECT {asked}").fetchone()
    assert tuple((await database.query(f"SELECT {asked}")).records[0].values()) == raw
    assert (await database.query("SELECT y, p, format('%d', 7) AS n FROM told LIMIT 1")).records == [
        {"y": "91.5%", "p": "C1", "n": "7"}
    ]
    await database.close()


async def test_a_long_text_is_read_where_no_such_function_is_used(tmp_path: Path):
    wanted = settings(tmp_path)
    with sqlite3.connect(tmp_path / "bga.db") as connection:
        connection.execute("INSERT INTO lot (lot_id, 비고) VALUES ('LONG', ?)", ["가" * 200_000])
    database = open_database(wanted)
    found = await database.query("SELECT length(비고) AS n, upper(비고) = 비고 AS same FROM lot WHERE lot_id = 'LONG'")
    assert found.records == [{"n": 200_000, "same": 1}]
    with pytest.raises(QueryError, match="with replace a value has at most"):
        await database.query("SELECT replace(비고, '가', '나') FROM lot WHERE lot_id = 'LONG'")
    await database.close()


@pytest.mark.parametrize("name", MATCHED)
async def test_a_step_that_hears_nothing_ends_with_its_process_and_those_beside_it_are_answered(
    name: str, tmp_path: Path
):
    """They took every place of a database, and then the machine, for as long as the process lived."""
    database = open_database(settings(tmp_path, 1))
    await database.check()
    deaf = [asyncio.ensure_future(database.query(MATCHED[name])) for _ in range(4)]
    ended = await asyncio.wait_for(asyncio.gather(*deaf, return_exceptions=True), 60)
    assert {type(one) for one in ended} == {QueryError}
    assert (await database.query("SELECT body FROM notes WHERE notes MATCH 'sol* AND void'")).records == [
        {"body": "solder void"}
    ]
    await database.close()


async def test_four_heavy_queries_leave_room_for_the_next(tmp_path: Path):
    """Each step is some milliseconds, so that a look at every so many comes late: the engine is told at once."""
    database = open_database(settings(tmp_path, 2))
    heavy = GROWN + "SELECT max(hex(upper(t.x) || a.lot_id)) FROM t, lot a, lot b, lot c WHERE length(t.x) < 3000000"
    ended = await asyncio.gather(*(database.query(heavy) for _ in range(4)), return_exceptions=True)
    assert ["stopped after 2 seconds" in str(one) for one in ended] == [True] * 4
    assert (await database.query("SELECT 1 AS n")).records == [{"n": 1}]
    await database.close()
