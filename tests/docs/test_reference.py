"""The reference is the code's: a setting, flag, route or error code that nobody described fails here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from scripts import reference

FOLDER = reference.FOLDER


@pytest.mark.parametrize("page", reference.PAGES)
@pytest.mark.slow
def test_a_page_of_the_reference_says_what_the_code_says(page: str) -> None:
    assert (FOLDER / page).read_text(encoding="utf-8") == reference.PAGES[page](), "run `make reference`"


@pytest.mark.parametrize("page", reference.PAGES)
def test_a_reader_meets_no_number_of_a_list_that_is_not_here(page: str) -> None:
    text = (FOLDER / page).read_text(encoding="utf-8")
    assert re.findall(r"\((?:[A-Z]+ )?[A-Z]-?[0-9]{1,2}\b[^)]*\)", text) == []


def test_every_setting_is_described() -> None:
    for line in (FOLDER / "settings.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            assert len(line.split(" | ")[2].strip()) > 4, line


def test_every_command_argument_and_option_is_described() -> None:
    for _, path, command in reference.commands():
        assert command.help or path[0] in reference.COMMANDS, path
        for one in command.params:
            assert getattr(one, "help", None) or one.name in ("name", "key_id"), (*path, one.name)


def test_every_command_stands_in_the_reference_those_of_groups_in_groups_too() -> None:
    page = (FOLDER / "cli.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^##+ `naru (.+)`$", page, re.MULTILINE))
    assert {" ".join(path) for _, path, command in reference.commands() if not hasattr(command, "commands")} <= told
    assert "servers secret set" in told


def test_every_route_is_described_and_every_role_is_told() -> None:
    rows = [line for line in (FOLDER / "http.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) > 40
    for row in rows:
        _, place, role, what, *_ = (cell.strip() for cell in row.split("|"))
        assert role in ("public", "read", "user", "operator", "admin"), place
        assert len(what) > 10, place
        assert what.strip("`") not in place, place
        assert "ASGI" not in what, f"{place}: said to programmers of Naru, not to callers"


@pytest.mark.slow
def test_an_error_code_without_a_remedy_fails_and_names_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = yaml.safe_load((FOLDER / reference.ERRORS).read_text(encoding="utf-8"))
    del told["server"]["command_not_found"]
    (tmp_path / reference.ERRORS).write_text(yaml.safe_dump(told), encoding="utf-8")
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match="command_not_found"):
        reference.errors_page()


@pytest.mark.slow
def test_the_codes_are_found_in_the_source_and_not_in_a_list() -> None:
    found = reference.codes()
    assert {"wrong_key", "forbidden", "tool_timeout", "precondition_failed"} <= found["api"].keys()
    assert {"command_not_found", "http_NNN", "unauthorized"} <= found["server"].keys()
    assert {"rate_limited", "tools_unsupported"} <= found["model"].keys()
