"""Issue 20, line 1: every form of file, rows counted in and out, and a reason for each that is left out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naru.builtins.data.documents.document import Reading
from naru.builtins.data.documents.files import read_documents
from naru.errors import ConfigError
from tests.builtins.data.office_files import pdf, word, workbook

COLUMNS = [
    ("lot", "id", "int", "번호"),
    ("lot", "qty", "int", "수량"),
    ("ball", "id", "int", "공"),
    ("ball", "qty", "", ""),
]
HEADINGS = ("table", "column", "type", "description")
WANTED = {"lot.id": "lot.id (int): 번호", "lot.qty": "lot.qty (int): 수량", "ball.id": "ball.id (int): 공"}


def rows(*headings: str) -> list[dict[str, str]]:
    """Give the columns under headings of one's own."""
    return [dict(zip(headings, row, strict=True)) for row in COLUMNS]


def as_csv(*headings: str, delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([headings, *COLUMNS])
    return out.getvalue()


NESTED = {"lot": [("id", "int", "번호"), ("qty", "int", "수량")], "ball": [("id", "int", "공"), ("qty", "", "")]}


def nested(*headings: str) -> dict[str, list[dict[str, str]]]:
    return {table: [dict(zip(headings, row, strict=True)) for row in found] for table, found in NESTED.items()}


FORMS: dict[str, tuple[str, bytes]] = {
    "csv": ("x.csv", as_csv("table", "column", "type", "description").encode()),
    "csv of information_schema": (
        "x.csv",
        as_csv("table_name", "column_name", "data_type", "column_comment").encode("utf-8-sig"),
    ),
    "csv with capitals and semicolons": (
        "x.csv",
        as_csv("TABLE_NAME", "COLUMN_NAME", "DATA_TYPE", "COMMENTS", delimiter=";").encode("utf-16"),
    ),
    "csv as Korean Excel saves it": ("x.csv", as_csv("테이블명", "컬럼명", "데이터 타입", "컬럼 설명").encode("cp949")),
    "csv of a Korean table definition": (
        "x.csv",
        as_csv("물리 테이블명", "물리 컬럼명", "타입", "논리 컬럼명").encode(),
    ),
    "csv with the readers' names": ("x.csv", as_csv("테이블 영문명", "컬럼 영문명", "자료형", "컬럼 한글명").encode()),
    "tsv": ("x.tsv", as_csv("Table", "Field", "Type", "Comment", delimiter="\t").encode()),
    "json list": ("x.json", json.dumps(rows("table", "column", "type", "description")).encode()),
    "json lists": ("x.json", json.dumps([["table", "column", "type", "description"], *COLUMNS]).encode()),
    "json by columns": ("x.json", json.dumps(dict(zip(HEADINGS, zip(*COLUMNS, strict=True), strict=True))).encode()),
    "json by columns and numbers": (
        "x.json",
        json.dumps(
            {name: {str(number): row[at] for number, row in enumerate(COLUMNS)} for at, name in enumerate(HEADINGS)}
        ).encode(),
    ),
    "json with the headings beside": (
        "x.json",
        json.dumps({"columns": HEADINGS, "index": [0, 1, 2, 3], "data": COLUMNS}).encode(),
    ),
    "json lines": (
        "x.jsonl",
        "\n".join(json.dumps(row) for row in rows("tableName", "columnName", "dataType", "desc")).encode(),
    ),
    "columns": ("x.json", json.dumps({"columns": rows("table", "name", "type", "description")}).encode()),
    "tables of columns": (
        "x.json",
        json.dumps(
            {"tables": [{"name": table, "columns": found} for table, found in nested("name", "type", "text").items()]}
        ).encode(),
    ),
    "a table's columns by name": (
        "x.json",
        json.dumps(
            {
                "tables": {
                    table: {"columns": {name: {"type": type_, "description": text} for name, type_, text in found}}
                    for table, found in NESTED.items()
                }
            }
        ).encode(),
    ),
    "defog": (
        "x.json",
        json.dumps({"table_metadata": nested("column_name", "data_type", "column_description")}).encode(),
    ),
    "yaml of dbt": (
        "x.yml",
        yaml.safe_dump(
            {
                "version": 2,
                "models": [
                    {"name": table, "columns": found} for table, found in nested("name", "type", "text").items()
                ],
            }
        ).encode(),
    ),
    "yaml": (
        "x.yaml",
        b"tables:\n  lot:\n    - {column: id, type: int, comment: \xeb\xb2\x88\xed\x98\xb8}\n"
        b"    - {column: qty, type: int, comment: \xec\x88\x98\xeb\x9f\x89}\n"
        b"  ball:\n    - {column: id, type: int, comment: \xea\xb3\xb5}\n    - {column: qty, type: }\n",
    ),
    "markdown table": (
        "x.md",
        (
            "# Catalogue\n\n| table | column | type | description |\n|---|---|---|---|\n"
            + "".join(f"| {' | '.join(row)} |\n" for row in COLUMNS)
        ).encode(),
    ),
    "html table": (
        "x.html",
        (
            "<table><tr><th>table<th>column<th>type<th>description"
            + "".join(f"<tr>{''.join(f'<td>{cell}' for cell in row)}" for row in COLUMNS)
            + "</table>"
        ).encode(),
    ),
}


ONCE = [
    ["스키마", "테이블명", "테이블 한글명", "컬럼명", "설명"],
    ["fab", "lot", "로트", "id", "번호"],
    ["", "", "", "qty", "수량"],
    ["hr", "", "", "", "아래는 인사"],
    ["hr", "staff", "", "id", "사번"],
    ["", "", "", "name", "이름"],
    ["fab", "", "", "of_none", "표 없음"],
]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_table_that_is_told_once_above_its_columns_is_the_table_of_each(form: str, tmp_path: Path):
    """As people write definitions, and as merged cells are saved to CSV."""
    if form == "xlsx":
        pytest.importorskip("python_calamine", reason="install the extra `documents`")
    file = tmp_path / f"x.{form}"
    file.write_bytes(
        workbook(ONCE) if form == "xlsx" else "\n".join(",".join(line) for line in ONCE).encode("utf-8-sig")
    )
    *texts, of_another_schema = [document.text for document in read_documents(file).documents]
    assert "staff" not in of_another_schema
    assert texts == [
        "fab.lot.id: 번호; 테이블 한글명: 로트",
        "fab.lot.qty: 수량; 테이블 한글명: 로트",
        "hr: 아래는 인사",
        "hr.staff.id: 사번",
        "hr.staff.name: 이름",
    ]


def test_the_table_that_a_definition_names_above_its_columns_is_theirs(tmp_path: Path):
    text = "테이블 정의서,,\n테이블명,TB_LOT,\nNo,컬럼명,설명\n1,QTY,수량\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    assert [one.id for one in read_documents(tmp_path / "x.csv").documents] == ["x.csv#1", "x.csv#2", "TB_LOT.QTY"]


@pytest.mark.parametrize(
    ("between", "ids"),
    [
        ("\n테이블명,TB_BALL,\n", ["TB_LOT.QTY", "x.csv#4", "TB_BALL.PITCH"]),
        (",,\n테이블명,TB_BALL,\n설명,솔더 볼,\n", ["TB_LOT.QTY", "x.csv#5", "x.csv#6", "TB_BALL.PITCH"]),
        ("", ["TB_LOT.QTY", "TB_LOT.PITCH"]),
    ],
    ids=["named", "named, below an empty line", "headings that come again"],
)
def test_issue_20_1_each_table_of_several_in_one_sheet_has_its_own_columns(
    between: str, ids: list[str], tmp_path: Path
):
    headings = "No,컬럼명,설명\n"
    text = f"테이블명,TB_LOT,\n{headings}1,QTY,수량\n{between}{headings}1,PITCH,간격\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    assert [one.id for one in read_documents(tmp_path / "x.csv").documents][1:] == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            "테이블,설명\nlot,로트\nball,볼\n\n테이블,컬럼,타입,설명\nlot,qty,int,수량\nball,x,real,위치\n",
            ["lot", "ball", "lot.qty", "ball.x"],
        ),
        (
            "column,type,note\nqty,int,count\n,,\nTables,,\ntable,description,\nlot,one lot,\n",
            ["qty", "x.csv#4", "lot"],
        ),
        (
            "Table: lot,,\ncolumn,type,note\nqty,int,count\n\nTable： ball,,\ncolumn,type,note\nx,real,place\n",
            ["x.csv#1", "lot.qty", "x.csv#4", "ball.x"],
        ),
        (
            "column,description\nid,key\nname,Name of it\n\ntitle,Product description\nat,when\n\ndescription,what\n",
            ["id", "name", "title", "at", "description"],
        ),
    ],
    ids=["an index above the columns", "a title between", "its name in one cell", "no headings but rows"],
)
def test_issue_20_1_other_headings_below_an_empty_line_begin_a_table(text: str, ids: list[str], tmp_path: Path):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    assert [one.id for one in read_documents(tmp_path / "x.csv").documents] == ids


def test_a_logical_model_says_what_tables_and_columns_are_called(tmp_path: Path):
    text = "엔티티명,테이블명,속성명,컬럼명,데이터타입,속성정의\n로트,TB_LOT,수율,YLD,NUMBER,양품 비율\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    [document] = read_documents(tmp_path / "x.csv").documents
    assert (document.id, document.text) == (
        "TB_LOT.YLD",
        "TB_LOT.YLD (NUMBER): 양품 비율; 엔티티명: 로트; 속성명: 수율",
    )


def test_headings_in_two_lines_are_one_heading_each(tmp_path: Path):
    """As cells that span others are saved."""
    lines = ["테이블,,컬럼,,", "물리명,논리명,물리명,논리명,타입", "LOT,로트,QTY,수량,NUMBER", "불량,,이름,,VARCHAR"]
    (tmp_path / "x.csv").write_text("\n".join(lines), encoding="utf-8")
    assert [document.text for document in read_documents(tmp_path / "x.csv").documents] == [
        "LOT.QTY (NUMBER): 수량; 테이블 논리명: 로트",
        "불량.이름 (VARCHAR)",
    ]
    (tmp_path / "x.csv").write_text("\n".join(["table,,column,note", *lines[2:]]), encoding="utf-8")
    assert len(read_documents(tmp_path / "x.csv").documents) == 2


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            [
                "구분,기본,,상세,",
                ",컬럼,,속성,",
                "순번,영문명,한글명,타입,길이",
                "1,LOT_ID,로트번호,CHAR,9",
                "2,QTY,수량,INT,",
            ],
            ["LOT_ID (CHAR): 로트번호; 순번: 1; 길이: 9", "QTY (INT): 수량; 순번: 2"],
        ),
        (
            [
                *("Catalogue,,,,", "Basic,,Details,,", "Table,,Column,,", "Physical,Logical,Physical,Logical,Type"),
                "LOT,Lots,QTY,Units,INT",
            ],
            ["Catalogue", "LOT.QTY (INT): Units; Table Logical: Lots"],
        ),
        (
            ["Catalogue,,", "Table,Column,", ",Name,Type", "LOT,QTY,INT", ",ID,TEXT"],
            ["Catalogue", "LOT.QTY (INT)", "LOT.ID (TEXT)"],
        ),
        (
            ["table,column,,", "lot,name,the name,text", "lot,type,a kind,name"],
            ["lot.name; the name; text", "lot.type; a kind; name"],
        ),
        (["name,text,,", "column,type,a,b"], ["column: type; a; b"]),
    ],
    ids=["three lines", "three below a title", "one over two lines", "rows of headings' words", "a row of such words"],
)
def test_headings_below_others_that_span_columns_are_read_with_them(lines: list[str], told: list[str], tmp_path: Path):
    (tmp_path / "x.csv").write_text("\n".join(lines), encoding="utf-8")
    assert [document.text for document in read_documents(tmp_path / "x.csv").documents] == told


@pytest.mark.parametrize("form", FORMS)
def test_four_columns_in_are_four_documents_out(form: str, tmp_path: Path):
    name, raw = FORMS[form]
    (tmp_path / name).write_bytes(raw)
    reading = read_documents(tmp_path / name)
    found = {document.id: document.text for document in reading.documents}
    assert len(found) == 4, reading
    assert [one.source for one in reading.refused] == (["x.yml#version"] if form == "yaml of dbt" else [])
    assert {id_: found[id_] for id_ in WANTED} == WANTED
    assert found["ball.qty"] == "ball.qty"


def test_other_headings_are_told_too(tmp_path: Path):
    (tmp_path / "x.csv").write_text("table,column,description,unit\nlot,yield,수율,%\n", encoding="utf-8")
    assert read_documents(tmp_path / "x.csv").documents[0].text == "lot.yield: 수율; unit: %"
    (tmp_path / "y.csv").write_text("question,answer,answer\nWhen?,Now,Later,and more\n", encoding="utf-8")
    assert (
        read_documents(tmp_path / "y.csv").documents[0].text == "question: When?; answer: Now; answer: Later; and more"
    )


def test_two_rows_of_one_id_are_both_kept_and_a_repeated_one_is_named(tmp_path: Path):
    (tmp_path / "x.json").write_text(
        json.dumps([{"id": "a", "text": "1"}, {"id": "a", "text": "2"}] * 2), encoding="utf-8"
    )
    reading = read_documents(tmp_path / "x.json")
    assert [document.id for document in reading.documents] == ["a", "a (x.json#2)"]
    assert [(one.source, one.reason) for one in reading.refused] == [
        ("x.json#3", "it says the same as x.json#1"),
        ("x.json#4", "it says the same as x.json#2"),
    ]


@pytest.mark.parametrize(
    "export",
    [
        {"ids": ["a", "b"], "documents": ["one", "two"], "metadatas": [{"page": 1}, None], "embeddings": None},
        {"ids": [["a"], ["b"]], "documents": [["one"], ["two"]], "metadatas": [[{"page": 1}], [None]]},
    ],
    ids=["get", "query"],
)
def test_an_export_of_chroma_keeps_ids_texts_and_metadata(export: dict[str, Any], tmp_path: Path):
    (tmp_path / "x.json").write_text(json.dumps(export), encoding="utf-8")
    reading = read_documents(tmp_path / "x.json")
    assert [(one.id, one.text, dict(one.metadata)) for one in reading.documents] == [
        ("a", "one", {"page": 1}),
        ("b", "two", {}),
    ]


def test_markdown_and_html_are_cut_at_their_headings(tmp_path: Path):
    (tmp_path / "x.md").write_text("intro\n\n# Install\n\nrun it\n\n## Linux\n\n" + "word. " * 600, encoding="utf-8")
    texts = [one.text for one in read_documents(tmp_path / "x.md").documents]
    assert texts[:2] == ["intro", "Install\nrun it"]
    assert all(text.startswith("Install > Linux\n") for text in texts[2:])
    assert sum(text.count("word.") for text in texts) == 600
    assert max(map(len, texts)) < 1_600
    (tmp_path / "x.html").write_text(
        "<style>p{}</style><h1>A</h1><p>one<p>two &amp; three<script>4</script>", encoding="utf-8"
    )
    assert [one.text for one in read_documents(tmp_path / "x.html").documents] == ["A\none\ntwo & three"]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (
            "<h1>Lot</h1><p>before</p><dl><dt>qty<dd>units<dt>id</dt><dd>number<p>of the lot</p></dl>after",
            ["Lot.qty: units", "Lot.id: number of the lot", "Lot\nbefore\nafter"],
        ),
        ("<dl><div><dt>a</dt><dt>b</dt><dd>one</dd><dd>two</dd></div></dl>", ["name: a", "b: one; two"]),
        ("<dl><dt>a</dt><dd>one<dl><dt>b</dt><dd>two</dd></dl></dd></dl>", ["b: two", "a: one"]),
        ("<p>x</p><dl></dl><dd>stray", ["x\nstray"]),
        ("<dl><dt>a<dd>one", ["a: one"]),
    ],
    ids=["under a heading", "several of one", "one in another", "none", "not ended"],
)
def test_each_term_of_a_list_of_terms_is_a_document(raw: str, told: list[str], tmp_path: Path):
    (tmp_path / "x.html").write_text(raw, encoding="utf-8")
    assert [one.text for one in read_documents(tmp_path / "x.html").documents] == told


SHEET = [["Catalogue of 2026"], ["컬럼명", "타입", "설명"], ["id", "int", "번호"], ["", "", ""]]


def test_excel_is_read_sheet_by_sheet_below_its_title(tmp_path: Path):
    pytest.importorskip("python_calamine", reason="pip install the extra `documents`")
    (tmp_path / "x.xlsx").write_bytes(workbook(SHEET))
    reading = read_documents(tmp_path / "x.xlsx")
    assert [one.text for one in reading.documents] == ["Catalogue of 2026", "lot.id (int): 번호"]


@pytest.mark.parametrize("form", ["excel", "word"])
def test_four_columns_in_an_office_file_are_four_documents_out(form: str, tmp_path: Path):
    """Issue 20, line 1: the same table of columns as of every other form, under Korean headings."""
    pytest.importorskip("python_calamine", reason="pip install the extra `documents`")
    table = [["테이블명", "컬럼명", "데이터 타입", "컬럼 설명"], *map(list, COLUMNS)]
    name, raw = ("x.xlsx", workbook(table)) if form == "excel" else ("x.docx", word([], table))
    (tmp_path / name).write_bytes(raw)
    reading = read_documents(tmp_path / name)
    found = {document.id: document.text for document in reading.documents}
    assert len(found) == 4, reading
    assert not reading.refused
    assert {id_: found[id_] for id_ in WANTED} == WANTED


def test_pdf_and_word_are_read_page_by_page_and_section_by_section(tmp_path: Path):
    pytest.importorskip("pypdf", reason="pip install the extra `documents`")
    (tmp_path / "x.pdf").write_bytes(pdf("Yield is out over in."))
    (tmp_path / "x.docx").write_bytes(word([("Heading1", "Terms"), ("", "Yield is out over in.")]))
    assert [one.text for one in read_documents(tmp_path).documents] == [
        "Terms\nYield is out over in.",
        "Yield is out over in.",
    ]


@pytest.mark.parametrize(
    ("name", "raw", "reason"),
    [
        ("x.xlsx", b"no", "not what its name says"),
        ("x.pdf", b"no", "not what its name says"),
        ("x.docx", b"no", "not what its name says"),
        ("x.doc", b"no", r"save it as \.docx"),
        ("x.csv", b"a,b\n\xff\xfe\xfd\n", "neither UTF-8"),
        ("x.yaml", b"a: [", "not what its name says"),
        ("x.json", b"[" * 3_000, "nested too deeply"),
        ("x.bin", b"no", "no reader for"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_the_others_are_kept(
    name: str, raw: bytes, reason: str, tmp_path: Path
):
    pytest.importorskip("pypdf", reason="pip install the extra `documents`")
    (tmp_path / name).write_bytes(raw)
    (tmp_path / "good.txt").write_text("one", encoding="utf-8")
    (tmp_path / ".hidden").write_text("none", encoding="utf-8")
    reading = read_documents(tmp_path)
    assert [document.text for document in reading.documents] == ["one"]
    assert [one.source for one in reading.refused] == [name]
    with pytest.raises(ConfigError, match=reason):
        read_documents(tmp_path / name)


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.text(max_size=3))
known = ["table", "column", "type", "description", "id", "설명", "note"]
headings = st.lists(st.sampled_from(known), min_size=1, max_size=5)
cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.text(max_size=3))
objects = st.dictionaries(st.sampled_from(["table", "column", "id", "text", "note", "name"]), values)


def accounted(reading: Reading) -> int:
    """Count what was read, and hold that no id is used twice."""
    assert len({document.id for document in reading.documents}) == len(reading.documents)
    assert all(document.text for document in reading.documents)
    return len(reading.documents) + len(reading.refused)


def written(path: Path, raw: bytes) -> Reading | None:
    path.write_bytes(raw)
    try:
        return read_documents(path)
    except ConfigError:
        return None


@pytest.mark.slow
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=headings, table=st.lists(st.lists(cells, min_size=1, max_size=6), max_size=12))
def test_of_any_csv_each_row_is_a_document_or_named(names: list[str], table: list[list[str]], tmp_path: Path):
    out = io.StringIO()
    csv.writer(out).writerows([names, *table])
    reading = written(tmp_path / "x.csv", out.getvalue().encode())
    if reading is not None:
        assert accounted(reading) == len(table)
    else:
        assert not any(cell.strip() for row in table for cell in row) or names == ["id"] or is_only_ids(names, table)


def is_only_ids(names: list[str], table: list[list[str]]) -> bool:
    """Tell rows that hold an id and nothing else, which say nothing."""
    others = [at for at in range(6) if at >= len(names) or names[at] != "id"]
    return not any(row[at].strip() for row in table for at in others if at < len(row))


@pytest.mark.slow
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=st.lists(objects, max_size=12))
def test_of_any_json_list_each_row_is_a_document_or_named(table: list[dict[str, Any]], tmp_path: Path):
    reading = written(tmp_path / "x.json", json.dumps(table).encode())
    if reading is not None:
        assert accounted(reading) == len(table)
