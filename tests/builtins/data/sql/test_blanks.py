"""D4: unusual blanks become spaces, but what stands in quotes or comments stays as it is."""

from __future__ import annotations

import pytest

from naru.builtins.data.databases.blanks import BLANKS, plain_blanks, serialize_for_cell


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("SELECT\u00a0a\u3000,\ufeffb\u200bFROM\u2003t", "SELECT a , b FROM t"),
        ("SELECT 'a\u00a0b'\u00a0", "SELECT 'a\u00a0b' "),
        ("SELECT 'it''s\u00a0'\u00a0", "SELECT 'it''s\u00a0' "),
        ("SELECT 'a\\'\u00a0, 'b\u00a0'", "SELECT 'a\\' , 'b\u00a0'"),
        ("SELECT E'a\\'\u00a0', 1\u00a0", "SELECT E'a\\'\u00a0', 1 "),
        ('SELECT "열\u3000이름"\u3000FROM t', 'SELECT "열\u3000이름" FROM t'),
        (
            "SELECT $$a\u00a0$$,\u00a0$한글$\u00a0$$\u00a0$한글$\u00a0",
            "SELECT $$a\u00a0$$, $한글$\u00a0$$\u00a0$한글$ ",
        ),
        ("SELECT a$b$\u00a0, c$b$", "SELECT a$b$ , c$b$"),
        ("SELECT 1 --\u00a0x\n,\u00a02", "SELECT 1 --\u00a0x\n, 2"),
        ("SELECT /*\u00a0/*\u00a0*/\u00a0*/\u00a01", "SELECT /*\u00a0/*\u00a0*/\u00a0*/ 1"),
        ("SELECT /*\u00a0 never closed", "SELECT /*\u00a0 never closed"),
        ("SELECT '\u00a0 never closed", "SELECT '\u00a0 never closed"),
        ("SELECT 한글\u00a0FROM 표", "SELECT 한글 FROM 표"),
    ],
)
def test_blanks_outside_literals_become_spaces(sql: str, plain: str):
    assert plain_blanks(sql) == plain


def test_every_unusual_blank_is_known_and_the_length_stays():
    text = f"SELECT{BLANKS}1"
    assert plain_blanks(text) == f"SELECT{' ' * len(BLANKS)}1"


def test_a_cell_loses_every_no_break_space():
    assert serialize_for_cell("'a\u00a0b'\u00a0c") == "'a b' c"
