"""The published cases on real servers: every verdict right, nothing changed (S-45, N16)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.postgresql.database import Database, DatabaseOptions
from naru.errors import NaruError
from tests.builtins.data.conftest import postgres_versions
from tests.builtins.data.servers import CASES, BgaServer
from tests.waiting import HANG_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.asyncio(loop_scope="module"), postgres_versions]

SQL_CASES = [
    json.loads(line)
    for name in ("sql", "sql_postgresql")
    for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def databases(bga: BgaServer) -> AsyncIterator[dict[str, Database]]:
    """One for each verdict: what may run has the time that it needs, what only a limit ends is ended soon."""
    seconds = {"allow": HANG_SECONDS, "reject": 0.5}
    options = {
        name: DatabaseOptions(limits=Limits(statement_seconds=most), pool_min=1) for name, most in seconds.items()
    }
    made = {name: bga.database(each) for name, each in options.items()}
    yield made
    for database in made.values():
        await database.close()


@pytest.fixture(scope="module")
def untouched(bga: BgaServer) -> str:
    """What the server is before the first case: the last one leaves it so, too."""
    return bga.fingerprint()


@pytest.mark.parametrize("case", SQL_CASES, ids=[case["id"] for case in SQL_CASES])
async def test_every_case_gets_its_verdict_and_changes_nothing(
    case, bga: BgaServer, databases: dict[str, Database], untouched: str
):
    try:
        await asyncio.wait_for(databases[case["expect"]].query(case["sql"]), 2 * HANG_SECONDS)
        verdict = "allow"
    except NaruError:
        verdict = "reject"
    assert verdict == case["expect"]
    assert bga.fingerprint() == untouched
