"""Attacks that need an accomplice in the database: every way of calling a function without seeming to (S-45)."""

from __future__ import annotations

import pytest
import pytest_asyncio

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.errors import QueryError, RefusedStatementError
from naru.builtins.data.databases.postgresql.database import Database, DatabaseOptions
from tests.builtins.data.conftest import postgres_versions
from tests.builtins.data.servers import BgaServer
from tests.waiting import HANG_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.asyncio(loop_scope="module"), postgres_versions]

ACCOMPLICES = """
CREATE SCHEMA x; GRANT USAGE ON SCHEMA x TO bga_reader;
CREATE TYPE x.mood AS ENUM ('sad', 'ok');
CREATE TABLE x.moods (m x.mood, n int); INSERT INTO x.moods VALUES ('sad', 1); GRANT SELECT ON x.moods TO bga_reader;
CREATE FUNCTION x.plain() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION public."a.b"() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION public.삭제() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION public.{long}() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION public.twice(int, int DEFAULT 2) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1 * $2; END';
CREATE FUNCTION public.many(VARIADIC int[]) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION public.definer() RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT 1';
CREATE FUNCTION public.bump(int, int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE AGGREGATE public.evil_sum(int) (sfunc = public.bump, stype = int, initcond = '0');
CREATE FUNCTION x.mood_int(x.mood) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE CAST (x.mood AS int) WITH FUNCTION x.mood_int(x.mood);
CREATE FUNCTION x.is_fine(int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE DOMAIN public.evil_dom AS int CHECK (x.is_fine(VALUE));
CREATE DOMAIN public.evil_over AS public.evil_dom;
CREATE TYPE public.evil_comp AS (a public.evil_dom);
CREATE DOMAIN public.lock_dom AS int CHECK (pg_try_advisory_lock(VALUE));
CREATE FUNCTION public.takes(public.evil_dom) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION public.gives(int) RETURNS public.evil_dom LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION public.rows() RETURNS TABLE (a public.evil_dom) LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION public.locks(a bool DEFAULT pg_try_advisory_lock(7)) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION public.calls(a bool DEFAULT x.is_fine(7)) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE TABLE x.held (a public.evil_dom); INSERT INTO x.held VALUES (1); GRANT SELECT ON x.held TO bga_reader;
CREATE FUNCTION public.title(docs) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION public.calm(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
""".replace("{long}", "f" * 63)
# S608: a script of the test itself
REMOVED = f"""
DROP SCHEMA x CASCADE; DROP FUNCTION public."a.b", public.삭제, public.{"f" * 63}, public.twice, public.many,
  public.definer, public.title(docs), public.calm; DROP AGGREGATE public.evil_sum(int); DROP FUNCTION public.bump;
DROP TYPE public.evil_comp; DROP FUNCTION IF EXISTS public.takes, public.gives, public.rows, public.locks, public.calls;
DROP DOMAIN IF EXISTS public.evil_over, public.evil_dom, public.lock_dom;
"""

REFUSED = [
    "SELECT x.plain()",
    "SELECT \"x\" . \"plain\" /* */ ()",
    'SELECT "a.b"()',
    "SELECT 삭제()",
    f"SELECT {'f' * 63}()",
    f"SELECT {'f' * 80}()",
    "SELECT twice(1)",
    "SELECT (1).twice",
    "SELECT g.twice FROM generate_series(1, 2) g",
    "SELECT g.twice FROM generate_series(1, 2) g(i)",
    'SELECT "coalesce".twice FROM coalesce(1)',
    "SELECT many(1, 2, 3)",
    "SELECT many(VARIADIC ARRAY[1])",
    "SELECT definer()",
    "SELECT evil_sum(emp_id) FROM employees",
    "SELECT evil_sum(emp_id) OVER (ORDER BY emp_id) FROM employees",
    "SELECT 'sad'::x.mood::int",
    "SELECT CAST(m AS int4) FROM x.moods",
    "SELECT int4(m) FROM x.moods",
    "SELECT (m).int4 FROM x.moods",
    "SELECT 1::evil_dom",
    "SELECT '{1}'::evil_dom[]",
    "SELECT '{1}'::_evil_dom",
    "SELECT 1::evil_over",
    "SELECT evil_dom(1)",
    "SELECT 5::lock_dom",
    "SELECT takes('1')",
    "SELECT ('1').takes",
    "SELECT gives(1)",
    "SELECT * FROM rows()",
    "SELECT locks()",
    "SELECT * FROM public.calls()",
    "SELECT ROW(1)::evil_comp",
    "SELECT json_populate_record(NULL::evil_comp, '{\"a\": 1}')",
    "SELECT * FROM json_to_record('{\"a\": 1}') AS r(a evil_dom)",
    "SELECT jsonb_populate_record(h, '{\"a\": 2}') FROM x.held h",
    "SELECT pg_input_is_valid('2', 'evil_dom')",
    "SELECT * FROM pg_catalog.pg_input_error_info('2', 'evil_dom')",
    "SELECT (0.01).pg_sleep",
    "SELECT (0.01::float8).\"pg_sleep\"",
    "SELECT s.pg_sleep FROM LATERAL pg_sleep(0.01) s",
    "SELECT PG_SLEEP(0.01)",
    "SELECT U&\"pg\\005Fsleep\"(0.01)",
    "SELECT U&\"pg!005Fsleep\" UESCAPE '!' (0.01)",
    "SELECT pg_catalog.pg_sleep(0.01)",
    "SELECT * FROM docs d, LATERAL (SELECT pg_sleep(0.01)) s",
    "SELECT * FROM docs ORDER BY (SELECT pg_sleep(0.01))::text",
    "SELECT 1 GROUP BY 1 HAVING pg_sleep(0.01) IS NULL",
    "SELECT count(*) FILTER (WHERE pg_sleep(0.01) IS NULL) FROM docs",
    "SELECT sum(1) OVER (ORDER BY pg_sleep(0.01)::text) FROM docs",
    "SELECT 1 LIMIT length(pg_sleep(0.01)::text)",
    "VALUES (pg_sleep(0.01)::text)",
    "SELECT CASE WHEN true THEN pg_sleep(0.01) END",
    "SELECT ARRAY(SELECT pg_sleep(0.01))",
    "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + length(pg_sleep(0.01)::text) + 1 FROM r WHERE n < 3) TABLE r",
    "SELECT database_to_xml(true, true, '')",
    "SELECT table_to_xml('docs', true, true, '')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT pg_notify('a', 'b')",
    "SELECT pg_advisory_xact_lock(1)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT setseed(0.5)",
    "SELECT nextval('lot_seq')",
    "SELECT pg_current_xact_id()",
    "SELECT crosstab('select 1, 2, 3')",
    "SELECT * FROM dblink('host=/tmp', 'select 1') AS t(a int)",
    "SELECT dblink_connect('host=/tmp')",
    "SELECT set_limit(0.5)",
    "SELECT pg_stat_reset()",
    "SELECT pg_import_system_collations('public')",
    "SELECT pg_logical_emit_message(false, 'a', 'b')",
    "SELECT pg_switch_wal()",
    "SELECT * FROM pg_stat_get_activity(NULL)",
    "SELECT (pg_stat_get_activity(NULL)).query",
    "SELECT pg_stat_get_backend_activity(b) FROM pg_stat_get_backend_idset() b",
    "SELECT (1).pg_stat_get_db_xact_commit",
    "SELECT s.pg_stat_get_dead_tuples FROM oid(1) s",
    "SELECT pg_catalog.pg_stat_get_wal_senders()",
    "SELECT statement FROM pg_prepared_statement()",
    "SELECT inet_client_addr(), inet_server_port()",
    "SELECT pg_backend_pid()",
    "SELECT query FROM pg_stat_activity WHERE usename = current_user",
    'SELECT (SELECT string_agg(query, chr(10)) FROM "pg_catalog"."pg_stat_activity")',
    "TABLE pg_stat_activity",
    "WITH x AS (SELECT * FROM pg_locks) SELECT * FROM docs, x",
    "SELECT statement FROM docs d, LATERAL (SELECT statement FROM pg_cursors) c",
    "SELECT statement FROM pg_prepared_statements",
    "EXPLAIN SELECT * FROM U&\"pg\\005fstat_ssl\"",
]  # fmt: skip
WITH_AN_UNSAFE_EQUALS = [
    "SELECT 1 WHERE 'sad'::x.mood = 1",
    "SELECT 1 FROM x.moods WHERE m IN (1, 2)",
    "SELECT CASE m WHEN 1 THEN 1 END FROM x.moods",
    "SELECT 1 FROM x.moods a JOIN (SELECT 1 AS m) b USING (m)",
    "SELECT 1 FROM x.moods WHERE m OPERATOR(public.=) 1",
]
ALLOWED = [
    "SELECT d.title FROM docs d",  # function title(docs) is hidden by the column
    "SELECT calm(1), (1).calm",
    "SELECT m, n FROM x.moods",
    "SELECT '%s', '%(a)s', 5 % 2, '100%'",
    "SELECT random() < 2, gen_random_uuid() IS NOT NULL, pg_size_pretty(pg_database_size(current_database()))",
    "SELECT to_char(now(), 'YYYY-MM'), extract(epoch FROM now()) > 0, now() AT TIME ZONE 'Asia/Seoul' IS NOT NULL",
    "SELECT age(DATE '2026-03-01', DATE '2026-01-01'), age(now()) IS NOT NULL, current_schema(), current_schemas(true)",
    "SELECT pg_get_viewdef(c.oid) IS NOT NULL FROM pg_class c WHERE c.relkind = 'v'",
    "SELECT similarity('abc', 'abd'), 'abc' % 'abc'",
    "SELECT relname, n_live_tup FROM pg_stat_user_tables",
    "SELECT table_name, view_definition FROM information_schema.views",
    "SELECT column_name FROM information_schema.key_column_usage",
    "SELECT sequencename FROM pg_sequences",
    "SELECT count(*) FROM pg_indexes, pg_matviews, pg_settings WHERE tablename = 'docs'",
    "SELECT naru_row FROM (SELECT 1 AS naru_row, 2 AS naru_json, 3 AS j, 4 AS n) naru_text",
]
MISQUOTED = [
    *("x'y", 'x"y', "x\\'y", "x\\", "x\\\\", "{}", "a,b", "$1", "E'"),
    *("x'); DROP TABLE docs; --", "\\'); DELETE FROM docs; --"),
]
"""Names that would break out of a badly quoted call of the guard."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def database(bga: BgaServer):
    bga.admin.execute(ACCOMPLICES.encode())
    database = bga.database(DatabaseOptions(limits=Limits(statement_seconds=HANG_SECONDS), pool_min=1))
    yield database
    await database.close()
    bga.admin.execute(REMOVED.encode())


@pytest.fixture(scope="module")
def untouched(bga: BgaServer, database: Database) -> str:
    """What the server is before the first statement: the last one leaves it so, too."""
    return bga.fingerprint()


@pytest.mark.parametrize("sql", REFUSED)
async def test_what_may_do_more_than_read_is_refused_before_it_runs(
    sql: str, bga: BgaServer, database: Database, untouched: str
):
    with pytest.raises(RefusedStatementError):
        await database.query(sql)
    assert bga.fingerprint() == untouched


@pytest.mark.parametrize("sql", ALLOWED)
async def test_what_only_reads_runs(sql: str, database: Database):
    assert (await database.query(sql)).records


@pytest.mark.parametrize("name", MISQUOTED)
@pytest.mark.parametrize("form", ['SELECT "{}"(1)', 'SELECT d."{}" FROM docs d', 'SELECT (1)."{}"', 'SELECT 1::"{}"'])
async def test_a_name_never_breaks_out_of_the_guard(
    form: str, name: str, bga: BgaServer, database: Database, untouched: str
):
    with pytest.raises(QueryError, match=r"does not exist|not found in data type|column notation"):
        await database.query(form.format(name.replace('"', '""')))
    assert bga.fingerprint() == untouched


async def test_an_unsafe_operator_is_refused_under_every_syntax_that_calls_it(bga: BgaServer, database: Database):
    bga.admin.execute(
        "CREATE FUNCTION x.same(x.mood, int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN true; END';"
        "CREATE OPERATOR public.= (leftarg = x.mood, rightarg = int, function = x.same)"
    )
    try:
        for sql in WITH_AN_UNSAFE_EQUALS:
            with pytest.raises(RefusedStatementError, match=r"operator = \(function same\)"):
                await database.query(sql)
    finally:
        bga.admin.execute("DROP OPERATOR public.= (x.mood, int)")


@pytest.mark.parametrize(
    "functions",
    [("order_of", "less"), ("compared", "is_less")],
    ids=["that compares", "of an operator that is called otherwise"],
)
async def test_an_unsafe_order_is_refused_where_no_name_tells_of_it(
    functions: tuple[str, str], bga: BgaServer, database: Database
):
    order, less = functions
    bga.admin.execute(
        "CREATE TYPE x.pair AS (a int, b int); GRANT USAGE ON TYPE x.pair TO bga_reader;"
        "CREATE FUNCTION x.order_of(x.pair, x.pair) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 0; END';"
        "CREATE FUNCTION x.less(x.pair, x.pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT false';"
        "CREATE FUNCTION x.is_less(x.pair, x.pair) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN false; END';"
        f"CREATE OPERATOR x.<# (leftarg = x.pair, rightarg = x.pair, function = x.{less});"
        "CREATE OPERATOR x.=# (leftarg = x.pair, rightarg = x.pair, function = x.less);"
        "CREATE FUNCTION x.compared(x.pair, x.pair) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';"
        "CREATE OPERATOR CLASS x.by_order DEFAULT FOR TYPE x.pair USING btree AS OPERATOR 1 x.<#, "
        f"OPERATOR 3 x.=#, FUNCTION 1 x.{order}(x.pair, x.pair);"
        "CREATE TABLE x.pairs (p x.pair); INSERT INTO x.pairs VALUES ((1, 2)), ((3, 4));"
        "GRANT SELECT ON x.pairs TO bga_reader"
    )
    try:
        for sql in ("SELECT p FROM x.pairs ORDER BY p", "SELECT DISTINCT p FROM x.pairs", "SELECT max(p) FROM x.pairs"):
            with pytest.raises(RefusedStatementError, match=r"an order \(function (order_of|is_less)\)"):
                await database.query(sql)
    finally:
        bga.admin.execute("DROP TABLE x.pairs; DROP TYPE x.pair CASCADE")


async def test_an_unsafe_implicit_cast_or_json_cast_is_refused_until_it_is_allowed(bga: BgaServer, database: Database):
    bga.admin.execute(
        "CREATE FUNCTION x.mood_json(x.mood) RETURNS json LANGUAGE plpgsql AS 'BEGIN RETURN ''1''::json; END';"
        "CREATE CAST (x.mood AS json) WITH FUNCTION x.mood_json(x.mood)"
    )
    with pytest.raises(RefusedStatementError, match=r"cast from mood to json \(function mood_json\)"):
        await database.query("SELECT m FROM x.moods")
    options = DatabaseOptions(allowed_functions=frozenset({"x.mood_json"}), pool_min=1)
    lenient = bga.database(options)
    try:
        assert (await lenient.query("SELECT m FROM x.moods")).records == [{"m": 1}]
    finally:
        await lenient.close()
        bga.admin.execute("DROP CAST (x.mood AS json)")


async def test_a_function_that_turns_unsafe_while_we_run_is_refused_from_then_on(bga: BgaServer, database: Database):
    assert (await database.query("SELECT calm(1) AS c")).records == [{"c": 2}]
    bga.admin.execute("ALTER FUNCTION public.calm VOLATILE")
    with pytest.raises(RefusedStatementError, match="calm"):
        await database.query("SELECT calm(1) AS c")
    bga.admin.execute("ALTER FUNCTION public.calm IMMUTABLE")
