"""Every PostgreSQL type as faithful JSON, on real servers; g01, g03, g04 (D3)."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio

from naru.builtins.data.answers import table_answer
from naru.builtins.data.databases.errors import QueryError
from naru.builtins.data.databases.postgresql.database import Database, DatabaseOptions
from naru.builtins.data.databases.postgresql.values import number, unique_names
from naru.tools.serialise import to_json_text
from tests.builtins.data.conftest import postgres_versions
from tests.builtins.data.servers import BgaServer

VALUES = [
    ("true", True),
    ("NULL::int", None),
    ("32767::int2", 32767),
    ("(-2147483648)::int4", -2147483648),
    ("9007199254740991::int8", 9007199254740991),
    ("9007199254740993::int8", "9007199254740993"),
    ("(-9223372036854775808)::int8", "-9223372036854775808"),
    ("1000000000000000000::int8", 1000000000000000000),
    ("4294967295::oid", "4294967295"),
    ("0.1::float4", 0.1),
    ("0.1::float8 + 0.2::float8", 0.30000000000000004),
    ("1e300::float8", 1e300),
    ("5e-324::float8", 5e-324),
    ("'NaN'::float8", "NaN"),
    ("'-Infinity'::float4", "-Infinity"),
    ("12.30::numeric", 12.3),
    ("12.30::numeric(6,3)", 12.3),
    ("100::numeric(12,0)", 100),
    ("0.1234567890123456789::numeric", "0.1234567890123456789"),
    ("1e400::numeric", "1" + "0" * 400),
    ("'NaN'::numeric", "NaN"),
    ("'Infinity'::numeric", "Infinity"),
    ("98765432109876543210.5::numeric(30,1)", "98765432109876543210.5"),
    ("'₩1,234.50'::text", "₩1,234.50"),
    ("12.5::money", "$12.50"),
    ("'가나다'::varchar(3)", "가나다"),
    ("'a'::char(3)", "a  "),
    ("'x'::\"char\"", "x"),
    ("'quote\" and \\ and '' and tab\t'::text", "quote\" and \\ and ' and tab\t"),
    ("'\\x00ff'::bytea", "\\x00ff"),
    ("'2026-11-28'::date", "2026-11-28"),
    ("'infinity'::date", "infinity"),
    ("'0044-03-15 BC'::date", "0044-03-15 BC"),
    ("'12026-01-01'::date", "12026-01-01"),
    ("'04:05:06.789'::time", "04:05:06.789"),
    ("'04:05:06+09'::timetz", "04:05:06+09"),
    ("'2004-10-19 10:23:54'::timestamp", "2004-10-19T10:23:54"),
    ("'2004-10-19 10:23:54+02'::timestamptz", "2004-10-19T08:23:54+00:00"),
    ("'-infinity'::timestamptz", "-infinity"),
    ("'12026-01-01 00:00:00+00'::timestamptz", "12026-01-01T00:00:00+00:00"),
    ("'1 year 2 mons 3 days 04:05:06.7'::interval", "P1Y2M3DT4H5M6.7S"),
    ("'-1 hour'::interval", "PT-1H"),
    ("'123e4567-e89b-12d3-a456-426614174000'::uuid", "123e4567-e89b-12d3-a456-426614174000"),
    ('\'{"k": 1, "b": [9007199254740993, 1.50]}\'::jsonb', {"k": 1, "b": ["9007199254740993", 1.5]}),
    ("'{\"k\": 1e-400}'::json", {"k": "1e-400"}),
    ("'[1e99999999999999999999]'::json", ["1e99999999999999999999"]),
    ('\'{"\\ud800": "\\udfff"}\'::json', {"?": "?"}),
    ("'null'::jsonb", None),
    ("'$.a[*] ? (@ > 1)'::jsonpath", '$."a"[*]?(@ > 1)'),
    ("'<a>1</a>'::text", "<a>1</a>"),
    ("'10.0.0.1/8'::inet", "10.0.0.1/8"),
    ("'10.0.0.0/8'::cidr", "10.0.0.0/8"),
    ("'08:00:2b:01:02:03'::macaddr", "08:00:2b:01:02:03"),
    ("'08:00:2b:01:02:03:04:05'::macaddr8", "08:00:2b:01:02:03:04:05"),
    ("B'101'::bit(3)", "101"),
    ("B'1011'::varbit", "1011"),
    ("'(1,2)'::point", "(1,2)"),
    ("'((0,0),(1,1))'::box", "(1,1),(0,0)"),
    ("'<(0,0),1>'::circle", "<(0,0),1>"),
    ("'a b'::tsvector", "'a' 'b'"),
    ("'a & b'::tsquery", "'a' & 'b'"),
    ("'16/B374D848'::pg_lsn", "16/B374D848"),
    ("int4range(1, 5)", "[1,5)"),
    ("numrange(NULL, 1.5)", "(,1.5)"),
    ("'{[1,3), [5,7)}'::int4multirange", "{[1,3),[5,7)}"),
    ("tstzrange('2026-01-01 00:00+00', NULL)", '["2026-01-01 00:00:00+00",)'),
    ("'{1,2}'::int[]", [1, 2]),
    ("'{{1,2},{3,NULL}}'::int[]", [[1, 2], [3, None]]),
    ("'{}'::text[]", []),
    ("'[0:1]={7,8}'::int[]", [7, 8]),
    ("ARRAY[1.5, 0.12345678901234567]::numeric[]", [1.5, "0.12345678901234567"]),
    ("ARRAY['NaN']::float8[]", ["NaN"]),
    ("ARRAY[TIMESTAMPTZ '2004-10-19 10:23:54+02']", ["2004-10-19T08:23:54+00:00"]),
    ("ROW(1, 'a', 9007199254740993)", {"f1": 1, "f2": "a", "f3": "9007199254740993"}),
    ("ROW(ROW(1.10::numeric), ARRAY[DATE '2026-01-01'])", {"f1": {"f1": 1.1}, "f2": ["2026-01-01"]}),
    ("(SELECT d FROM 불량 d WHERE 건수 = 3)", {"코드": "HIP", "건수": 3}),
    ("'bga_lot'::regclass", "bga_lot"),
    ("(SELECT mood FROM (SELECT 'x'::text) s(mood))", "x"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def database(bga: BgaServer):
    database = bga.database(DatabaseOptions(pool_min=1))
    yield database
    await database.close()


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.asyncio(loop_scope="module")
@postgres_versions
async def test_every_type_becomes_json_that_says_the_same(database: Database):
    await database.query("SELECT 1")
    wrong = {}
    for expression, expected in VALUES:
        result = await database.query(f"SELECT {expression} AS v")
        found = json.loads(json.dumps(result.records, allow_nan=False))[0]["v"]
        if found != expected or type(found) is not type(expected):
            wrong[expression] = found
    assert not wrong


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.asyncio(loop_scope="module")
@postgres_versions
async def test_json_that_is_nested_beyond_reading_is_told_with_the_way_out(database: Database):
    for levels in (250, 600, 5000):
        deep = f"(repeat('[', {levels}) || repeat(']', {levels}))::json"
        with pytest.raises(QueryError, match=r"nested too deeply\. Ask for it as text"):
            await database.query(f"SELECT {deep} AS v")
        (row,) = (await database.query(f"SELECT {deep}::text AS v")).records
        assert row["v"].count("[") == levels
    wide = await database.query("SELECT json_agg(json_build_array(n)) AS v FROM generate_series(1, 900) n")
    read = await database.query("SELECT (repeat('[', 199) || repeat(']', 199))::json AS v")
    for found in (wide, read):
        assert json.loads(to_json_text(table_answer(found)))["data"]["content"]["records"] == found.records


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.asyncio(loop_scope="module")
@postgres_versions
async def test_columns_rows_and_repeated_names_are_kept(database: Database):
    result = await database.query(
        "SELECT 1 AS dup, 2 AS dup, 3 AS dup_2, 'a'::varchar(5) AS t, 1.5::numeric(4,2) AS n, ARRAY[1] AS a, "
        "d AS whole, ROW(1, 'x') AS r FROM 불량 d WHERE 건수 = 3"
    )
    assert result.columns == [
        {"name": "dup", "type": "int4"},
        {"name": "dup_3", "type": "int4"},
        {"name": "dup_2", "type": "int4"},
        {"name": "t", "type": "varchar(5)"},
        {"name": "n", "type": "numeric(4,2)"},
        {"name": "a", "type": "int4[]"},
        {"name": "whole", "type": '"불량"'},
        {"name": "r", "type": "record"},
    ]
    assert result.records == [
        {"dup": 1, "dup_3": 2, "dup_2": 3, "t": "a", "n": 1.5, "a": [1], "whole": {"코드": "HIP", "건수": 3},
         "r": {"f1": 1, "f2": "x"}}
    ]  # fmt: skip
    empty = await database.query("SELECT 코드 FROM 불량 WHERE false")
    assert (empty.columns, empty.records, empty.is_truncated) == ([{"name": "코드", "type": "text"}], [], False)
    nothing = await database.query("SELECT FROM 불량")
    assert nothing.records == [{}, {}, {}]


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.asyncio(loop_scope="module")
@postgres_versions
@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT 12.30::numeric AS a, 1e400::numeric AS big, 'NaN'::numeric AS n", id="g01"),
        pytest.param(
            "SELECT ARRAY[TIMESTAMPTZ '2004-10-19 10:23:54+02'], ARRAY[1.5::numeric], ROW(1, now())", id="g03"
        ),
        pytest.param(
            "SELECT gen_random_uuid(), '\\x00ff'::bytea, '{\"k\":1}'::jsonb, '<a/>'::text, '10.0.0.1'::inet, "
            "int4range(1,5), '{1,2}'::int[]",
            id="g04",
        ),
    ],
)
async def test_reported_results_are_valid_json(sql: str, database: Database):
    result = await database.query(sql)
    assert len(result.records) == 1
    json.dumps(result.records, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-0.5", -0.5),
        ("1.10", 1.1),
        ("9007199254740992", 9007199254740992),
        ("9007199254740993", "9007199254740993"),
        ("0.1000000000000000000", 0.1),
        ("1e-400", "1e-400"),
        ("1E400", "1E400"),
        ("9" * 400, "9" * 400),
    ],
)
def test_a_number_stays_one_only_when_nothing_is_lost(text: str, value: object):
    found = number(text)
    assert (found, type(found)) == (value, type(value))


def test_names_are_numbered_without_taking_one_that_is_there():
    assert unique_names(["a", "a", "a_2", "a"]) == ["a", "a_3", "a_2", "a_4"]
