"""`naru doctor` and `naru chat` as a person uses them (N10)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.cli.test_bad_input import is_one_clear_line, naru

from naru.cli.terminal.exit_codes import Exit

AWAY = ("--base-url", "http://127.0.0.1:9/v1", "--model", "x")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"NARU_HUB__DATA_DIR": str(tmp_path / "data"), "NARU_HUB__STORE": f"sqlite:{tmp_path / 'naru.db'}"}


@pytest.mark.slow
def test_a_command_and_an_address_that_do_not_exist_are_explained(home: dict[str, str]) -> None:
    naru("naru.cli.main", "servers", "add", "odd", "--", "no-such-program-here", environment=home)
    naru("naru.cli.main", "servers", "add", "gone", "http://127.0.0.1:9/mcp", environment=home)
    done = naru("naru.cli.main", "doctor", "--json", *AWAY, environment=home)
    found = {one["what"]: one for one in json.loads(done.stdout)}
    assert done.returncode == 1
    assert "no-such-program-here" in found["server odd"]["summary"]
    assert found["server odd"]["remedy"]
    assert "127.0.0.1:9" in found["server gone"]["summary"]
    assert "127.0.0.1:9" in found["model"]["summary"]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_what_a_program_said_before_it_ended_is_shown(home: dict[str, str]) -> None:
    program = "import sys; print('config missing: /etc/odd.toml', file=sys.stderr); sys.exit(3)"
    naru("naru.cli.main", "servers", "add", "odd", "--", sys.executable, "-c", program, environment=home)
    told = naru("naru.cli.main", "doctor", *AWAY, environment=home)
    assert "what to do: Its log says why" in told.stdout
    assert "its log: config missing: /etc/odd.toml" in told.stdout


@pytest.mark.slow
def test_chat_without_a_reachable_model_is_one_line(home: dict[str, str]) -> None:
    is_one_clear_line(naru("naru.cli.main", "chat", "Hi", *AWAY, environment=home), "127.0.0.1:9")
    piped = naru("naru.cli.main", "chat", *AWAY, environment=home, given="Hi\n")
    is_one_clear_line(piped, "127.0.0.1:9")
    assert piped.returncode == Exit.UNREACHABLE
