"""What safe SQL costs beside the seed's raw psycopg: `python bench/data.py`.

Starts a PostgreSQL of its own with 5,000 rows; prints medians and ratios for a small aggregate and for 1,000 rows, the
rate of 200 concurrent queries, and the client's memory with a value of 300 MB. "raw" is the seed's executor: a pool,
`execute`, `fetchall`, a dict per row; its numbers are Python objects that still have to be made JSON, so the ratio to
"raw + json" is given too.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import psycopg
from psycopg_pool import AsyncConnectionPool

from naru.builtins.data.databases.errors import QueryError
from naru.builtins.data.databases.postgresql.database import Database, DatabaseOptions
from naru.errors import ConfigError
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries

SCHEMA = """
CREATE TABLE lot (lot_id text PRIMARY KEY, product text, customer text, start_dt timestamptz, end_dt timestamptz,
  qty_in int, qty_out int, yield_pct numeric(6,3), line_no int, shift_cd char(1));
INSERT INTO lot SELECT 'L' || lpad(i::text, 5, '0'), 'P' || i % 7, 'customer ' || i % 4,
  timestamptz '2026-01-01' + i * interval '3 hours', timestamptz '2026-01-01' + i * interval '5 hours',
  1000, 1000 - i % 90, round((1000 - i % 90) / 10.0, 3), i % 5, 'D' FROM generate_series(1, 5000) i;
ANALYZE lot;
CREATE ROLE reader LOGIN CONNECTION LIMIT 60; GRANT SELECT ON lot TO reader;
"""
SMALL = "SELECT line_no, count(*) AS lots, max(qty_out) AS most FROM lot WHERE lot_id < 'L00500' GROUP BY 1 ORDER BY 1"
ROWS = "SELECT * FROM lot ORDER BY lot_id LIMIT 1000"
HUGE = "SELECT repeat('x', 300000000) AS x"
REPEATS = 5
"""Rounds that take turns, so that a busy machine slows all of them alike."""


async def raw(pool: AsyncConnectionPool, query: str) -> list[dict]:
    """The seed's executor."""
    async with pool.connection() as connection, connection.cursor() as cursor:
        await cursor.execute(query)
        rows = await cursor.fetchall()
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in rows]


async def raw_json(pool: AsyncConnectionPool, query: str) -> str:
    """The same, ready to send."""
    return json.dumps(await raw(pool, query), default=str)


async def timed(calls: dict[str, Callable[[], Awaitable[object]]], count: int) -> dict[str, tuple[float, float]]:
    """Return each call's median milliseconds and its best tenth, which a busy machine disturbs least."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(8):
            await call()
    for _ in range(REPEATS):
        for name, call in calls.items():
            for _ in range(count):
                start = time.perf_counter()
                await call()
                times[name].append((time.perf_counter() - start) * 1000)
    return {name: (statistics.median(values), sorted(values)[len(values) // 10]) for name, values in times.items()}


def show(title: str, found: dict[str, tuple[float, float]]) -> None:
    """Print medians, best tenths and the ratios of both."""
    print(f"{title}: " + ", ".join(f"{name} {median:.2f} ({best:.2f}) ms" for name, (median, best) in found.items()))
    for name, (median, best) in found.items():
        if name != "safe":
            print(f"  safe / {name}: {found['safe'][0] / median:.2f}x (best tenth {found['safe'][1] / best:.2f}x)")


async def concurrent(call: Callable[[], Awaitable[object]]) -> float:
    """Return the rate of 200 queries at once, the best of three."""
    rates = []
    for _ in range(3):
        start = time.perf_counter()
        await asyncio.gather(*(call() for _ in range(200)))
        rates.append(200 / (time.perf_counter() - start))
    return max(rates)


async def memory(database: Database) -> float:
    """Return by how many MB this process grows at most while a value of 300 MB is asked for."""
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    query = asyncio.ensure_future(database.query(HUGE))
    most = before
    while not query.done():
        most = max(most, process.memory_info().rss)
        await asyncio.sleep(0.005)
    try:
        query.result()
    except QueryError as error:
        print(f"  {error}")
    return (most - before) / 1e6


async def measure(server: EmbeddedPostgres) -> None:
    """Run everything against one server."""
    dsn = server.dsn_for("postgres", user="reader")

    async def parameters() -> dict[str, str]:
        return {key: str(value) for key, value in psycopg.conninfo.conninfo_to_dict(dsn).items()}

    database = Database(parameters, DatabaseOptions())
    async with AsyncConnectionPool(dsn, min_size=5, max_size=20, open=False) as pool:
        for title, query, count in (("small aggregate", SMALL, 60), ("1,000 rows", ROWS, 12)):
            calls: dict[str, Callable[[], Awaitable[object]]] = {
                "raw": lambda query=query: raw(pool, query),
                "raw + json": lambda query=query: raw_json(pool, query),
                "safe": lambda query=query: database.query(query),
            }
            show(title, await timed(calls, count))
        raw_rate = await concurrent(lambda: raw(pool, SMALL))
        safe_rate = await concurrent(lambda: database.query(SMALL))
        print(f"200 concurrent: raw {raw_rate:.0f}/s, safe {safe_rate:.0f}/s ({raw_rate / safe_rate:.2f}x)")
    print(f"a value of 300 MB: the client grew by {await memory(database):.0f} MB at most")
    await database.close()


def main() -> None:
    """Measure on each PostgreSQL there is."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    for version in (18, 15):
        try:
            binaries = find_binaries(version)
        except ConfigError as error:
            print(error)
            continue
        with EmbeddedPostgres(bin_dir=binaries) as server:
            with psycopg.connect(server.dsn, autocommit=True) as admin:
                admin.execute(SCHEMA)
            print(f"PostgreSQL {version}")
            asyncio.run(measure(server))


if __name__ == "__main__":
    main()
