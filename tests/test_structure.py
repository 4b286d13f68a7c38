"""The size limits of STYLE.md, as tests that fail rather than warn."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.syntax import parsed

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "naru").rglob("*.py"))
ALL = sorted(path for top in ("src", "tests", "bench", "scripts", "examples") for path in (ROOT / top).rglob("*.py"))
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_source_file_stays_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, "split it: a file has at most 400 lines"
    assert path.stem not in FORBIDDEN_NAMES, "name it after what it holds"
    assert not path.stem.endswith("_service"), "name it after what it holds"
    tree = parsed(text)
    assert ast.get_docstring(tree), "say at the head what lives here"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines; at most 60"


def test_a_folder_is_a_room_and_not_a_street() -> None:
    streets = {
        str(folder.relative_to(ROOT)): count
        for folder in {path.parent for path in SOURCES}
        if (count := sum(1 for path in folder.glob("*.py") if path.stem != "__init__")) > 24
    }
    assert not streets, "look for the rooms in it"


def test_a_text_file_is_utf8_whatever_the_locale_says() -> None:
    """Under `LC_ALL=ko_KR.eucKR`, say, it would be read as something else."""
    left_to_the_locale = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in ALL
        if "e_text(" in (text := path.read_text(encoding="utf-8")) or "d_text(" in text
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and len(node.args) == {"read_text": 0, "write_text": 1}.get(node.func.attr)
        and all(keyword.arg != "encoding" for keyword in node.keywords)
    ]
    assert not left_to_the_locale, "say encoding='utf-8'"
