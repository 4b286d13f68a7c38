"""Issue 20, line 3: a statement that passed DuckDB's judge could still write nothing in the folder that is asked."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

from naru.builtins.data.databases.open import open_database
from naru.config import DataSettings


def knows_landlock() -> bool:
    """Ask for the version, as `confined.py` does."""
    return sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) > 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not knows_landlock(), reason="needs Landlock: a Linux from 5.13 on that has it switched on"),
]
pytest.importorskip("duckdb", reason="install the extra `duckdb`")
PAST_THE_JUDGE = """
import asyncio, json, sys, tempfile
from pathlib import Path
from naru.builtins.data.databases.confined import write_only_in
tempfile.tempdir = sys.argv[2]
if sys.argv[3] == "confined":
    write_only_in(Path(sys.argv[2]))
import duckdb
from naru.builtins.data.databases.duckdb.database import DuckDatabase
from naru.config import DataSettings

async def main():
    database = DuckDatabase(DataSettings(naru_database_url=sys.argv[1], _env_file=None))
    told = {"": list((await database.check()).warnings)}
    for sql in json.loads(sys.stdin.read()):
        try:
            told[sql] = database._connection.cursor().execute(sql).fetchall()
        except duckdb.Error as error:
            told[sql] = type(error).__name__
    print(json.dumps(told, default=str))
    await database.close()

asyncio.run(main())
"""
READS = "SELECT sum(qty) FROM lots"
SPILLS = (
    "SELECT count(*) FROM (SELECT range::varchar || 'abcdefghijklmnopqrstuvwxyz' AS k, count(*) FROM range(9000000) "
    "GROUP BY 1)"
)
WRITES = (
    "COPY lots TO '{folder}/new.parquet' (FORMAT parquet)",
    "COPY lots TO '{folder}/parts' (PARTITION_BY lot_id)",
    "EXPORT DATABASE '{folder}/all'",
    "ATTACH '{folder}/new.duckdb' AS fresh",
    "WITH x AS (COPY lots TO '{folder}/new.csv') SELECT 1",
    "COPY (SELECT 'gone' AS a) TO '{folder}/lots.csv'",
    "COPY (SELECT 'gone' AS a) TO '{folder}/lots.csv' (USE_TMP_FILE false)",
)


def told_past_the_judge(folder: Path, spill: Path, how: str, *asked: str) -> dict[str, object]:
    statements = [sql.format(folder=folder) for sql in asked]
    done = subprocess.run(
        [sys.executable, "-c", PAST_THE_JUDGE, str(folder), str(spill), how],
        input=json.dumps(statements), capture_output=True, text=True, timeout=120, check=True, cwd=spill,
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_statement_past_the_judge_writes_nothing_in_the_folder(tmp_path: Path):
    folder, spill = tmp_path / "asked", tmp_path / "spill"
    folder.mkdir()
    spill.mkdir()
    (folder / "lots.csv").write_text("lot_id,qty\nL1,3\n", encoding="utf-8")
    told = told_past_the_judge(folder, spill, "confined", READS, SPILLS, *WRITES)
    assert (told.pop(""), told.pop(READS), told.pop(SPILLS)) == ([], [[3]], [[9_000_000]])
    assert len(told) == len(WRITES)
    assert all(isinstance(outcome, str) for outcome in told.values())
    assert [(file.name, file.read_text(encoding="utf-8")) for file in folder.iterdir()] == [
        ("lots.csv", "lot_id,qty\nL1,3\n")
    ]
    warning = f"{folder} may be written to; only the parser keeps a statement from that"
    assert told_past_the_judge(folder, spill, "free", *WRITES)[""] == [warning]
    assert (folder / "new.csv").exists()  # it is the system that held


async def test_the_folder_of_a_question_is_kept_so_and_nothing_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spill = tmp_path / "spill"
    spill.mkdir()
    (tmp_path / "asked").mkdir()
    (tmp_path / "asked" / "lots.csv").write_text("lot_id,qty\nL1,3\n", encoding="utf-8")
    monkeypatch.setattr("tempfile.tempdir", str(spill))
    monkeypatch.chdir(tmp_path)
    settings = {"naru_database_url": str(tmp_path / "asked"), "postgresql_db_statement_timeout_seconds": 60}
    database = open_database(DataSettings(**settings, _env_file=None))  # type: ignore[arg-type]
    assert (await database.check()).warnings == []
    assert (await database.query(SPILLS)).records == [{"count_star()": 9_000_000}]
    await database.close()
    assert list(spill.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked", "spill"]
