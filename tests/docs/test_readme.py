"""The two READMEs say the same, and the feature table names every line of the specification once."""

from __future__ import annotations

import ast
import re

from tests.docs.blocks import ROOT, blocks
from tests.syntax import parsed

IDS = (
    [f"R{n}" for n in range(1, 14)]
    + [f"H{n}" for n in range(1, 15)]
    + [f"V{n}" for n in range(1, 12)]
    + [f"S{n}" for n in range(1, 7)]
    + [f"D{n}" for n in range(1, 8)]
    + [f"N{n}" for n in range(1, 25)]
)


def test_every_line_of_the_specification_stands_in_the_feature_table_with_its_state() -> None:
    table = (
        (ROOT / "README.md").read_text(encoding="utf-8").split("<!-- features -->")[1].split("<!-- /features -->")[0]
    )
    named: list[str] = []
    for row in table.strip().splitlines()[2:]:
        ids, what, state = (cell.strip() for cell in row.strip("|").split("|"))
        assert what, row
        assert state, row
        for word in ids.split():
            first, dash, last = word.partition("–")
            if dash:
                letter = first[0]
                named += [f"{letter}{n}" for n in range(int(first[1:]), int(last[1:]) + 1)]
            elif re.fullmatch(r"[A-Z]\d+", word):
                named.append(word)
    assert sorted(named) == sorted(IDS), {
        "missing": set(IDS) - set(named),
        "twice": {x for x in named if named.count(x) > 1},
    }


def test_every_line_of_the_specification_is_named_by_a_test() -> None:
    named: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        said = re.findall(r"#.*", source)
        for node in ast.walk(parsed(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                said.append(ast.get_docstring(node) or "")
        named |= set(re.findall(r"\b[RHVSDN]\d+\b", "\n".join(said)))
    assert set(IDS) - named == set(), "*done* in the README means that the tests which carry the id pass"


def test_both_readmes_show_the_same_commands_and_the_same_code() -> None:
    def code(page: str) -> list[str]:
        found = [block for block in blocks() if block.page == page]
        return [
            re.sub(r"#.*|search-ko", "search", block.text) if block.language == "sh" else block.text for block in found
        ]

    english, korean = code("README.md"), code("README.ko.md")
    assert len(english) == len(korean)
    for one, other in zip(english, korean, strict=True):
        assert re.sub(r"\s*search\s*", " ", one) == re.sub(r"\s*search\s*", " ", other)


def test_each_peer_of_the_comparison_has_a_cell_in_every_row() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("<!-- peers -->")[1].split("<!-- /peers -->")[0]
    rows = [row.strip("|").split("|") for row in table.strip().splitlines()]
    assert {len(row) for row in rows} == {7}
    assert all(cell.strip() for row in rows[2:] for cell in row)
