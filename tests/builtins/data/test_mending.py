"""Issue 20, line 4: what a written statement lacks is put in from the catalogue, and what it holds stays."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from naru.builtins.data.asking import mend
from naru.builtins.data.asking.ask import mended
from naru.builtins.data.asking.each import each_of
from naru.builtins.data.asking.scope import Scope, find_scope, named_values
from naru.builtins.data.databases.catalogue import Catalogue, Column, Table
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.errors import QueryError
from naru.builtins.data.databases.sqlite import SqliteDatabase
from naru.config import DataSettings

pytest.importorskip("sqlglot", reason="install the extra `local`")
SCHOOL = """
CREATE TABLE teacher (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE course (id INTEGER PRIMARY KEY, title TEXT, teacher_id INTEGER REFERENCES teacher (id), seats INTEGER);
CREATE TABLE visit (course_id INTEGER REFERENCES course (id), pupil_id INTEGER REFERENCES pupil (id), mark INTEGER);
CREATE TABLE pupil (id INTEGER PRIMARY KEY, name TEXT, "Home Town" TEXT);
CREATE TABLE weather (day TEXT, degrees REAL);
INSERT INTO teacher VALUES (1, 'Kim', 'Seoul'), (2, 'Lee', 'Busan'), (3, 'Park', NULL);
INSERT INTO course VALUES (1, 'Computer Science I', 1, 30), (2, 'Computer Science II', 1, 20), (3, 'Art', 2, 15);
INSERT INTO pupil VALUES (1, 'Ada', 'Seoul'), (2, 'Bob', 'Jeju');
INSERT INTO visit VALUES (1, 1, 5), (1, 2, 2), (2, 1, 4), (3, 2, NULL);
"""


@pytest.fixture
def database(tmp_path: Path) -> Database:
    with sqlite3.connect(tmp_path / "school.db") as school:
        school.executescript(SCHOOL)
    school.close()
    return SqliteDatabase(DataSettings(naru_database_url=str(tmp_path / "school.db"), _env_file=None))


async def rows(database: Database, sql: str, question: str = "") -> list[list[object]]:
    catalogue = await database.catalogue()
    scope = Scope(catalogue.tables, (), await named_values(question, catalogue, database))
    return await rows_of(database, await mended(sql, scope, catalogue, database))


async def rows_of(database: Database, sql: str) -> list[list[object]]:
    return [list(row.values()) for row in (await database.query(sql)).records]


MENDED = {
    "a table that is used and not joined": (
        "SELECT teacher.name, course.title FROM course WHERE course.title = 'Art'",
        [["Lee", "Art"]],
    ),
    "a column without its table": ("SELECT town FROM course WHERE title = 'Art'", [["Busan"]]),
    "a column of another table": ("SELECT course.town FROM course WHERE course.seats = 15", [["Busan"]]),
    "the table between two": (
        "SELECT DISTINCT p.name FROM pupil AS p WHERE course.title = 'Art'",
        [["Bob"]],
    ),
    "one table has all of them": ("SELECT teacher_id, seats FROM visit WHERE seats < 20", [[2, 15]]),
    "rows that a join repeats": (
        "SELECT t.name FROM teacher t JOIN course c ON c.teacher_id = t.id ORDER BY t.name",
        [["Kim"], ["Lee"]],
    ),
    "a join by columns that are no key": (
        "SELECT t.name, c.seats FROM teacher t JOIN course c ON t.id = c.id WHERE c.seats > 15 ORDER BY c.seats",
        [["Kim", 20], ["Kim", 30]],
    ),
    "a table joined to itself by its key": (
        "SELECT t1.title, t2.seats, town FROM course AS t1 JOIN course AS t2 ON t1.id = t2.id WHERE t2.seats < 20",
        [["Art", 15, "Busan"]],
    ),
    "a join that says nothing": (
        "SELECT COUNT(v.pupil_id), t.name FROM teacher t JOIN pupil p ON t.id = t.id "
        "JOIN visit v ON p.id = v.pupil_id GROUP BY t.name ORDER BY t.name",
        [[3, "Kim"], [1, "Lee"]],
    ),
    "what stands beside a sum": (
        "SELECT title, COUNT(*) FROM course WHERE seats > 15",
        [["Computer Science I", 1], ["Computer Science II", 1]],
    ),
    "a condition on a sum": (
        "SELECT teacher.name FROM course JOIN teacher ON course.teacher_id = teacher.id WHERE COUNT(*) > 1",
        [["Kim"]],
    ),
    "groups that are not shown": (
        "SELECT SUM(seats) FROM course JOIN teacher ON teacher.id = teacher_id GROUP BY teacher.name ORDER BY 1",
        [[15, "Lee"], [50, "Kim"]],
    ),
    "an order that is not shown": ("SELECT title FROM course ORDER BY seats LIMIT 1", [["Art", 15]]),
    "a ratio of whole numbers": ("SELECT SUM(seats) / COUNT(DISTINCT title) FROM course", [[65 / 3]]),
    "what is not known": ("SELECT town FROM teacher ORDER BY town LIMIT 1", [["Busan"]]),
    "letters' case of a value": ("SELECT name FROM teacher WHERE town = 'SEOUL'", [["Kim"]]),
    "a part of two values": (
        "SELECT COUNT(*) FROM course WHERE title = 'computer science'",
        [[2]],
    ),
    "a key that has to be NULL after a join by it": (
        "SELECT t.name FROM teacher t JOIN course c ON c.teacher_id = t.id WHERE c.teacher_id IS NULL",
        [["Park"]],
    ),
    "one name for two tables": (
        "SELECT p.name, p.title FROM pupil p JOIN visit v ON v.pupil_id = p.id JOIN course p ON v.course_id = p.id "
        "WHERE p.title = 'Art'",
        [["Bob", "Art"]],
    ),
    "a text beside a column of another table": (
        "SELECT t.name FROM teacher t JOIN course c ON c.teacher_id = t.id WHERE c.name = 'kim'",
        [["Kim"]],
    ),
    "a part of one value": ("SELECT seats FROM course WHERE title IN ('art', 'Science II') ORDER BY 1", [[15], [20]]),
}


@pytest.mark.parametrize("fault", MENDED)
async def test_a_fault_that_the_catalogue_knows_better_is_mended(fault: str, database: Database):
    sql, wanted = MENDED[fault]
    with contextlib.suppress(QueryError):
        assert await rows_of(database, sql) != wanted, "the fault is none"
    assert await rows(database, sql) == wanted


UNDECLARED = """
CREATE TABLE course (course_id INTEGER, name TEXT, is_hard BOOLEAN);
CREATE TABLE offering (offering_id INTEGER, course_id INTEGER, has_exam BOOLEAN);
CREATE TABLE tags (course_id INTEGER, "funny votes" INTEGER, semester TEXT);
INSERT INTO course VALUES (1, 'Art', 1), (2, 'Music', 0), (3, 'Art', 0);
INSERT INTO offering VALUES (1, 1, 1), (2, 1, 1), (3, 2, 1), (4, 3, 0);
INSERT INTO tags VALUES (1, 5, 'fall'), (1, 2, 'spring'), (2, 1, 'fall');
"""


@pytest.mark.parametrize(
    ("question", "sql", "wanted"),
    [
        (
            "Which courses have an exam?",
            "SELECT c.name FROM course c JOIN offering o ON c.course_id = o.course_id WHERE o.has_exam = TRUE",
            [["Art"], ["Music"]],
        ),
        (
            "How many found it funny, per course id?",
            'SELECT SUM("funny votes") AS n FROM tags',
            [[7, 1], [1, 2]],
        ),
        ("How many voted in each semester?", 'SELECT SUM("funny votes") FROM tags', [[6, "fall"], [2, "spring"]]),
        ("학기별 표는 몇 개인가요?", 'SELECT SUM("funny votes") FROM tags', [[8]]),
        ("semester별 표는 몇 개인가요?", 'SELECT SUM("funny votes") FROM tags', [[6, "fall"], [2, "spring"]]),
        (
            "How many votes are there for every course?",
            'SELECT SUM(T1."funny votes") FROM tags AS T1',
            [[7, "Art"], [1, "Music"]],
        ),
        ("How many votes are there for every town?", 'SELECT SUM("funny votes") FROM tags', [[8]]),
        (
            "How many votes are there?",
            'SELECT SUM("funny votes") FROM tags t JOIN offering o ON o.course_id = t.course_id '
            "JOIN course c ON c.course_id = o.course_id",
            [[8]],
        ),
        (
            "How many offerings are called the same?",
            "SELECT name, COUNT(*) FROM course GROUP BY name",
            [["Art", 3], ["Music", 1]],
        ),
        (
            "How many courses are called the same?",
            "SELECT c.name, COUNT(*) FROM course c JOIN offering o ON o.course_id = c.course_id GROUP BY c.name",
            [["Art", 2], ["Music", 1]],
        ),
    ],
    ids=[
        "rows that a join repeats",
        "per",
        "each",
        "a Korean word of no column",
        "a Korean each",
        "a table's name",
        "nothing's name",
        "tables that nothing is asked of",
        "rows of the table that is named",
        "rows of the table that is named, and not of one beside it",
    ],
)
async def test_issue_20_4_where_no_key_is_declared_rows_are_told_once_and_sums_for_each(
    question: str, sql: str, wanted: list[list[object]], tmp_path: Path
):
    with contextlib.closing(sqlite3.connect(tmp_path / "votes.db")) as votes:
        votes.executescript(UNDECLARED)
    opened = SqliteDatabase(DataSettings(naru_database_url=str(tmp_path / "votes.db"), _env_file=None))
    catalogue = await opened.catalogue()
    scope = Scope(catalogue.tables, (), ())
    found = await rows_of(opened, await mended(sql, scope, catalogue, opened, question=question))
    assert sorted(map(str, found)) == sorted(map(str, wanted))
    await opened.close()


def test_issue_20_4_a_column_of_truths_is_compared_with_a_truth_in_postgresql():
    truths = Table("course", [Column("is_hard", "boolean"), Column("seats", "bigint")])
    tree = mend.parsed("SELECT seats FROM course WHERE is_hard = 1 AND seats = 1", "PostgreSQL")
    assert tree is not None
    mend.mend(tree, Scope([truths], (), ()), "PostgreSQL")
    assert mend.written(tree, "PostgreSQL").endswith("WHERE course.is_hard = TRUE AND course.seats = 1")


def test_letters_are_looked_for_in_a_day_as_a_text_in_postgresql():
    visits = Table("visit", [Column("day", "date"), Column("note", "text")])
    tree = mend.parsed("SELECT note FROM visit WHERE day LIKE '2022%' AND note LIKE 'a%'", "PostgreSQL")
    assert tree is not None
    mend.mend(tree, Scope([visits], (), ()), "PostgreSQL")
    told = "WHERE CAST(visit.day AS TEXT) LIKE '2022%' AND visit.note LIKE 'a%'"
    assert mend.written(tree, "PostgreSQL").endswith(told)


def test_the_comment_of_a_column_is_its_name_in_korean():
    table = Table("lot", [Column("customer_name", "text", "고객사 이름"), Column("qty", "bigint", "수량")])
    assert each_of("고객사별 수량의 합계는?", [table]) == (table, table.columns[0])
    assert each_of("특별히 큰 수량의 합계는?", [table]) is None
    assert each_of("_" * 200_000 + " 고객사별 합계", [table]) == (table, table.columns[0])


RIGHT = (
    "SELECT c.seats FROM visit v JOIN course c ON c.id = v.course_id GROUP BY v.course_id, c.seats ORDER BY c.seats",
    "SELECT v.mark FROM visit v JOIN pupil p ON p.id = v.pupil_id WHERE p.name = 'Ada' ORDER BY v.mark",
    "SELECT * FROM teacher",
    "SELECT t.name AS who, COUNT(*) AS n FROM teacher AS t LEFT JOIN course AS c ON c.teacher_id = t.id "
    "GROUP BY who ORDER BY n DESC, who",
    "SELECT DISTINCT pupil.name FROM pupil JOIN visit ON visit.pupil_id = pupil.id ORDER BY pupil.name",
    'SELECT name FROM pupil WHERE "Home Town" IN (SELECT town FROM teacher)',
    "SELECT name FROM teacher t WHERE NOT EXISTS (SELECT 1 FROM course c WHERE c.teacher_id = t.id)",
    "SELECT a.name, b.name FROM teacher a JOIN teacher b ON a.id < b.id ORDER BY 1, 2",
    "SELECT b.title FROM course a JOIN course b ON a.teacher_id = b.teacher_id WHERE a.title <> b.title ORDER BY 1",
    "WITH big AS (SELECT teacher_id, SUM(seats) AS s FROM course GROUP BY teacher_id) "
    "SELECT name, s FROM big JOIN teacher ON teacher.id = big.teacher_id ORDER BY s",
    "SELECT x.n FROM (SELECT COUNT(*) AS n FROM visit) AS x",
    "SELECT MAX(mark) - MIN(mark) AS spread FROM visit",
    "SELECT 1 / 2.0 AS half",
    "SELECT title FROM course WHERE title = 'nowhere'",
    "SELECT name FROM teacher UNION SELECT name FROM pupil",
    "SELECT day FROM weather WHERE degrees > (SELECT AVG(degrees) FROM weather)",
)


@pytest.mark.parametrize("sql", RIGHT)
async def test_a_right_statement_gives_the_same_rows_after_it(sql: str, database: Database):
    assert await rows(database, sql) == await rows_of(database, sql)


async def test_a_value_that_the_question_names_stands_in_the_column_that_has_it(database: Database):
    sql = "SELECT title FROM course JOIN teacher ON teacher.id = teacher_id WHERE teacher.name = 'busan'"
    assert await rows(database, sql, "What is taught in Busan?") == [["Art"]]


async def test_a_text_beside_a_column_of_numbers_stands_where_the_database_has_it(database: Database):
    question = "What is taught by Lee?"
    assert await rows(database, "SELECT title FROM course WHERE teacher_id = 'lee'", question) == [["Art"]]
    assert await rows(database, "SELECT title FROM course WHERE teacher_id = '2'", question) == [["Art"]]
    assert await rows(database, "SELECT title FROM course WHERE teacher_id = 'nobody'", question) == []


async def test_a_value_is_looked_for_first_in_the_table_that_is_asked(database: Database):
    sql = (
        "SELECT DISTINCT p.name FROM teacher t JOIN course c ON c.teacher_id = t.id "
        "JOIN visit v ON v.course_id = c.id JOIN pupil p ON p.id = v.pupil_id WHERE t.name = 'seoul' ORDER BY p.name"
    )
    assert await rows(database, sql, "Who is from Seoul?") == [["Ada"], ["Bob"]]


async def test_a_table_that_question_and_statement_name_stays_where_no_key_joins_it_at_once(database: Database):
    catalogue = await database.catalogue()
    sql = "SELECT DISTINCT t.name FROM visit v JOIN teacher t ON v.teacher_id = t.id ORDER BY t.name"
    for question, wanted in (
        ("Which teachers had visits?", [["Kim"], ["Lee"]]),
        ("Which teachers are there?", [["Kim"], ["Lee"], ["Park"]]),
    ):
        scope = Scope(catalogue.tables, (), ())
        assert await rows_of(database, await mended(sql, scope, catalogue, database, question=question)) == wanted


async def test_tables_that_no_key_joins_are_left_to_the_database(database: Database):
    with pytest.raises(QueryError, match="degrees"):
        await rows(database, "SELECT weather.degrees, name FROM teacher")


async def test_what_is_no_single_select_is_left_as_it_is(database: Database):
    catalogue = Catalogue()
    scope = await find_scope("?", catalogue, _nothing, database)
    for sql in ("DELETE FROM teacher", "SELECT 1; SELECT 2", "SELECT ((", "", "EXPLAIN SELECT 1"):
        assert await mended(sql, scope, catalogue, database) == sql


async def _nothing(question: str, count: int) -> list[tuple[str, str, float]]:
    return []
