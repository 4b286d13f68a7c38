"""Issue 20, lines 2 and 3 on PostgreSQL: its catalogue as documents, EXPLAIN, roles that read later tables too."""

from __future__ import annotations

import json
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from naru.builtins.data.databases.catalogue import documents_of
from naru.builtins.data.databases.errors import QueryError, RefusedStatementError
from naru.builtins.data.databases.gather import quoted, quoted_table
from naru.builtins.data.databases.open import open_database
from naru.builtins.data.databases.postgresql import configured
from naru.builtins.data.demo.reader import reader_sql
from naru.config import DataSettings
from tests.builtins.data.conftest import postgres_versions
from tests.builtins.data.servers import BgaServer

pytestmark = [pytest.mark.slow, pytest.mark.postgres, postgres_versions]

OTHER = """
CREATE SCHEMA IF NOT EXISTS sales;
CREATE TABLE IF NOT EXISTS sales.customer (id int PRIMARY KEY, name text, kind text);
CREATE TABLE IF NOT EXISTS sales.orders (
  id int PRIMARY KEY, customer_id int REFERENCES sales.customer, "Amount" numeric);
COMMENT ON TABLE sales.orders IS '주문';
COMMENT ON COLUMN sales.orders."Amount" IS '금액';
DELETE FROM sales.orders; DELETE FROM sales.customer;
INSERT INTO sales.customer VALUES (1, 'Kim', 'gold'), (2, 'Lee', 'gold');
INSERT INTO sales.orders VALUES (1, 1, 10.5);
"""


def settings_of(bga: BgaServer, user: str) -> DataSettings:
    found = bga.parameters(user)
    return DataSettings(
        postgresql_db_host=found["host"],
        postgresql_db_port=int(found.get("port", 5432)),
        postgresql_db_name=found["dbname"],
        postgresql_db_user=user,
        naru_database_url="",
        _env_file=None,
    )


@pytest.fixture
def reader(bga: BgaServer):
    """A role made by what `naru data reader-sql --schema sales` prints, and a table made after it."""
    bga.admin.execute(OTHER.encode())
    script = reader_sql("postgres", role="sales_reader", schemas=["sales"])
    # Its database-wide line would change what the other tests of this server see.
    kept = [line for line in script.splitlines() if not line.startswith(("REVOKE TEMPORARY", "--"))]
    bga.admin.execute("\n".join(kept).encode())
    bga.admin.execute("CREATE TABLE sales.later (id int)")
    yield "sales_reader"
    bga.admin.execute("DROP SCHEMA sales CASCADE; DROP OWNED BY sales_reader; DROP ROLE sales_reader")


async def test_the_catalogue_is_what_the_role_may_read_in_every_schema(bga: BgaServer, reader: str):
    database = open_database(settings_of(bga, reader))
    catalogue = await database.catalogue()
    assert [table.name for table in catalogue.tables] == ["sales.customer", "sales.later", "sales.orders"]
    texts = {document.id: document.text for document in documents_of(catalogue, "bga")}
    assert texts["sales.orders.Amount"] == "sales.orders.Amount (numeric): 금액; of 주문"
    assert texts["sales.orders.customer_id"].endswith("refers to sales.customer.id")
    assert texts["sales.customer.kind"].endswith("values: gold")
    assert (await database.query("SELECT count(*) AS n FROM sales.later")).records == [{"n": 0}]
    with (
        psycopg.connect(make_conninfo(**bga.parameters(reader)), autocommit=True) as connection,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
    ):
        connection.execute("DELETE FROM sales.later")
    await database.close()


async def test_an_enum_and_a_domain_are_told_by_what_they_are_and_with_their_values(bga: BgaServer, reader: str):
    bga.admin.execute(
        "CREATE TYPE sales.grade AS ENUM ('사원', '대리'); CREATE DOMAIN sales.code AS varchar(8);"
        "ALTER TABLE sales.customer ADD grade sales.grade, ADD code sales.code;"
        "UPDATE sales.customer SET grade = '대리', code = 'K1' WHERE id = 1;"
        "UPDATE sales.customer SET grade = '사원' WHERE id = 2"
    )
    database = open_database(settings_of(bga, reader))
    texts = {document.id: document.text for document in documents_of(await database.catalogue(), "bga")}
    assert texts["sales.customer.grade"] == "sales.customer.grade (sales.grade enum); values: 사원, 대리"
    assert texts["sales.customer.code"] == "sales.customer.code (sales.code character varying(8)); values: K1"
    await database.close()


async def test_the_catalogue_names_tables_as_the_role_may_ask_them(bga: BgaServer, reader: str):
    """By its columns, its schemas and its search path; a name that has dots of its own costs nothing."""
    bga.admin.execute(
        'CREATE SCHEMA "sales.old"; CREATE TABLE "sales.old"."2024.q1" ("a.b" text, id int PRIMARY KEY);'
        """INSERT INTO "sales.old"."2024.q1" VALUES ('x', 1);"""
        "CREATE TABLE sales.staff (id int PRIMARY KEY, name text, salary int);"
        "CREATE TABLE sales.bga_lot (id int, day date, name text, PRIMARY KEY (id, day) INCLUDE (name))"
        " PARTITION BY RANGE (day);"
        "CREATE TABLE sales.lot_2024 PARTITION OF sales.bga_lot FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');"
        "CREATE TABLE sales.step (id int, day date, FOREIGN KEY (id, day) REFERENCES sales.bga_lot (id, day));"
        f'GRANT USAGE ON SCHEMA "sales.old" TO {reader}; GRANT SELECT ON "sales.old"."2024.q1", sales.step TO {reader};'
        f"REVOKE ALL ON sales.staff FROM {reader}; GRANT SELECT (id, name) ON sales.staff TO {reader};"
        f"GRANT SELECT ON bga_lot TO {reader}; CREATE SCHEMA shut; CREATE TABLE shut.t (a int);"
        f"GRANT SELECT ON shut.t TO {reader}; ALTER ROLE {reader} SET search_path = sales, public"
    )
    database = open_database(settings_of(bga, reader))
    try:
        catalogue = await database.catalogue()
        found = {table.name: table for table in catalogue.tables}
        assert {"bga_lot", "public.bga_lot", "customer", '"sales.old"."2024.q1"'} <= found.keys()
        assert not {"shut.t", "lot_2024"} & found.keys()
        assert [column.name for column in found["staff"].columns] == ["id", "name"]
        assert [column.name for column in found["bga_lot"].columns if column.is_key] == ["id", "day"]
        assert [one.table for one in found["step"].references] == ["bga_lot"]
        old = found['"sales.old"."2024.q1"']
        assert old.columns[0].values == ("x",)
        for name, table in found.items():
            (column, *_) = table.columns
            await database.query(f"""SELECT {quoted(column.name, '"')} FROM {quoted_table(name, '"')} LIMIT 1""")
    finally:
        await database.close()
        bga.admin.execute(f'DROP SCHEMA "sales.old", shut CASCADE; REVOKE ALL ON bga_lot FROM {reader}')


async def test_a_catalogue_that_is_too_large_is_cut_and_the_cut_is_told(
    bga: BgaServer, reader: str, monkeypatch: pytest.MonkeyPatch
):
    limits = replace(configured._CATALOGUE_LIMITS, rows=2)
    monkeypatch.setattr(configured, "_CATALOGUE_LIMITS", limits)
    database = open_database(settings_of(bga, reader))
    assert len(documents_of(await database.catalogue(), "bga")) == 2
    told = "only the first 2 columns are read; let the role read fewer tables"
    assert told in (await database.check()).warnings
    await database.close()


async def test_explain_of_an_allowed_statement_gives_the_plan_and_runs_nothing(bga: BgaServer):
    database = open_database(settings_of(bga, "bga_reader"))
    result = await database.query("EXPLAIN SELECT pg_catalog.length('x')")
    assert result.columns == [{"name": "QUERY PLAN", "type": "text"}]
    assert result.records[0]["QUERY PLAN"].startswith("Result")
    (row,) = (await database.query("EXPLAIN (VERBOSE, FORMAT JSON, COSTS off) SELECT lot_id FROM bga_lot")).records
    assert json.loads(row["QUERY PLAN"])[0]["Plan"]["Output"] == ["lot_id"]
    for refused in ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN SELECT pg_sleep(5)", "EXPLAIN DELETE FROM pg_class"):
        with pytest.raises(RefusedStatementError):
            await database.query(refused)
    with pytest.raises(RefusedStatementError, match="EXPLAIN is not run with ANALYZE"):
        await database.query("EXPLAIN (VERBOSE, ANALYZE false) SELECT 1")
    with pytest.raises(QueryError, match="at character 31"):
        await database.query("EXPLAIN VERBOSE SELECT 1 FROM none")
    await database.close()
