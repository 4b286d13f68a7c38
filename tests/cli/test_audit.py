"""`naru audit` and what commands leave in the log (S-61)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def naru(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"NARU_HUB__DATA_DIR": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    command = [sys.executable, "-m", "naru.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)


@pytest.mark.slow
def test_changes_from_the_command_line_are_in_the_log_and_a_changed_line_is_found(tmp_path: Path) -> None:
    for command in (
        ("servers", "add", "docs", "https://host/mcp"),
        ("servers", "remove", "docs"),
        ("keys", "create", "read"),
    ):
        assert naru(tmp_path, *command).returncode == 0
    shown = json.loads(naru(tmp_path, "audit", "show", "--json").stdout)
    assert [entry["what"] for entry in shown] == ["server.added", "server.removed", "key.created"]
    good = naru(tmp_path, "audit", "verify", "--json")
    assert (good.returncode, json.loads(good.stdout)["entries"]) == (0, 3)
    log = tmp_path / "audit.jsonl"
    log.write_text(log.read_text(encoding="utf-8").replace("server.removed", "server.changed"), encoding="utf-8")
    bad = naru(tmp_path, "audit", "verify")
    assert bad.returncode == 1
    assert "audit.jsonl:2" in bad.stdout
