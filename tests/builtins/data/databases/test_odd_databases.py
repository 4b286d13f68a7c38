"""Issue 20, line 2: databases as people have them. What cannot be read is named, and no two share a collection."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

from naru.builtins.data.asking.ask import schema_text
from naru.builtins.data.asking.scope import Scope
from naru.builtins.data.databases.catalogue import documents_of, joined_name
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError, RefusedStatementError
from naru.builtins.data.databases.open import engine_of, open_database, own_label_of, path_of
from naru.builtins.data.embeddings.ngrams import NgramEmbedder
from naru.builtins.data.sources import DataSources
from naru.config import DataSettings
from naru.errors import ConfigError

pytestmark = pytest.mark.slow  # each database is a process of its own

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


async def test_names_with_dots_quotes_and_signs_of_paths_are_asked_as_they_are(tmp_path: Path):
    """A heading such as `sepal.length` is one name; a name that looks like a path is a table, if there is one."""
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    odd = 'CREATE TABLE "a.b.c" ("x.y" TEXT, "q""z" TEXT); INSERT INTO "a.b.c" VALUES (\'v\', \'w\')'
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "re:port*.csv").write_text("sepal.length,kind\n5.1,setosa\n", encoding="utf-8")
    wanted = {
        str(sqlite_at(tmp_path / "odd.db", odd)): ('CREATE TABLE "a.b.c" (', '  "x.y" text, --  (values: v)', "v"),
        str(tmp_path / "files"): ('CREATE TABLE "re:port*" (', '  "sepal.length" double,', "5.1"),
    }
    for url, (table, column, value) in wanted.items():
        sources = DataSources(settings(url, tmp_path))
        catalogue = await sources.catalogue()
        told = schema_text(Scope(catalogue.tables, [], []), sources.database.dialect)
        assert told.startswith(table)
        assert column in told.splitlines()
        asked = told.split('"')  # the names as they are told
        (row,) = (await sources.database.query(f'SELECT "{asked[3]}" AS v FROM "{asked[1]}"')).records
        assert str(row["v"]) == value
        await sources.close()


async def test_a_file_that_another_program_writes_to_is_told_as_busy(tmp_path: Path):
    path = sqlite_at(tmp_path / "odd.db", ODD)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    database = open_database(settings(str(path), tmp_path))
    with pytest.raises(DatabaseUnavailableError, match=r"locked\. Another program is writing to it; ask again"):
        await database.query("SELECT 1")
    writer.close()
    assert (await database.query("SELECT 1 AS one")).records == [{"one": 1}]
    await database.close()


async def test_a_duckdb_view_that_no_reader_can_ask_is_named(tmp_path: Path):
    duckdb = pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    (tmp_path / "lots.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "odd.duckdb")) as made:
        made.execute("CREATE TABLE gone (a INT); CREATE VIEW broken AS SELECT a FROM gone; DROP TABLE gone")
        made.execute(f"CREATE VIEW outside AS SELECT * FROM read_csv('{tmp_path / 'lots.csv'}')")
        made.execute('CREATE SCHEMA "My S"; CREATE TABLE "My S"."Lots" ("Id" INT)')
        made.execute('CREATE VIEW "My S".fine AS SELECT * FROM "My S"."Lots"')
    database = open_database(settings(str(tmp_path / "odd.duckdb"), tmp_path))
    assert {one.id for one in documents_of(await database.catalogue(), "odd")} == {"My S.Lots.Id", "My S.fine.Id"}
    told = dict(one.split(" is left out: ") for one in (await database.check()).warnings)
    assert told.keys() == {"broken", "outside"}
    assert "gone does not exist" in told["broken"]
    await database.close()


async def test_files_whose_names_come_to_the_same_are_all_asked(tmp_path: Path):
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    for number, name in enumerate(("a/b_c.csv", "a/b/c.csv", "a_b/c.csv", "a_b_c.csv", "A_B_C.CSV", "a_b_c.json")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(
            f'{{"n": {number}}}' if name.endswith("json") else f"n\n{number}\n", encoding="utf-8"
        )
    database = open_database(settings(str(tmp_path), tmp_path))
    assert list((await database.check()).warnings) == []
    tables = [table.name for table in (await database.catalogue()).tables]
    found = [(await database.query(f'SELECT n FROM "{name}"')).records[0]["n"] for name in tables]
    assert sorted(found) == [0, 1, 2, 3, 4, 5]
    await database.close()


async def test_numbers_with_a_comma_are_numbers_where_semicolons_part_the_cells(tmp_path: Path):
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    german = "Ware;Preis;Version;Satz;Teile\nBrot;1.234,50;1.2.3;-0,5;1,2,3\nMilch;;10.0.1; 3;4,5\n"
    (tmp_path / "preise.csv").write_text(german, encoding="utf-8")
    (tmp_path / "latin.csv").write_bytes("Größe;Preis\nklein;1,5\n".encode("cp1252"))  # of which a copy is read
    (tmp_path / "prices.csv").write_text('item,price\nbread,"1,234"\n', encoding="utf-8")
    (tmp_path / "torn.csv").write_bytes(b'a;b\n1,5;x\n"2;y\n')
    database = open_database(settings(str(tmp_path), tmp_path))
    asked = "SELECT Preis, Version, Satz, Teile FROM preise ORDER BY Preis"
    assert (await database.query(asked)).records == [
        {"Preis": 1234.5, "Version": "1.2.3", "Satz": -0.5, "Teile": "1,2,3"},
        {"Preis": None, "Version": "10.0.1", "Satz": 3, "Teile": "4,5"},
    ]
    assert (await database.query("SELECT Größe, sum(Preis) AS p FROM latin GROUP BY ALL")).records == [
        {"Größe": "klein", "p": 1.5}
    ]
    assert (await database.query("SELECT price FROM prices")).records == [{"price": 1234}]
    await database.close()


async def test_values_are_told_of_what_is_compared_as_it_stands_and_not_of_what_holds_others(tmp_path: Path):
    duckdb = pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    with duckdb.connect(str(tmp_path / "nested.duckdb")) as made:
        made.execute(
            "CREATE TABLE t (word VARCHAR, kind ENUM ('[a]', 'b'), s STRUCT(a VARCHAR), m MAP(VARCHAR, INT), "
            "u UNION(num INT, str VARCHAR), l VARCHAR[]);"
            "INSERT INTO t VALUES ('x', 'b', {'a': 'y'}, MAP {'k': 1}, 'z', ['w'])"
        )
    database = open_database(settings(str(tmp_path / "nested.duckdb"), tmp_path))
    (table,) = (await database.catalogue()).tables
    told = {column.name: tuple(column.values) for column in table.columns}
    assert told == {"word": ("x",), "kind": ("b",), "s": (), "m": (), "u": (), "l": ()}
    assert (await database.query("SELECT s.a, m['k'] AS k, u, l FROM t")).records == [
        {"a": "y", "k": 1, "u": "z", "l": ["w"]}
    ]
    await database.close()


async def test_of_a_folder_every_table_is_asked_and_every_other_file_is_named(tmp_path: Path):
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    for name, text in {
        "a.csv": "x\n1\n",
        "b.jsonl": '{"x": 1}\n',
        "c.tab": "x\ty\n1\t2\n",
        "d.xlsx": "",
        "e": "",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(b"x\n1\n"))
    database = open_database(settings(str(tmp_path), tmp_path))
    for table in "abcf":
        assert (await database.query(f"SELECT x FROM {table}")).records == [{"x": 1}]
    assert list((await database.check()).warnings) == [
        "d.xlsx is left out: no reader for .xlsx; tables are read of CSV, JSON and Parquet files",
        "e is left out: no reader for a name without a suffix; tables are read of CSV, JSON and Parquet files",
    ]
    await database.close()


async def test_files_are_asked_as_they_are_now_and_not_as_they_were_when_they_were_opened(tmp_path: Path):
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    (tmp_path / "korean.csv").write_bytes("이름\n수율\n".encode("cp949"))
    (tmp_path / "lots.csv").write_text("a\n1\n", encoding="utf-8")
    database = open_database(settings(str(tmp_path), tmp_path))
    assert (await database.query("SELECT * FROM korean")).records == [{"이름": "수율"}]
    (tmp_path / "korean.csv").write_bytes("이름\n불량률\n".encode("cp949"))  # of which a copy is read
    assert (await database.query("SELECT * FROM korean")).records == [{"이름": "불량률"}]
    (tmp_path / "lots.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    (tmp_path / "more.csv").write_text("c\n5\n", encoding="utf-8")
    assert [table.name for table in (await database.catalogue()).tables] == ["korean", "lots", "more"]
    assert (await database.query("SELECT sum(b) AS n, max(c) AS c FROM lots, more")).records == [{"n": 6, "c": 5}]
    for file in tmp_path.iterdir():
        file.unlink()
    with pytest.raises(DatabaseUnavailableError, match="no CSV, Parquet or JSON files in"):
        await database.query("SELECT * FROM lots")
    (tmp_path / "lots.csv").write_text("a\n7\n", encoding="utf-8")
    assert (await database.query("SELECT * FROM lots")).records == [{"a": 7}]
    await database.close()


async def test_a_file_that_is_no_table_of_the_folder_is_not_read_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    (tmp_path / "lots.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / ".hidden.csv").write_text("a\n2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # where such a name is found
    database = open_database(settings(str(tmp_path), tmp_path))
    hidden = "is a file or called like one"
    told = {"'.hidden.csv'": hidden, '".hidden.csv"': hidden, "'lots.csv'": "whose table is lots[.]"}
    for file, words in told.items():
        with pytest.raises(RefusedStatementError, match=words):
            await database.query(f"SELECT a FROM {file}")
    with pytest.raises(QueryError, match=r"explicit type casts\. \(DuckDB\)$"):
        await database.query("SELECT sum('a' || a) FROM lots")
    assert (await database.query('WITH t AS (SELECT a FROM lots) SELECT "t".a FROM t')).records == [{"a": 1}]
    await database.close()


async def test_a_duckdb_file_whose_place_another_takes_is_asked_as_it_is_now(tmp_path: Path):
    """As those do who write a new one beside it and rename it; the engine would keep the old one open."""
    duckdb = pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    for day in (1, 2):
        with duckdb.connect(str(tmp_path / f"{day}.duckdb")) as made:
            made.execute(f"CREATE TABLE lot AS SELECT {day} AS day")
    (tmp_path / "1.duckdb").rename(tmp_path / "lots.duckdb")
    database = open_database(settings(str(tmp_path / "lots.duckdb"), tmp_path))
    assert (await database.query("SELECT day FROM lot")).records == [{"day": 1}]
    (tmp_path / "2.duckdb").replace(tmp_path / "lots.duckdb")
    assert (await database.query("SELECT day FROM lot")).records == [{"day": 2}]
    (tmp_path / "lots.duckdb").unlink()
    with pytest.raises(DatabaseUnavailableError, match="There is no DuckDB file"):
        await database.query("SELECT day FROM lot")
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


@pytest.mark.parametrize("url", ["oracle://me:s/cret@host/db", "oracle://me:s@cret@host/db"])
def test_a_url_of_no_engine_is_told_without_its_password(url: str, tmp_path: Path):
    with pytest.raises(ConfigError, match="'oracle://…@host/db' names no database") as told:
        open_database(settings(url, tmp_path))
    assert "cret" not in str(told.value)


@pytest.mark.parametrize("name", ["x" * 300, "~nobody-of-this-name/x"], ids=["a long name", "nobody's home"])
async def test_a_path_that_no_file_can_have_is_told(name: str, tmp_path: Path):
    with pytest.raises(ConfigError, match="names no database"):
        open_database(settings(name, tmp_path))
    for suffix in (".db", ".duckdb"):
        database = open_database(settings(f"{name}{suffix}", tmp_path))
        with pytest.raises(DatabaseUnavailableError):
            await database.query("SELECT 1")
        await database.close()


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
    assert found == [joined_name(one), joined_name(other)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mysql://u:p@localhost/mes?unix_socket=/run/a.sock", "mysql://u:p@localhost/mes?unix_socket=/run/b.sock"),
        ("mysql://u:p@localhost/mes?unix-socket=/run/a.sock", "mysql://u:p@localhost/mes"),
        ("postgresql:///mes?host=/run/a", "postgresql:///mes?host=/run/b"),
    ],
)
def test_servers_that_only_their_sockets_tell_apart_share_no_collection(one: str, other: str, tmp_path: Path):
    assert own_label_of(settings(one, tmp_path)) != own_label_of(settings(other, tmp_path))
    same = f"{one}&ssl-mode=required" if one.startswith("mysql") else one.replace("///", "//u:p@/")
    assert own_label_of(settings(one, tmp_path)) == own_label_of(settings(same, tmp_path))
