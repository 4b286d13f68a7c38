"""Issue 20, line 3: each engine's own attacks are refused and change nothing; what people ask is answered."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from naru.builtins.data.databases.catalogue import documents_of
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError, RefusedStatementError
from naru.builtins.data.databases.gather import quoted, text_literal
from naru.builtins.data.databases.open import open_database
from naru.config import DataSettings
from tests.builtins.data.databases.schema import MYSQL, duckdb_file, sqlite_file
from tests.builtins.data.mariadb import mariadb
from tests.builtins.data.servers import CASES

ENGINES = ("sqlite", "duckdb", "mysql")
STATEMENT_SECONDS = 1
pytestmark = pytest.mark.slow


def cases(engine: str, expect: str) -> list[dict[str, Any]]:
    lines = (CASES / f"sql_{engine}.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["expect"] == expect]


@dataclass
class Engine:
    """One database of the schema."""

    name: str
    url: str

    def settings(self, **more: Any) -> DataSettings:
        wanted = {"naru_database_url": self.url, "postgresql_db_statement_timeout_seconds": STATEMENT_SECONDS, **more}
        return DataSettings(**wanted, _env_file=None)

    def open(self) -> Database:
        return open_database(self.settings())


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Engine]]:
    """Make each engine's database once."""
    made: dict[str, Engine] = {}
    servers = mariadb(MYSQL)

    def get(name: str) -> Engine:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            if name == "mysql":
                pytest.importorskip("pymysql", reason="install the extra `mysql`")
                made[name] = Engine(name, servers.__enter__())
            elif name == "duckdb":
                pytest.importorskip("duckdb", reason="install the extra `duckdb`")
                made[name] = Engine(name, duckdb_file(folder))
            else:
                made[name] = Engine(name, sqlite_file(folder))
        return made[name]

    yield get
    if "mysql" in made:
        servers.__exit__(None, None, None)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, engines: Callable[[str], Engine]) -> Engine:
    return engines(request.param)


async def state(database: Database) -> str:
    """Hash what the tables hold."""
    rows = [(await database.query(f"SELECT * FROM {table} ORDER BY 1")).records for table in ("lot", "ball", "best")]
    return hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).hexdigest()


async def test_a_blank_before_its_bracket_makes_no_stored_function_of_a_servers_own(engines: Callable[[str], Engine]):
    database = engines("mysql").open()
    asked = "SELECT now () > '2020-01-01' AS is_own, now/**/() > '2020-01-01' AS too"  # the stored one returns 0
    assert (await database.query(asked)).records == [{"is_own": 1, "too": 1}]
    await database.close()


async def test_a_hundred_attacks_are_refused_and_nothing_changes(engine: Engine):
    attacks = cases(engine.name, "reject")
    assert len(attacks) >= 100
    # Some go on until they are stopped; none that gets through needs a hundredth of this.
    database = open_database(engine.settings(postgresql_db_statement_timeout_seconds=0.4))
    before = await state(database)
    mine, through = f"/tmp/naru_x{uuid4().hex}", []
    for case in attacks:
        try:
            await database.query(case["sql"].replace("/tmp/naru_x", mine))
        except (RefusedStatementError, QueryError):
            continue
        through.append(case)
    assert not through
    assert await state(database) == before
    assert not list(Path("/tmp").glob(f"{Path(mine).name}*"))
    await database.close()


async def test_a_text_of_a_question_is_read_as_it_is(engine: Engine):
    database = engine.open()
    for text in ("it's", 'a"\\', "\\' OR 1 = 1 -- ", "C:\\new", "%_"):
        asked = f"SELECT {text_literal(text, database.dialect)} AS found"
        assert (await database.query(asked)).records == [{"found": text}]
    await database.close()


async def test_sixty_legitimate_statements_are_answered(engine: Engine):
    legitimate = cases(engine.name, "allow")
    assert len(legitimate) >= 60
    database = open_database(engine.settings(postgresql_db_statement_timeout_seconds=30))
    refused = []
    for case in legitimate:
        try:
            await database.query(case["sql"])
        except (RefusedStatementError, QueryError) as error:
            refused.append((case["id"], case["sql"], str(error)))
    assert not refused
    await database.close()


async def test_a_plan_is_given_in_the_form_that_was_asked(engine: Engine):
    """Comments before it and in it are none of the statement's, however often they begin."""
    database = engine.open()
    asked = {"sqlite": "QUERY PLAN", "duckdb": "(FORMAT json)", "mysql": "FORMAT=JSON"}[engine.name]
    result = await database.query(f"/* a */ -- b\nEXPLAIN {asked} SELECT * FROM lot WHERE lot_id = 'L001'")
    assert "lot" in str(result.records[0])
    assert result.sql.startswith(f"EXPLAIN {asked} SELECT")
    start = time.monotonic()
    with pytest.raises(RefusedStatementError):
        await database.query("/**/" * 4_900 + "DELETE FROM lot")
    assert time.monotonic() - start < 30
    await database.close()


async def test_rows_and_bytes_are_cut_and_the_cut_is_told(engine: Engine):
    few = open_database(engine.settings(postgresql_db_max_rows=3))
    result = await few.query("SELECT lot_id FROM lot ORDER BY lot_id")
    assert ([row["lot_id"] for row in result.records], result.is_truncated) == (["L001", "L002", "L003"], True)
    await few.close()
    small = open_database(engine.settings(postgresql_db_max_bytes=1_024))
    result = await small.query("SELECT * FROM lot")
    assert 0 < len(result.records) < 20
    assert result.is_truncated
    await small.close()


async def test_values_keep_their_digits_and_columns_of_one_name_are_both_there(engine: Engine):
    database = engine.open()
    result = await database.query(
        "SELECT 9007199254740993 AS big, lot_id AS a, product AS a FROM lot ORDER BY 2 LIMIT 1"
    )
    assert result.records == [{"big": "9007199254740993", "a": "L001", "a_2": "B1"}]
    await database.close()


async def test_many_ask_at_once_and_a_cancelled_query_leaves_room(engine: Engine):
    database = open_database(engine.settings(postgresql_db_statement_timeout_seconds=30))
    endless = (
        "SELECT count(*) FROM lot a, lot b, lot c, lot d, lot e, lot f WHERE a.qty_in + b.qty_in + f.qty_in > c.qty_in"
    )
    await database.check()
    waiting = [asyncio.ensure_future(database.query(endless)) for _ in range(4)]
    await asyncio.wait(waiting, timeout=0.5)
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting, timeout=60)
    counted = await asyncio.gather(*(database.query("SELECT count(*) AS n FROM lot") for _ in range(8)))
    assert [result.records for result in counted] == [[{"n": 60}]] * 8
    await database.close()


async def test_the_catalogue_tells_columns_types_comments_keys_and_values(engine: Engine):
    database = engine.open()
    catalogue = await database.catalogue()
    lot, ball = catalogue.table("lot"), catalogue.table("ball")
    assert lot is not None
    assert ball is not None
    assert catalogue.table("s") is None, "a sequence is no table, though MariaDB lists it as one"
    assert [column.name for column in lot.columns][-1] == "비고"
    key = lot.column("lot_id")
    assert key is not None
    assert key.is_key
    assert [(list(one.columns), one.table, list(one.other_columns)) for one in ball.references] == [
        (["lot_id"], "lot", ["lot_id"])
    ]
    texts = {document.id: document.text for document in documents_of(catalogue, "bga")}
    assert texts["lot.customer"].endswith("values: A, B, C")
    assert "refers to lot.lot_id" in texts["ball.lot_id"]
    if engine.name != "sqlite":  # which keeps no comments
        assert "투입 수량" in texts["lot.qty_in"]
    assert (await database.catalogue(values=False)).table("lot").column("customer").values == ()  # type: ignore[union-attr]
    checked = await database.check()
    assert checked.refused >= 8
    await database.close()


async def test_a_folder_of_files_is_asked_as_tables(tmp_path: Path):
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    (tmp_path / "lots.csv").write_text("lot_id,qty\nL1,3\nL2,4\n", encoding="utf-8")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "balls.csv").write_text("ball_id,lot_id\n1,L1\n", encoding="utf-8")
    database = open_database(DataSettings(naru_database_url=str(tmp_path), _env_file=None))
    result = await database.query("SELECT sum(qty) AS n FROM lots JOIN more_balls USING (lot_id)")
    assert result.records == [{"n": 3}]
    with pytest.raises(RefusedStatementError):
        await database.query(f"SELECT * FROM read_csv('{tmp_path / 'lots.csv'}')")
    await database.close()


WRITING = (
    "WITH x AS (COPY (SELECT 'gone' AS a) TO '{folder}/lots.csv') SELECT 1",
    "WITH x AS MATERIALIZED (COPY lots TO '{folder}/new.parquet' (FORMAT parquet)) FROM x",
    "WITH x AS (SELECT 1), y AS (COPY lots TO '{folder}/new.csv') SELECT * FROM x",
    "EXPLAIN WITH x AS (COPY lots TO '{folder}/new.csv') SELECT 1",
    "WITH x AS (INSERT INTO lots VALUES ('L2', 4) RETURNING *) FROM x",
    "WITH x AS (UPDATE lots SET qty = 0) SELECT 1",
    "WITH x AS (DELETE FROM lots RETURNING *) FROM x",
)


async def test_a_cte_writes_nothing_into_the_folder_that_the_engine_may_read(tmp_path: Path):
    """S-45: DuckDB 2 runs COPY, INSERT, UPDATE and DELETE in a CTE, and writes wherever it may read files."""
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    (tmp_path / "lots.csv").write_text("lot_id,qty\nL1,3\n", encoding="utf-8")
    database = open_database(DataSettings(naru_database_url=str(tmp_path), _env_file=None))
    only_reads = r"This tool only reads: (COPY|INSERT|UPDATE|DELETE) is no SELECT"
    for sql in WRITING:
        with pytest.raises(RefusedStatementError, match=only_reads):
            await database.query(sql.format(folder=tmp_path))
        assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [
            ("lots.csv", "lot_id,qty\nL1,3\n")
        ], sql
    assert (await database.query("WITH x AS (SELECT qty FROM lots) FROM x UNION ALL VALUES (4)")).records == [
        {"qty": 3},
        {"qty": 4},
    ]
    await database.close()


async def test_what_shows_tables_is_refused_with_the_select_that_tells_them(engine: Engine):
    database = engine.open()
    for sql in ("SHOW TABLES", "DESCRIBE lot", "PRAGMA table_info(lot)"):
        with pytest.raises(RefusedStatementError) as refused:
            await database.query(sql)
        asked = refused.value.remedy.partition("are told by: ")[2]
        assert "yield_pct" in str((await database.query(asked)).records)
    await database.close()


async def test_a_name_that_is_a_word_of_sql_is_quoted(engine: Engine):
    """As the statements of `naru data ask` write it: each of these is refused bare by one of the engines."""
    database = engine.open()
    mark = "`" if engine.name == "mysql" else '"'
    for word in ("usage", "change", "condition", "semi", "lambda", "regexp", "qualify", "order", "glob"):
        name = quoted(word, mark)
        found = await database.query(f"SELECT t.{name}, min({name}) AS n FROM (SELECT 1 AS {name}) t GROUP BY {name}")
        assert found.records == [{word: 1, "n": 1}]
    await database.close()


KEPT = ("lots.csv", "we'ird.csv", "semi.csv", "order.csv", "a.b.c.csv")


@pytest.mark.parametrize("name", ["lots.csv", "로트.tsv"])
async def test_a_file_that_is_one_table_is_asked_by_itself(name: str, tmp_path: Path):
    """What Korean Excel saves is in CP949, which the engine does not read: it is copied for it, the file stays."""
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    rows = "\n".join(["로트\t수량", *(f"L{number}\t{number}" for number in range(5))]).encode("cp949")
    (tmp_path / name).write_bytes(rows)
    (tmp_path / "beside.csv").write_text("a\nsecret\n", encoding="utf-8")
    database = open_database(DataSettings(naru_database_url=str(tmp_path / name), _env_file=None))
    table = Path(name).stem
    assert (await database.query(f'SELECT sum("수량") AS n FROM "{table}"')).records == [{"n": 10}]
    assert {table.name for table in (await database.catalogue()).tables} == {table}
    with pytest.raises(RefusedStatementError):
        await database.query(f"SELECT * FROM '{tmp_path / 'beside.csv'}'")
    assert (tmp_path / name).read_bytes() == rows
    await database.close()


async def test_a_folder_with_broken_files_is_asked_without_them_and_names_them(tmp_path: Path):
    """Issue 20, line 2: one file that cannot be read does not take the others' place."""
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    (tmp_path / "lots.csv").write_text("lot_id;qty\nL1;3\n", encoding="utf-8")
    (tmp_path / "korean.csv").write_bytes("로트,수량\nL1,3\n".encode("cp949"))
    (tmp_path / "japanese.csv").write_bytes("注文,金額（税込）\n合計,3\n".encode("shift_jis"))
    (tmp_path / "russian.csv").write_bytes("заказ,сумма\nвсего,3\n".encode("cp1251"))
    (tmp_path / "bad.parquet").write_text("no", encoding="utf-8")
    (tmp_path / "bad.json").write_text('{"a":', encoding="utf-8")
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe.csv")
    for name in KEPT[1:]:
        (tmp_path / name).write_text("a,b\n1,2\n", encoding="utf-8")
    settings = DataSettings(naru_database_url=str(tmp_path), _env_file=None)
    database = open_database(settings)
    assert (await database.query("SELECT qty FROM lots")).records == [{"qty": 3}]
    for view in ('"we\'ird"', '"semi"', '"order"', "a_b_c"):
        assert (await database.query(f"SELECT b FROM {view}")).records == [{"b": 2}]
    told = {document.id for document in documents_of(await database.catalogue(), "folder")}
    assert (await database.query('SELECT "수량" AS n FROM korean')).records == [{"n": 3}]
    assert {"lots.qty", "we'ird.b", "semi.b", "order.b", "a_b_c.b"} <= told
    assert (await database.query('SELECT "注文" AS n FROM japanese')).records == [{"n": "合計"}]
    warnings = (await database.check()).warnings
    left_out = {told.split(" is left out: ")[0] for told in warnings if "left out" in told}
    assert left_out == {"russian.csv", "bad.parquet", "bad.json", "gone.csv", "pipe.csv"}
    assert "japanese.csv is read as CP932, which it does not say" in warnings
    await database.close()
    for name in (*KEPT, "korean.csv", "japanese.csv"):
        (tmp_path / name).unlink()
    database = open_database(settings)
    with pytest.raises(DatabaseUnavailableError, match=r"no CSV, Parquet or JSON files .*bad\.json is left out"):
        await database.check()
    await database.close()


async def test_a_folder_of_parquet_files_gives_the_rows_that_were_put_in(tmp_path: Path):
    """Issue 20, line 2 and the forms of line 1: rows in and out; a column of dates, of decimals, of nothing known."""
    duckdb = pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    made = duckdb.connect()
    rows = "SELECT i AS lot_id, 'L' || i AS \"로트\", DATE '2026-01-01' + i::INT AS day, (i / 8)::DECIMAL(9, 3) AS pct"
    for name, first, last in (("lots", 0, 700), ("more/lots", 700, 900), ("none", 0, 0)):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        source = f"{rows}, NULLIF(i % 3, 0) AS grade FROM range({first}, {last}) r(i)"
        made.execute(f"COPY ({source}) TO '{path}' (FORMAT parquet)")
    made.close()
    (tmp_path / "names.csv").write_text("lot_id,name\n1,하나\n2,둘\n", encoding="utf-8")
    database = open_database(DataSettings(naru_database_url=str(tmp_path), _env_file=None))
    counted = "SELECT count(*) AS n, count(DISTINCT lot_id) AS ids, count(grade) AS graded, max(pct) AS pct FROM "
    assert (await database.query(counted + "lots")).records == [{"n": 700, "ids": 700, "graded": 466, "pct": 87.375}]
    assert (await database.query(counted + "more_lots")).records[0]["n"] == 200
    assert (await database.query(counted + '"none"')).records[0]["n"] == 0
    joined = await database.query('SELECT "로트", name, day FROM lots JOIN names USING (lot_id) ORDER BY lot_id')
    assert joined.records == [
        {"로트": "L1", "name": "하나", "day": "2026-01-02"},
        {"로트": "L2", "name": "둘", "day": "2026-01-03"},
    ]
    texts = {document.id for document in documents_of(await database.catalogue(), "folder")}
    assert {"lots.로트", "more_lots.pct", "none.grade", "names.name"} <= texts
    await database.close()


PIVOTS = (
    "PIVOT lot ON customer USING sum(qty_in)",
    "FROM (PIVOT lot ON customer USING sum(qty_in) GROUP BY product)",
    "WITH p AS (PIVOT lot ON customer, product USING count(*)) SELECT * FROM p",
)


async def test_what_mysql_cuts_with_a_warning_alone_is_an_error(engines: Callable[[str], Engine]):
    """A count of a recursion that was stopped, or NULL for a long text, would be taken for the answer."""
    database = engines("mysql").open()
    steps = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {}) SELECT COUNT(*) AS n FROM t"
    assert (await database.query(steps.format(900))).records == [{"n": 900}]
    for sql in (steps.format(5_000), "SELECT LENGTH(LPAD('', 1000000000, 'x'))"):
        with pytest.raises(QueryError, match="cut the answer short"):
            await database.query(sql)
    many = "SELECT LENGTH(GROUP_CONCAT(REPEAT(a.lot_id, 10) SEPARATOR '')) AS n FROM lot a"
    assert (await database.query(many)).records == [{"n": 2_400}]
    await database.close()


async def test_a_time_of_mysql_is_told_in_hours_that_have_passed(engines: Callable[[str], Engine]):
    database = engines("mysql").open()
    result = await database.query(
        "SELECT TIMEDIFF('10:00', '12:30') AS t, SEC_TO_TIME(100000) AS s, TIME '08:00:00.5' AS d"
    )
    assert result.records == [{"t": "-02:30:00", "s": "27:46:40", "d": "08:00:00.5"}]
    await database.close()


async def test_a_column_of_mysql_is_of_the_type_that_people_write(engines: Callable[[str], Engine]):
    database = engines("mysql").open()
    result = await database.query(
        "SELECT b.*, l.lot_id, l.qty_in, l.yield_pct FROM kinds b JOIN lot l ORDER BY 5 LIMIT 1"
    )
    assert [column["type"] for column in result.columns] == [
        "bit",
        "text",
        "blob",
        "bigint",
        "varchar",
        "int",
        "decimal",
    ]
    assert list(result.records[0].values())[:4] == [1, "글", "\\x00", "9223372036854775807"]
    await database.close()


async def test_a_pivot_without_its_values_says_how_to_write_it(engines: Callable[[str], Engine]):
    """The engine makes a type first and then the SELECT: not one statement."""
    database = engines("duckdb").open()
    for sql in PIVOTS:
        with pytest.raises(RefusedStatementError, match="PIVOT without its values") as refused:
            await database.query(sql)
        assert "IN ('A', 'B')" in refused.value.remedy, sql
    named = await database.query("PIVOT lot ON customer IN ('A', 'B') USING sum(qty_in) GROUP BY product")
    assert len(named.records) == 5
    await database.close()
