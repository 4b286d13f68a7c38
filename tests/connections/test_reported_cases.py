"""Every public report about connections has a test that carries its id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPORTS = [
    json.loads(line)
    for line in (HERE.parent / "cases" / "reports.jsonl").read_text(encoding="utf-8").splitlines()
    if line
]
OURS = [report["id"] for report in REPORTS if report["part"].startswith("connection manager") and report["area"] != "b"]
OURS += ["a28", "f21"]
OURS += [
    json.loads(line)["id"]
    for line in (HERE.parent / "cases" / "servers_2.jsonl").read_text(encoding="utf-8").splitlines()
]
SOURCES = "\n".join(
    path.read_text(encoding="utf-8") for path in HERE.rglob("test_*.py") if path.name != Path(__file__).name
)


@pytest.mark.parametrize("report", sorted(set(OURS)))
def test_a_report_is_a_test(report: str) -> None:
    assert report in SOURCES, "write a test with this id in its docstring"
