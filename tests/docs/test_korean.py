"""The Korean pages say what the English ones say: the same headings and blocks, none forgotten (issue 22, line 8)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE, ROOT

ENGLISH = ROOT / "docs"
KOREAN = ENGLISH / "ko"
FENCED = re.compile(r"^ *```(?P<info>[^\n]*)\n(?P<text>.*?)^ *```[ \t]*$", re.MULTILINE | re.DOTALL)
"""Blocks inside of a list, too."""
TRANSLATED = sorted(str(path.relative_to(KOREAN)) for path in KOREAN.rglob("*.md") if path.name != "README.md")


def levels(page: Path) -> list[int]:
    """Return the level of every heading, in order."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [len(line.split(" ")[0]) for line in text.splitlines() if re.match(r"#{1,6} ", line)]


def code(page: Path) -> list[tuple[str, str]]:
    """Return every block with its language."""
    return [(found["info"], found["text"]) for found in FENCED.finditer(page.read_text(encoding="utf-8"))]


def test_every_page_is_in_korean_or_named_as_english_only() -> None:
    wanted = {str(page.relative_to(ENGLISH)) for room in ("start", "how-to") for page in (ENGLISH / room).glob("*.md")}
    listed = (KOREAN / "README.md").read_text(encoding="utf-8")
    only = {page for page in wanted if f"](../{page})" in listed}
    assert wanted - only == set(TRANSLATED), "put a new page into docs/ko, or name it in docs/ko/README.md"
    assert {page for page in TRANSLATED if f"]({page})" not in listed} == set()


@pytest.mark.parametrize("page", TRANSLATED)
def test_a_korean_page_has_the_headings_and_blocks_of_the_english_one(page: str) -> None:
    assert levels(KOREAN / page) == levels(ENGLISH / page)
    assert code(KOREAN / page) == code(ENGLISH / page), "copy the block as it is: it is run from the English page"
    assert len(re.findall("[가-힣]", (KOREAN / page).read_text(encoding="utf-8"))) > 150
