"""What engines' drivers for Python make less of is told whole all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.open import open_database
from tests.builtins.data.databases.test_odd_databases import settings, sqlite_at

pytestmark = pytest.mark.slow  # each database is a process of its own


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("INTERVAL 1 MONTH", "1 month"),
        ("TIMESTAMP '2024-01-02' - TIMESTAMP '2024-01-03'", "-1 day"),
        ("[INTERVAL 1 YEAR]", ["1 year"]),
        ("97.1::FLOAT", 97.1),
        ("{'a b': [0.1::FLOAT], 'i': INTERVAL 90 DAY}", {"a b": [0.1], "i": "90 days"}),
        ("MAP {true: 0.3::FLOAT}", {"true": 0.3}),
        ("MAP {'x'::BLOB: 1}", {"\\x78": 1}),
        ("'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS", "2024-01-01 00:00:00.123456789"),
        ("1.10::DECIMAL(6, 2)", 1.1),
        ("['infinity'::DATE, '9999-12-31', NULL]", ["infinity", "9999-12-31", None]),
        ("DATE '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("'-infinity'::TIMESTAMP", "-infinity"),
        ("'infinity'::TIMESTAMPTZ", "infinity"),
        ("'9999-12-31 23:59:59.999999'::TIMESTAMP", "9999-12-31T23:59:59.999999"),
        ("NULL::TIMESTAMP_MS", None),
        ("['infinity'::TIMESTAMP, '2024-01-02 03:04:05', NULL]", ["infinity", "2024-01-02T03:04:05", None]),
        ("{'a''b': {'t': ['-infinity'::TIMESTAMPTZ]}, 'n': 1}", {"a'b": {"t": ["-infinity"]}, "n": 1}),
        ("[NULL, {'t': 'infinity'::TIMESTAMP_S}]", [None, {"t": "infinity"}]),
        ("MAP {'infinity'::TIMESTAMP: [['infinity'::TIMESTAMP]]}", {"infinity": [["infinity"]]}),
        ("row('infinity'::TIMESTAMP, 0.1::FLOAT)", ["infinity", 0.1]),
        ("array_value('infinity'::TIMESTAMP, NULL)", ["infinity", None]),
    ],
)
async def test_a_value_of_duckdb_is_told_whole(expression: str, told: object, odd_duckdb: Database):
    result = await odd_duckdb.query(f"SELECT {expression} AS v, 1 AS n ORDER BY n; ")
    assert result.records == [{"v": told, "n": 1}]


@pytest.fixture
async def odd_duckdb(tmp_path: Path):
    """One with nothing in it."""
    duckdb = pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    duckdb.connect(str(tmp_path / "odd.duckdb")).close()
    database = open_database(settings(str(tmp_path / "odd.duckdb"), tmp_path))
    yield database
    await database.close()


async def test_a_text_in_another_encoding_costs_neither_its_row_nor_the_rest(tmp_path: Path):
    older = "CREATE TABLE staff (name TEXT, id INT); INSERT INTO staff VALUES (CAST(x'61B0A162' AS TEXT), 7)"
    database = open_database(settings(str(sqlite_at(tmp_path / "odd.db", older)), tmp_path))
    assert (await database.query("SELECT name, id FROM staff")).records == [{"name": "a\ufffd\ufffdb", "id": 7}]
    await database.close()
