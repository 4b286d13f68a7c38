"""Docs cannot lie: what they list is compared with the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_layers_in_the_architecture_are_those_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]["layers"]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = text.split("<!-- layers -->")[1].split("<!-- /layers -->")[0]
    assert [re.sub(r"^\d+\. ", "", line) for line in listed.strip().splitlines()] == contract


def test_the_architecture_names_every_package_and_no_other() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    packages = [path.parent.name for path in (ROOT / "src" / "naru").glob("*/__init__.py")]
    assert sorted(named) == sorted(packages)


def test_the_list_of_decisions_names_each_by_its_own_title() -> None:
    folder = ROOT / "docs" / "decisions"
    heads = [path.read_text(encoding="utf-8").partition("\n")[0] for path in sorted(folder.glob("0*.md"))]
    names = [path.name for path in sorted(folder.glob("0*.md"))]
    assert [head[2:6] for head in heads] == [name[:4] for name in names]
    rows = [f"- [{head[2:6]}]({name}) {head[8:]}" for head, name in zip(heads, names, strict=True)]
    assert re.findall(r"^- .+$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE) == rows


def test_every_local_link_of_the_documents_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """Return what a link to a heading of a page may end in on GitHub: letters of any script, dashes for spaces."""
    headings = re.findall(r"^#{1,6} (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_to_a_heading_leads_to_one() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#]*)#([^)]+)\)", text):
            assert anchor in anchors(page.parent / target if target else page), f"{page.name}: {target}#{anchor}"
