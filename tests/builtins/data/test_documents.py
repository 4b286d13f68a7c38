"""`naru data index`: files in every form that people keep their catalogues in (N23)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from naru.builtins.data.demo.reader import reader_sql
from naru.builtins.data.documents.document import Reading
from naru.builtins.data.documents.files import read_documents
from naru.cli.data.command import app
from naru.errors import ConfigError
from tests.builtins.data.servers import CASES

WANTED = {"a.b": "a.b: 수율", "c": "c: price"}


def as_map(reading: Reading) -> dict[str, str]:
    """Give the documents as id → text."""
    return {document.id: document.text for document in reading.documents}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", json.dumps({"a.b": "수율", "c": "price"})),
        ("x.json", json.dumps([{"id": "a.b", "text": "수율"}, {"name": "c", "description": "price"}])),
        ("x.json", json.dumps({"cols": [{"id": "a.b", "text": "a.b: 수율"}, {"column": "c", "content": "price"}]})),
        ("x.jsonl", '{"id": "a.b", "document": "수율"}\n\n{"id": "c", "text": "price"}\n'),
        ("x.csv", "\ufeffid,text\na.b,수율\nc,price\n"),
        ("x.tsv", "Name\tDescription\na.b\t수율\nc\tprice\n"),
    ],
)
def test_a_catalogue_is_read_as_id_and_text(name: str, text: str, tmp_path: Path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert as_map(read_documents(tmp_path / name)) == WANTED


def test_plain_lines_and_lists_of_texts_are_documents_too(tmp_path: Path):
    (tmp_path / "x.txt").write_text("one\n\n two \n", encoding="utf-8")
    assert as_map(read_documents(tmp_path / "x.txt")) == {"x.txt#1": "one", "x.txt#3": "two"}
    (tmp_path / "x.json").write_text('["one", "two"]', encoding="utf-8")
    assert list(as_map(read_documents(tmp_path / "x.json")).values()) == ["one", "two"]


def test_a_folder_is_all_its_files_and_no_file_takes_anothers_place(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "a.txt").write_text("one", encoding="utf-8")
    (tmp_path / "in" / "b.md").write_text("two", encoding="utf-8")
    (tmp_path / "c.json").write_text('{"c": "price"}', encoding="utf-8")
    (tmp_path / "d.bin").write_bytes(b"\xff\xfe")
    reading = read_documents(tmp_path)
    assert as_map(reading) == {"a.txt#1": "one", "c": "c: price", "in/b.md#1": "two"}
    assert [(one.source, one.reason) for one in reading.refused] == [("d.bin", "no reader for .bin")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="holds no documents"):
        read_documents(tmp_path / "empty")


@pytest.mark.parametrize(("name", "text"), [("x.json", "{"), ("x.json", "{}"), ("x.txt", ""), ("x.jsonl", "nope")])
def test_a_file_without_documents_is_told(name: str, text: str, tmp_path: Path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="x"):
        read_documents(tmp_path / name)
    with pytest.raises(ConfigError, match=r"none\.json: cannot read it"):
        read_documents(tmp_path / "none.json")


def test_index_and_search_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("TEXT_EMBEDDING_MODEL_URL", "CHROMADB_HOST", "POSTGRESQL_DB_HOST", "POSTGRESQL_DB_NAME"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("NARU_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("naru.builtins.data.embeddings.choose.TwoEncoders.is_installed", lambda: False)
    monkeypatch.setattr("naru.builtins.data.embeddings.choose.SentenceEncoder.is_installed", lambda: False)
    runner = CliRunner()
    indexed = runner.invoke(app, ["index", str(CASES / "columns.json")])
    assert indexed.exit_code == 0, indexed.output
    assert "Indexing" not in indexed.stderr, "no progress bar where nobody watches"
    assert "64 documents in collection column_metadata (lexical only" in indexed.output
    assert "columns.json#queries.1: left out" in indexed.stderr
    found = runner.invoke(app, ["search", "남은 연차 일수", "-n", "1"])
    assert re.fullmatch(
        r"[01]\.\d\d  vacations.days_left: 남은 연차 일수  \[columns.json#cols.\d+\]", found.output.strip()
    )
    replaced = runner.invoke(app, ["index", str(CASES / "columns.json"), "--replace"])
    assert "64 documents" in replaced.output


def test_the_reading_roles_sql_quotes_what_it_is_given():
    text = reader_sql('my "db"', role="r'x", password="it's")
    assert 'CREATE ROLE "r\'x" LOGIN' in text
    assert "PASSWORD 'it''s'" in text
    assert 'DATABASE "my ""db"""' in text
    printed = CliRunner().invoke(app, ["reader-sql", "--database", "bga"])
    assert "GRANT SELECT ON ALL TABLES IN SCHEMA public" in printed.output
