"""The parser's layer alone: one SELECT, its names, and clear refusals (S-45, g07)."""

from __future__ import annotations

import pytest

from naru.builtins.data.databases.errors import RefusedStatementError
from naru.builtins.data.databases.postgresql.statement import MAX_CHARACTERS, read_statement
from naru.builtins.data.databases.statements import CATALOGUE


def test_the_names_that_the_catalog_must_judge_are_found_wherever_they_stand():
    statement = read_statement(
        "SELECT s.f(d.a), (d).b, g.c, d.x::my_type, 1 OPERATOR(public.~~!) 2 "
        "FROM docs d, LATERAL generate_series(1, 2) g ORDER BY h() USING <;"
    )
    assert statement.calls == {("s", "f"), ("", "generate_series"), ("", "h")}
    assert statement.row_attributes == {"a", "x"}
    assert statement.value_attributes == {"b", "c"}
    assert statement.operators == {("public", "~~!"), ("", "<")}
    assert statement.types == {"my_type"}


@pytest.mark.parametrize(
    ("sql", "sent"),
    [
        ("SELECT 1;", "SELECT 1"),
        ("SELECT 1 ; /* done */ ;; ", "SELECT 1 "),
        ("SELECT '한글;' ;-- x", "SELECT '한글;' "),
        (";SELECT 1", "SELECT 1"),
        ("SELECT 1 -- last", "SELECT 1 -- last"),
    ],
)
def test_what_is_sent_is_the_one_statement_without_its_end(sql: str, sent: str):
    assert read_statement(sql).text == sent


@pytest.mark.parametrize(
    "sql",
    [
        "/* x */ DELETE FROM t",
        "-- c\nUPDATE t SET a=1",
        "( DELETE FROM t )",
        "\ufeffDROP TABLE t",
    ],
    ids=["g07-comment", "g07-line-comment", "g07-bracket", "g07-bom"],
)
def test_g07_a_leading_comment_or_mark_hides_no_write(sql: str):
    with pytest.raises(RefusedStatementError):
        read_statement(sql)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("", "empty"),
        ("-- nothing", "empty"),
        ("SELEC 1", "syntax error"),
        ("SELECT 1; SELECT 2", "these are 2"),
        ("BEGIN", "BEGIN / COMMIT"),
        ("SET ROLE x", "SET"),
        ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN"),
        ("EXPLAIN (ANALYZE) SELECT 1", "EXPLAIN"),
        ("EXPLAIN DELETE FROM t", "DELETE"),
        ("EXPLAIN EXPLAIN SELECT 1", "EXPLAIN"),
        ("WITH x AS (DELETE FROM t RETURNING 1) TABLE x", "DELETE"),
        ("SELECT 1 INTO t", "SELECT INTO"),
        ("SELECT * FROM t FOR UPDATE", "lock rows"),
        ("SELECT * FROM (SELECT * FROM t FOR SHARE) s", "lock rows"),
        ("SELECT $1", r"\$1"),
        ("SELECT 1\x00", "NUL"),
        ("SELECT '\udc80'", "Unicode"),
        ("SELECT " + "~ " * 4_000 + "1", "deep"),
        ("SELECT " + "NOT " * 4_000 + "true", "deep"),
        ("SELECT 1" + " + 1" * 4_000, "deep"),
        ("SELECT '" + "x" * MAX_CHARACTERS + "'", "characters"),
        ("COPY t TO PROGRAM 'id'", "COPY"),
        ("CALL f()", "CALL"),
        ("DO $$ BEGIN END $$", "DO"),
        ("VACUUM", "VACUUM"),
        ("SHOW ALL", "SHOW"),
        ("LISTEN x", "LISTEN"),
        ("PREPARE p AS SELECT 1", "PREPARE"),
        ("EXECUTE p", "EXECUTE"),
        ("DECLARE c CURSOR FOR SELECT 1", "DECLARE"),
        ("FETCH ALL FROM c", "FETCH"),
    ],
)
def test_what_is_no_plain_select_is_refused_with_its_reason(sql: str, reason: str):
    with pytest.raises(RefusedStatementError, match=reason):
        read_statement(sql)


@pytest.mark.parametrize("sql", ["SHOW search_path", "DESCRIBE docs", "PRAGMA table_info(docs)"])
def test_what_shows_tables_elsewhere_is_refused_with_the_select_that_tells_them(sql: str):
    with pytest.raises(RefusedStatementError) as refused:
        read_statement(sql)
    assert refused.value.remedy.endswith(CATALOGUE)
