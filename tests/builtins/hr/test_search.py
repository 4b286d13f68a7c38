"""V5: `search_docs` finds what a person means, and takes `%` and `_` as they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from naru.builtins.hr.database import HrDatabase, demo_database, fill
from naru.builtins.hr.search import find_documents


@pytest.fixture
def db() -> Iterator[HrDatabase]:
    database = demo_database()
    yield database
    database.close()


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("travel expense rules", "Travel expense rules"),
        ("find the travel expense rules", "Travel expense rules"),
        ("expenses for travel", "Travel expense rules"),
        ("TRAVEL", "Travel expense rules"),
        ("휴가 규정", "휴가 규정"),
        ("휴가규정", "휴가 규정"),
        ("휴가 규정 문서를 찾아줘", "휴가 규정"),
        ("출장비는", "출장비 규정"),
        ("재택근무", "재택근무 안내"),
        ("two-factor", "Security handbook"),
        ("the vacation policy document, please", "Vacation policy"),
        ("could you kindly look up our rules on travel expense for me", "Travel expense rules"),
        ("문서 중에서 재택근무 안내라는 것을 열어 줄래", "재택근무 안내"),
        ("lost laptop", "Security handbook"),
        ("where do I send receipts", "Travel expense rules"),
        ("수료증 제출", "교육비 지원 제도"),
    ],
)
def test_the_document_that_is_meant_comes_first(db, query, title):
    assert find_documents(db, query)[0]["title"] == title


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        "%",
        "_",
        "%%",
        "\\",
        "' OR 1=1 --",
        "nonsense xyzzy",
        "the document",
        "문서",
        "open the file for me",
        "자료 좀 열어 줘",
    ],
)
def test_nothing_is_found_where_nothing_is_meant(db, query):
    assert find_documents(db, query) == []


def test_percent_and_underscore_are_letters_like_others():
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    fill(connection)
    connection.execute("INSERT INTO documents (title, content, category) VALUES ('Rates', '100% of snake_case', 'x')")
    db = HrDatabase(connection)
    for query in ("100%", "%", "snake_case", "e_c"):
        assert [row["title"] for row in find_documents(db, query)] == ["Rates"]
    assert find_documents(db, "snake%case") == []
    db.close()


def test_a_query_as_long_as_a_book_finds_what_its_beginning_means(db: HrDatabase) -> None:
    found = find_documents(db, "travel expense " + " ".join(f"word{number}" for number in range(50_000)))
    assert found[0]["title"] == "Travel expense rules"
