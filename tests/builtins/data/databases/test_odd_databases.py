"""Issue 20, line 2: databases as people have them. What cannot be read is named, and no two share a collection."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from naru.builtins.data.databases.catalogue import documents_of
from naru.builtins.data.databases.open import engine_of, open_database, path_of
from naru.builtins.data.embeddings.ngrams import NgramEmbedder
from naru.builtins.data.sources import DataSources
from naru.config import DataSettings
from naru.errors import ConfigError

ODD = """
CREATE TABLE lot (id INTEGER PRIMARY KEY);
CREATE TABLE ball (lot INTEGER REFERENCES lot, box INTEGER REFERENCES box);
CREATE VIEW gone AS SELECT a FROM missing;
"""


def sqlite_at(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    database.executescript(script)
    database.close()
    return path


def settings(url: str, folder: Path) -> DataSettings:
    return DataSettings(naru_database_url=url, naru_data_dir=folder, _env_file=None)


async def test_a_broken_view_and_a_key_to_nothing_are_passed_over_and_the_view_is_named(tmp_path: Path):
    database = open_database(settings(str(sqlite_at(tmp_path / "odd.db", ODD)), tmp_path))
    texts = [one.text for one in documents_of(await database.catalogue(), "odd")]
    assert sorted(texts) == [
        "ball.box (integer)",
        "ball.lot (integer); refers to lot.id",
        "lot.id (integer); primary key",
    ]
    assert list((await database.check()).warnings) == ["gone is left out: no such table: main.missing"]
    await database.close()


@pytest.mark.parametrize("name", ["my lots.db", "50%20.db", "plain"])
async def test_a_file_is_found_whatever_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = sqlite_at(tmp_path / name, ODD)
    monkeypatch.chdir(tmp_path)
    for url in (name, str(path), f"sqlite:///{name}", f"sqlite:///{path}"):
        assert engine_of(url) == "sqlite"
        assert path_of(url).absolute() == path
    assert path_of(path.as_uri().replace("file://", "sqlite:///")).absolute() == path


@pytest.mark.parametrize(
    "url", ["mysql://me:s#cret@host/db", "mysql://me:s[cret@host/db", "postgresql://me:s[cret@h/d"]
)
def test_a_url_whose_password_is_not_coded_is_told_without_it(url: str, tmp_path: Path):
    with pytest.raises(ConfigError, match="%-codes") as told:
        open_database(settings(url, tmp_path))
    assert "cret" not in str(told.value)


@pytest.mark.parametrize(
    ("one", "other"), [("a/mes.db", "b/mes.db"), ("생산.db", "영업.db"), ("my lots.db", "my-lots.db")]
)
async def test_each_database_has_a_collection_of_its_own(one: str, other: str, tmp_path: Path):
    found = []
    for name in (one, other):
        sources = DataSources(
            settings(str(sqlite_at(tmp_path / name, f'CREATE TABLE "{name}" (id INTEGER)')), tmp_path)
        )
        sources.embedder = NgramEmbedder()
        assert await sources.columns.count() == 0
        async for _ in sources.index_database():
            pass
        found.append((await sources.find_columns("id", 5))[0][0])
        await sources.close()
    assert found == [one, other]
