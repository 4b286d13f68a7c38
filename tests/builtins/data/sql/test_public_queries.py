"""People's own queries are never refused: every gold query of defog's sets runs, and the demo's forty questions."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from naru.builtins.data.databases.postgresql.database import Database, DatabaseOptions
from naru.builtins.data.demo.columns import COLUMNS
from naru.builtins.data.demo.postgres import DemoPostgres
from naru.builtins.data.demo.questions import QUESTIONS
from naru.errors import NaruError
from naru.stores.embedded_postgres import EmbeddedPostgres
from tests.builtins.data.servers import CASES

DEFOG = CASES / "defog"
_CHOICE = re.compile(r"\{([^{}]+)\}")


def gold_queries() -> Iterator[tuple[str, str]]:
    """Yield database and query: each alternative, with all optional columns (`{a, b}`) and with the first alone."""
    for path in sorted(DEFOG.glob("*_postgres.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for alternative in filter(str.strip, row["query"].split(";")):
                    choice = _CHOICE.search(alternative)
                    columns = [choice[1], choice[1].split(",")[0]] if choice else [""]
                    for wanted in columns:
                        yield row["db_name"], _CHOICE.sub(wanted, alternative).replace("{}", wanted).strip()


@pytest.fixture(scope="module")
def defog() -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres() as server:
        with psycopg.connect(server.dsn, autocommit=True) as admin:
            admin.execute("CREATE ROLE reader LOGIN; GRANT pg_read_all_data TO reader")
            for path in DEFOG.glob("*.sql"):
                admin.execute(f"CREATE DATABASE {path.stem}".encode())
        for path in DEFOG.glob("*.sql"):
            _load(server.dsn_for(path.stem), path)
        yield server


def _load(dsn: str, path: Path) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(path.read_text(encoding="utf-8").encode())


@pytest.mark.slow
@pytest.mark.postgres
async def test_every_public_gold_query_runs(defog: EmbeddedPostgres):
    queries: dict[str, list[str]] = {}
    for database, query in gold_queries():
        queries.setdefault(database, []).append(query)
    assert sum(map(len, queries.values())) >= 361
    failed = []
    for name, texts in queries.items():

        async def parameters(name: str = name) -> dict[str, str]:
            return {key: str(value) for key, value in conninfo_to_dict(defog.dsn_for(name, user="reader")).items()}

        database = Database(parameters, DatabaseOptions(pool_min=1, pool_max=1))
        for text in texts:
            try:
                await database.query(text)
            except NaruError as error:
                failed.append((name, text, str(error)))
        await database.close()
    assert not failed


@pytest.mark.slow
@pytest.mark.postgres
async def test_every_demo_question_has_an_answer_and_every_column_its_description():
    assert len(QUESTIONS) == 40
    assert sum(any("가" <= letter <= "힣" for letter in question.text) for question in QUESTIONS) >= 20
    demo = DemoPostgres()
    database = Database(demo.parameters, DatabaseOptions(pool_min=1, pool_max=1))
    try:
        for question in QUESTIONS:
            assert (await database.query(question.sql)).records, question.text
        described = await database.query(
            "SELECT c.table_name || '.' || c.column_name AS name, "
            "col_description(c.table_name::regclass, c.ordinal_position) AS text "
            "FROM information_schema.columns c WHERE c.table_schema = 'public'"
        )
        assert {row["name"]: row["text"] for row in described.records} == COLUMNS
        assert database.proof is not None
        assert database.proof.warnings == ()
    finally:
        await database.close()
        await demo.close()
