"""What bad input gets: one line that says what was tried, what happened and what to do; no traceback (R-42)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def naru(
    *arguments: str, environment: dict[str, str] | None = None, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        input=given,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def is_one_clear_line(done: subprocess.CompletedProcess[str], *says: str) -> None:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode != 0
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in says:
        assert word in lines[0]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"NARU_HUB__DATA_DIR": str(tmp_path / "data"), "NARU_MODEL__CACHE_DIR": str(tmp_path / "cache")}


def test_a_file_that_is_no_gguf(home: dict[str, str], tmp_path: Path) -> None:
    bad = tmp_path / "model.gguf"
    bad.write_bytes(b"not a model at all")
    is_one_clear_line(
        naru("naru.cli.main", "serve", "--port", "0", "--model", str(bad), environment=home), "GGUF", str(bad)
    )


def test_a_model_that_is_not_there(home: dict[str, str]) -> None:
    done = naru("naru.cli.main", "serve", "--port", "0", "--model", "/nowhere/model.gguf", environment=home)
    is_one_clear_line(done, "/nowhere/model.gguf")


@pytest.mark.parametrize("chosen_by", ["--port", "NARU_SERVER__OLLAMA_PORT"])
def test_a_port_that_is_in_use(home: dict[str, str], chosen_by: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        main, other = (port, "0") if chosen_by == "--port" else ("0", port)
        words = ("serve", "--port", main, "--base-url", "http://127.0.0.1:1/v1")
        done = naru("naru.cli.main", *words, environment={**home, "NARU_SERVER__OLLAMA_PORT": other})
    is_one_clear_line(done, port, "in use", f"choose another port with {chosen_by}.")


def test_a_base_url_that_is_none(home: dict[str, str]) -> None:
    done = naru("naru.cli.main", "serve", "--port", "0", "--base-url", "nonsense", environment=home)
    is_one_clear_line(done, "nonsense")


def test_an_open_bind_without_keys_is_refused(home: dict[str, str]) -> None:  # S-01
    done = naru(
        "naru.cli.main", "serve", "--host", "0.0.0.0", "--base-url", "http://127.0.0.1:1/v1",
        environment={**home, "NARU_SERVER__AUTH": "off"},
    )  # fmt: skip
    is_one_clear_line(done, "auth")


def test_an_hr_database_that_is_missing(tmp_path: Path) -> None:
    is_one_clear_line(naru("naru.builtins.hr.server", "--db", str(tmp_path / "none.db")), "none.db")


def test_an_hr_database_that_is_no_database(tmp_path: Path) -> None:
    wrong = tmp_path / "hr.db"
    wrong.write_text("this is not SQLite, and long enough to be looked at as a header of one", encoding="utf-8")
    is_one_clear_line(naru("naru.builtins.hr.server", "--db", str(wrong)), "hr.db")


def test_a_setting_that_does_not_exist(home: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text("server:\n  prot: 1\n", encoding="utf-8")
    file.chmod(0o600)
    is_one_clear_line(naru("naru.cli.main", "serve", "--config", str(file), environment=home), "prot")
