"""Twenty persons at two hubs, mixed requests over every face, through restarts: nobody gets anything of another's.

A small run of `bench/persons.py`; the large one is run by hand (issue 21: 1,000,000 requests, 0 foreign answers).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import persons

from tests.postgres_servers import PostgresServers

pytestmark = pytest.mark.slow


async def test_accepted_1_no_answer_holds_anything_of_somebody_else(
    postgres_servers: PostgresServers, tmp_path: Path
) -> None:
    async with persons.everything(tmp_path, postgres_servers.fresh_database(15), seed=3) as load:
        await load.run(1000)
        await load.places[0].end()
        await load.places[0].start()
        await load.run(1000)
    assert load.foreign == []
    assert not load.counts["sessions of others taken"]
    assert load.lacking == []
    assert load.counts["own"] > 1000, "else nothing was asked"
    assert load.counts["refused"] > 50, "sessions and answers of others are asked for, too"


async def test_an_answer_with_anothers_mark_is_counted(tmp_path: Path) -> None:
    async def leak(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b"this is of zq05z"})  # type: ignore[operator]

    load = persons.Load([leak], None, [persons.Who(number) for number in range(20)], seed=1)  # type: ignore[arg-type, list-item]
    await load.ask(load.persons[4], 0, "GET", "/api/tools")
    await load.ask(load.persons[5], 0, "GET", "/api/tools")
    assert load.counts == {"foreign": 1, "own": 1}
