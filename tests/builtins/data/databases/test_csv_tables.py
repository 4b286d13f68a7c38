"""CSV files as people and programs write them, asked as tables: no row lost, numbers and days as what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.builtins.data.databases.open import open_database
from naru.config import DataSettings

FORMS: dict[str, tuple[str, list[list[object]]]] = {
    "german": (
        "Ort;Umsatz;Anteil;Tag;Stück\nBonn;1.234,50 €;12,5 %;03.04.2026 9:05;1.200\n"
        "Ulm;-7,10 €;8 %;15.04.2026 14:30;950\n",
        [["Bonn", 1234.5, 12.5, "2026-04-03T09:05:00", 1200], ["Ulm", -7.1, 8, "2026-04-15T14:30:00", 950]],
    ),
    "french": (
        "ville;habitants;loyer\nParis;2\u202f102\u202f650;1\u00a0234,50\u00a0€\nLyon;522\u202f250;987,00\u00a0€\n",
        [["Paris", 2102650, 1234.5], ["Lyon", 522250, 987.0]],
    ),
    "american": (
        'item,price,off\nbolt,"$1,234.50",10%\nnut,($3.10),5%\n',
        [["bolt", 1234.5, 10], ["nut", -3.1, 5]],
    ),
    "korean": (
        '품목,가격,날짜\n볼트,"1,200원",2026년 3월 4일\n너트,900원,2026. 3. 15.\n',
        [["볼트", 1200, "2026-03-04"], ["너트", 900, "2026-03-15"]],
    ),
    "codes": (
        "zip;phone;version;line;parts\n01234;171 123 456;1.2.3;L1;1,2\n10115;030 999 999;1.10.0;L2;3,4,5\n",
        [["01234", "171 123 456", "1.2.3", "L1", "1,2"], ["10115", "030 999 999", "1.10.0", "L2", "3,4,5"]],
    ),
    "none": ("id,score\n1,N/A\n2,3.5\n3,-\n", [[1, None], [2, 3.5], [3, None]]),
    "ragged": ("id,name,note\n1,a,x\n2,b\n3,c,y,z\n", [[1, "a", "x", None], [2, "b", None, None], [3, "c", "y", "z"]]),
    "comma_in_cells": ("no;parts\n1;1,2\n2;3,4,7\n", [[1, "1,2"], [2, "3,4,7"]]),
    "titled": ("Menu of June, 2026,\n\ndish,price\nSoup,5000\nRice,1000\n", [["Soup", 5000], ["Rice", 1000]]),
    "titled_cells": (
        "Menu of June,,\ndish,price,at\nSoup,5000,1\nRice,1000,2\n",
        [["Soup", 5000, 1], ["Rice", 1000, 2]],
    ),
    "footed": ("town,q1,q2\nBonn,10,20\nUlm,5,7\n\nSource: office\n", [["Bonn", 10, 20], ["Ulm", 5, 7]]),
    "last_empty": ("town,q1\nBonn,10\nUlm,\n", [["Bonn", 10], ["Ulm", None]]),
    "told_separator": ("sep=;\nid;name\n1;a\n2;b\n", [[1, "a"], [2, "b"]]),
    "two_headings": (
        "Town;2025;;2026;\n;in;out;in;out\nBonn;1;2;3;4\nUlm;5;6;7;8\n",
        [["Bonn", 1, 2, 3, 4], ["Ulm", 5, 6, 7, 8]],
    ),
    "gaps": ("id,,name,\n1,,a,\n2,,b,\n", [[1, "a"], [2, "b"]]),
    "late": ("id,v\n" + "1,1\n" * 25_000 + "2,x\n", [[1, "1"]] * 25_000 + [[2, "x"]]),
}


async def test_messy_files_are_asked_as_the_tables_that_people_see_in_them(tmp_path: Path):
    pytest.importorskip("duckdb", reason="install the extra `duckdb`")
    for name, (text, _) in FORMS.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    database = open_database(
        DataSettings(naru_database_url=str(tmp_path), postgresql_db_max_rows=30_000, _env_file=None)
    )
    assert list((await database.check()).warnings) == [
        "footed.csv has 1 line below its rows, no row of it: 'Source: office'"
    ]
    for name, (_, rows) in FORMS.items():
        found = (await database.query(f"SELECT * FROM {name}")).records
        assert [list(row.values()) for row in found] == rows, name
    columns = {table.name: {one.name: one for one in table.columns} for table in (await database.catalogue()).tables}
    assert [columns["german"][name].comment for name in ("Umsatz", "Anteil", "Stück")] == ["unit: €", "unit: %", ""]
    assert list(columns["two_headings"]) == ["Town", "2025 in", "2025 out", "2026 in", "2026 out"]
    assert list(columns["titled"]) == ["dish", "price"]
    await database.close()
