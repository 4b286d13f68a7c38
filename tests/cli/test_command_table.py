"""Every command in every state: no traceback, a documented code, a remedy, JSON where it was asked for (issue 22)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.cli.command_table import PAGE, ROWS, STATES, Told, World, names, world

from naru.cli.terminal.exit_codes import Exit

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("commands")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("world")) as made:
        yield made


def test_every_command_has_its_row() -> None:
    assert set(names()) == set(ROWS), "give it a row in command_table.py, and make the page anew"


def documented(name: str) -> list[str]:
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `naru {name}` |"))
    return [cell.strip() for cell in row.split("|")[2:-1]]


def says_what_to_do(told: Told) -> bool:
    """Whether more is said than what is wrong: a second sentence, a command, or click's line that names the help."""
    said = " ".join(f"{told.err} {told.out}".split())
    return said.count(". ") > 0 or ": naru " in said or "-h' for help" in said or "naru " in told.out


@pytest.mark.parametrize("name", ROWS)
def test_a_command_ends_as_the_reference_says_in_every_state(place: World, name: str) -> None:
    codes = []
    for state in STATES:
        told = place.run(name, state)
        if told is None:
            codes.append("·")
            continue
        codes.append(str(told.code))
        assert not told.has_traceback, (state, told.err)
        assert told.code in set(Exit), (state, told.err)
        assert "\x1b" not in told.out + told.err, f"{state}: a pipe gets no colours and no bars"
        assert "••••" not in told.err.replace("://••••@", ""), (state, told.err)
        assert not told.code or says_what_to_do(told), (state, told.err)
        if state == "--json":
            assert told.out.strip(), f"nothing is no JSON (before it: {codes}): {told.err}"
            for one in [told.out] if told.out.lstrip()[0] in "[{" and name != "chat" else told.out.splitlines():
                json.loads(one)
    assert codes == documented(name), f"python -m tests.cli.command_table makes {PAGE.name} anew"
