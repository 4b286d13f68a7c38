"""The smallest office files and PDFs, written by hand: what is odd in a test's file is seen in the test."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(lines: list[list[str]]) -> bytes:
    """Write an .xlsx with one sheet called `lot`."""
    rows = (
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in line) + "</row>" for line in lines
    )
    return book({"lot": f"<sheetData>{''.join(rows)}</sheetData>"})


def book(sheets: Mapping[str, str]) -> bytes:
    """Write an .xlsx of sheets, each given as what its `worksheet` element holds."""
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    }
    listed, related = "", ""
    for number, (name, held) in enumerate(sheets.items(), 1):
        listed += f'<sheet name="{name}" sheetId="{number}" r:id="s{number}"/>'
        related += f'<Relationship Id="s{number}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        files[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{SHEETS}">{held}</worksheet>'
    files["xl/workbook.xml"] = f'<workbook xmlns="{SHEETS}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>'
    files["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>'
    return archive(files)


def row(number: int, cells: Mapping[str, str]) -> str:
    """Write a row whose cells say where they stand: `{"A": "id"}`."""
    told = (f'<c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c>' for column, text in cells.items())
    return f'<row r="{number}">{"".join(told)}</row>'


def word(paragraphs: list[tuple[str, str]], table: list[list[str]] | None = None) -> bytes:
    """Write the smallest .docx with paragraphs of these styles, and a table after them."""
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(
        f"<w:p>{f'<w:pPr><w:pStyle w:val={chr(34)}{style}{chr(34)}/></w:pPr>' if style else ''}"
        f"<w:r><w:t>{text}</w:t></w:r></w:p>"
        for style, text in paragraphs
    )
    if table:
        lines = (
            f"<w:tr>{''.join(f'<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>' for cell in line)}</w:tr>"
            for line in table
        )
        body += f"<w:tbl>{''.join(lines)}</w:tbl>"
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
            'wordprocessingml.document.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{main}"><w:body>{body}</w:body></w:document>',
        }
    )


def archive(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, text in files.items():
            # Without its own time, a file is the same in every process that collects a test of it.
            file.writestr(zipfile.ZipInfo(name), '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return out.getvalue()


def pdf(line: str) -> bytes:
    """Write a PDF of one page with one line of Latin text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    raw, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(raw))
        raw += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return raw + b"xref\n0 5\n0000000000 65535 f \n%strailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(raw),
    )
