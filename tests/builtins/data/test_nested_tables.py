"""Issue 20, line 1: tables within and beside other things. What stands around one is not lost, nor put into it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naru.builtins.data.documents.files import read_documents
from tests.builtins.data.office_files import book, row

TABLE = {"A": "table", "B": "column", "C": "description"}
QTY, YIELD = {"A": "lot", "B": "qty", "C": "count"}, {"A": "lot", "B": "yield", "C": "share"}
BOTH = {"lot.qty": "lot.qty: count", "lot.yield": "lot.yield: share"}
HEADINGS, LINES = ["column", "description"], [["qty", "count"], ["yield", "share"]]
BESIDE = "it stands beside the rows and is none of them"


def read(path: Path, raw: str | bytes) -> tuple[dict[str, str], dict[str, str]]:
    """Read one file: the documents' texts by id, and the reasons of what was refused by its place."""
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    reading = read_documents(path)
    return {one.id: one.text for one in reading.documents}, {one.source: one.reason for one in reading.refused}


@pytest.mark.parametrize(
    ("raw", "documents"),
    [
        (
            "<table><tr><th>table<th>column<th>description"
            "<tr><td>lot<td>qty<td>count <table><tr><td>unit<td>pcs</table><tr><td>lot<td>yield<td>share</table>",
            {**BOTH, "x.html#1": "unit | pcs"},
        ),
        (
            "<table><tr><td><h1>table</h1><td><h1>column</h1><td><h1>description</h1>"
            "<tr><td>lot<td>qty<td>count<tr><td>lot<td>yield<td>share</table>",
            BOTH,
        ),
        (
            "<table><tr><td>Intro<h2>Lots</h2>text<h2>Balls</h2><td>b</table><p>end",
            {"x.html#1": "end\nIntro Lots text Balls | b"},
        ),
        (
            "<table><caption>All lots</caption><tr><th>table<th>column<th>description"
            "<tr><td>lot<td>qty<td>count<tr><td>lot<td>yield<td>share</table>",
            {**BOTH, "x.html#1": "All lots"},
        ),
        (
            "<p>start<table><tr><th>table<th>column<th>description"
            "<tr><td>lot<td>qty<td>count<tr><td>lot<td>yield<td>share",
            {**BOTH, "x.html#1": "start"},
        ),
        ("<h2>Orders</h2><table></table>", {"x.html#1": "Orders"}),
    ],
    ids=["a table in a cell", "headings in cells", "a page in a cell", "a caption", "no end", "no lines"],
)
def test_tables_of_html(raw: str, documents: dict[str, str], tmp_path: Path):
    assert read(tmp_path / "x.html", raw) == (documents, {})


@pytest.mark.parametrize(
    ("first", "merged"),
    [("A1", "F1:H3"), ("B1", "A1:A3"), ("A3", "A1:A3")],
    ids=["beside it", "before it", "above and into it"],
)
def test_empty_cells_that_are_merged_around_a_table_change_nothing(first: str, merged: str, tmp_path: Path):
    pytest.importorskip("python_calamine", reason="install the extra `documents`")
    columns = "ABCD"[ord(first[0]) - ord("A") :]
    lines = (
        row(int(first[1]) + at, dict(zip(columns, line.values(), strict=False)))
        for at, line in enumerate((TABLE, QTY, YIELD))
    )
    sheet = f'<sheetData>{"".join(lines)}</sheetData><mergeCells><mergeCell ref="{merged}"/></mergeCells>'
    assert read(tmp_path / "x.xlsx", book({"Sheet1": sheet})) == (BOTH, {})


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ({"columns": ["description"], "index": ["lot.qty", "lot.yield"], "data": [["count"], ["share"]]}, {}),
        ({"description": dict(zip(BOTH, ["count", "share"], strict=True)), "type": dict.fromkeys(BOTH, "")}, {}),
        ({"table": "lot", "columns": HEADINGS, "rows": LINES, "owner": "mes"}, {"x.json#owner": BESIDE}),
        ([{"name": "lot", "columns": HEADINGS, "data": LINES}], {}),
        ({"lot": {"columns": HEADINGS, "data": LINES}}, {}),
        (
            {"lot": {"columns": HEADINGS, "data": LINES}, "ball": {"columns": HEADINGS, "data": []}},
            {"x.json#ball.columns": "it holds nothing below its headings"},
        ),
    ],
    ids=["its index", "its keys", "its name", "one of a list", "one by its name", "one without lines"],
)
def test_a_table_in_json_keeps_what_its_lines_and_itself_are_called(
    value: Any, refused: dict[str, str], tmp_path: Path
):
    assert read(tmp_path / "x.json", json.dumps(value)) == (BOTH, refused)


def test_a_record_that_holds_records_keeps_its_own_cells(tmp_path: Path):
    line = json.dumps({"question": "Which lots fail?", "answers": [{"id": "a", "text": "Those with voids"}]})
    assert read(tmp_path / "x.jsonl", line)[0] == {
        "x.jsonl#1": "question: Which lots fail?",
        "a": "a: Those with voids",
    }


LEAVES = st.integers(0, 10**9).map("leaf{}".format)
KEYS = st.sampled_from(
    "table column type description id name text note schema version columns tables rows data index metadata lot".split()
)
NESTED = st.recursive(
    LEAVES, lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=4) | st.lists(inner, min_size=1, max_size=3)
)


def leaves(value: Any, place: str = "x.json#") -> Iterator[tuple[str, str]]:
    """Give the texts of a nested value, each with its place."""
    if isinstance(value, str):
        yield place, value
        return
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value, 1):
        yield from leaves(inner, f"{place}.{name}".replace("#.", "#"))


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=NESTED.filter(lambda value: not isinstance(value, str)))
def test_each_text_of_any_json_is_in_a_document_or_its_place_is_named(value: Any, tmp_path: Path):
    (tmp_path / "beside.txt").write_text("beside", encoding="utf-8")
    (tmp_path / "x.json").write_text(json.dumps(value), encoding="utf-8")
    reading = read_documents(tmp_path)
    told = "\n".join(f"{one.id}\n{one.text}\n{dict(one.metadata)}\n" for one in reading.documents)
    named = tuple(f"{one.source}." for one in reading.refused)
    assert [text for place, text in leaves(value) if text not in told and not f"{place}.".startswith(named)] == []


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"column": "qty", "name": "Quantity", "text": "count"}, "qty: count; name: Quantity"),
        ({"schema": "mes", "column": "qty", "text": "count"}, "qty: count; schema: mes"),
        ({"schema": "mes", "table": "lot", "column": "qty", "name": "Q"}, "mes.lot.qty; name: Q"),
    ],
    ids=["a column and its name", "a schema without a table", "all of them"],
)
def test_a_row_tells_each_of_its_names(record: dict[str, str], text: str, tmp_path: Path):
    assert list(read(tmp_path / "x.json", json.dumps([record]))[0].values()) == [text]
    raw = f"{','.join(record)}\n{','.join(record.values())}\n"
    assert list(read(tmp_path / "x.csv", raw)[0].values()) == [text]


def test_a_row_with_an_id_of_its_own_keeps_the_key_that_it_stands_under(tmp_path: Path):
    value = {"yield": {"id": "K-1", "text": "share"}, "0": {"id": "K-2", "text": "counted"}, "K-3": {"id": "K-3"}}
    documents, _ = read(tmp_path / "x.json", json.dumps({"terms": value}))
    assert documents["K-1"] == "terms.yield: share"
    assert documents["K-2"] == "K-2: counted"
    value = {"10": {"column": "qty", "text": "count"}}
    assert read(tmp_path / "x.json", json.dumps(value))[0] == {"qty": "qty: count"}


def test_fields_are_called_by_their_paths_and_operations_told_by_their_summaries(tmp_path: Path):
    """As DataHub keeps columns, and OpenAPI what can be done."""
    fields = [{"fieldPath": "qty.in", "nullable": False, "description": "Units", "nativeDataType": "int"}]
    assert read(tmp_path / "x.json", json.dumps({"lot": {"fields": fields}}))[0] == {
        "lot.qty.in": "lot.qty.in (int): Units; nullable: False"
    }
    one = {"summary": "One lot", "parameters": [{"name": "id", "in": "path"}]}
    paths = {"paths": {"/lots": {"get": {"summary": "All lots"}}, "/lots/{id}": {"get": one}}}
    documents, refused = read(tmp_path / "x.json", json.dumps(paths))
    assert documents["paths./lots.get"] == "paths./lots.get: All lots"
    assert documents["paths./lots/{id}.get"] == "paths./lots/{id}.get: One lot"
    assert refused == {}


def test_titles_above_a_plain_table_are_none_of_its_rows(tmp_path: Path):
    raw = "Report of 2026,,\nof the line,,\n\nline,qty,share\nL1,3,0.5\nL2,4,0.6\n"
    assert read(tmp_path / "x.csv", raw) == (
        {
            "x.csv#1": "Report of 2026",
            "x.csv#2": "of the line",
            "x.csv#3": "line: L1; qty: 3; share: 0.5",
            "x.csv#4": "line: L2; qty: 4; share: 0.6",
        },
        {},
    )
    assert read(tmp_path / "x.csv", "who,,\n1,a,b\n")[0] == {"x.csv#1": "who: 1; a; b"}


def test_a_title_that_is_no_wider_than_its_cell_is_none_where_nothing_tells_headings_from_rows(tmp_path: Path):
    raw = "Menu\nas of June\n\ndish,price\nsoup,3.50\nstew,4\n"
    assert read(tmp_path / "x.csv", raw)[0] == {
        "x.csv#1": "Menu",
        "x.csv#2": "as of June",
        "x.csv#3": "dish: soup; price: 3.50",
        "x.csv#4": "dish: stew; price: 4",
    }
    for raw in ("notes\nan oven, off\na door, open\n", "n\na,b\n1,2,3\n", "n\na,b\n"):
        assert len(read(tmp_path / "x.csv", raw)[0]) == raw.count("\n") - 1, "each line below the first is a row"


def test_the_keys_that_show_columns_tells_are_no_ids(tmp_path: Path):
    raw = "Field,Type,Null,Key,Default\nid,int,NO,PRI,\nlot,int,NO,PRI,\nqty,int,YES,,0\n"
    assert read(tmp_path / "x.csv", raw)[0] == {
        "id": "id (int); Null: NO; Key: PRI",
        "lot": "lot (int); Null: NO; Key: PRI",
        "qty": "qty (int); Null: YES; Default: 0",
    }
    assert read(tmp_path / "x.csv", "key,text\na,one\n")[0] == {"a": "a: one"}


def test_what_rows_stand_under_is_named_when_none_is_called_by_it(tmp_path: Path):
    value = {"title": "Terms of 2026", "items": ["one", "two"]}
    assert read(tmp_path / "x.json", json.dumps(value))[1] == {"x.json#title": BESIDE}
    value = {"name": "find", "arguments": {"city": "Seoul"}}
    assert read(tmp_path / "x.json", json.dumps([value])) == ({"find.arguments.city": "find.arguments.city: Seoul"}, {})


def test_lines_that_are_only_counted_are_called_by_their_place(tmp_path: Path):
    value = {"columns": ["text"], "index": [0, 1], "data": [["one"], ["two"]]}
    assert read(tmp_path / "x.json", json.dumps(value)) == ({"x.json#1": "one", "x.json#2": "two"}, {})


def test_what_stands_beside_rows_is_told_with_them_or_named(tmp_path: Path):
    columns = [dict(zip(HEADINGS, line, strict=True)) for line in LINES]
    dump = {"version": 2, "tables": [{"name": "lot", "owner": "mes", "columns": columns}], "by": "IT"}
    documents, refused = read(tmp_path / "x.json", json.dumps(dump))
    assert documents == {"lot": "name: lot; owner: mes", **BOTH}
    assert refused == {"x.json#version": BESIDE, "x.json#by": BESIDE}


@pytest.mark.parametrize(
    ("raw", "documents"),
    [
        ("lot.id,lot.pct\n1,98\n2,97\n", ["lot.id: 1; lot.pct: 98", "lot.id: 2; lot.pct: 97"]),
        ("lot.name,lot.qty\nA.1,7\nA.2,9\n", ["lot.name: A.1; lot.qty: 7", "lot.name: A.2; lot.qty: 9"]),
        ("2024,2025\n98.1,97\n", ["2024: 98.1; 2025: 97"]),
        (
            "Code,Reply\nE1,x\nCode,Reply\nE2,y\n",
            ["Code: E1; Reply: x", "Code: Code; Reply: Reply", "Code: E2; Reply: y"],
        ),
    ],
    ids=["columns of a table, counted", "columns of a table", "years", "files put together"],
)
def test_headings_that_look_like_a_row_are_headings(raw: str, documents: list[str], tmp_path: Path):
    assert list(read(tmp_path / "x.csv", raw)[0].values()) == documents
