"""The command line in this process: `naru("servers", "list")` gives stdout and stderr, and checks the exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from naru.cli.main import main


@dataclass
class Done:
    stdout: str
    stderr: str


@pytest.fixture
def naru(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("NARU_HUB__DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NARU_SERVER__PORT", "9")  # nothing listens there: no hub of this machine is asked
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: int = 0) -> Done:
        monkeypatch.setattr(sys, "argv", ["naru", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        shown = capsys.readouterr()
        assert (left.value.code or 0) == code, shown.err
        return Done(shown.out, shown.err)

    return run
