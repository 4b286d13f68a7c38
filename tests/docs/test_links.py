"""Docs cannot lie: what they list is compared with the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_layers_in_the_architecture_are_those_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
    text = (ROOT / "docs" / "architecture.md").read_text()
    listed = text.split("<!-- layers -->")[1].split("<!-- /layers -->")[0]
    assert [re.sub(r"^\d+\. ", "", line) for line in listed.strip().splitlines()] == contract


def test_the_architecture_names_every_package_and_no_other() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    packages = [path.parent.name for path in (ROOT / "src" / "naru").glob("*/__init__.py")]
    assert sorted(named) == sorted(packages)


def test_every_local_link_of_the_documents_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
