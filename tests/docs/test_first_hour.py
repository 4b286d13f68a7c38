"""The first hour, as it is written down: each task's page has no more steps than are promised (issue 22, accepted)."""

from __future__ import annotations

import re

import pytest

from tests.docs.blocks import ROOT, Block, _of

PAGE = ROOT / "docs" / "start" / "first-hour.md"
ROWS = re.findall(r"^\| (?!you |---)([^|]+) \| ([^|]+) \| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
MOST = {
    "only want to look": 1, "have a client for OpenAI's API and an endpoint": 2,
    "have Claude Desktop with servers": 2,
    "found an MCP server on npm": 1, "write Python": 3, "have a folder of notes": 3, "have a database file": 3,
    "run it for others": 5, "keep what is there": 2,
}  # fmt: skip
"""What was accepted."""


def test_every_task_is_there_and_promises_no_more_steps_than_were_accepted() -> None:
    assert {who for who, _, _ in ROWS} == set(MOST)
    assert [(who, steps) for who, _, steps in ROWS if int(steps) > MOST[who]] == []


def blocks_under(page: str, heading: str) -> list[Block]:
    """Return the blocks of a page up to its second heading, or those below one heading."""
    path = ROOT / "docs" / page
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("## ")]
    begin = next((at for at in starts if lines[at - 1] == heading), 1)
    end = next((at for at in starts if at > begin), len(lines) + 1)
    return [block for block in _of(path) if begin <= block.line < end]


@pytest.mark.parametrize(
    ("page", "heading", "steps"),
    [
        ("how-to/ask-a-folder.md", "", 3),
        ("how-to/ask-a-database.md", "", 2),
        ("how-to/backup.md", "## Back up", 1),
        ("how-to/backup.md", "## Put it back, or move to another machine", 1),
        ("start/models.md", "## Ollama", 1),
        ("start/clients.md", "## Claude Desktop", 1),
    ],
)
def test_a_task_takes_the_commands_that_are_promised(page: str, heading: str, steps: int) -> None:
    commands = [one for block in blocks_under(page, heading) if block.language == "sh" for one in block.commands()]
    assert len(commands) == steps, commands


def test_nginx_takes_five_numbered_steps() -> None:
    page = (ROOT / "docs" / "how-to" / "proxy.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert re.findall(r"^(\d)\. ", page, re.MULTILINE) == list("12345")
