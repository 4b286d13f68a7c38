"""Command lines in messages are printed as a person here has to type them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from naru.cli.commands import COMMANDS
from naru.cli.terminal import called

HERE = Path(sys.executable).with_name("naru")


@pytest.mark.parametrize(
    ("argv0", "on_path", "told"),
    [
        (".venv/bin/naru", False, ".venv/bin/naru"),
        ("{folder}/.venv/bin/naru", False, ".venv/bin/naru"),
        ("{folder}/.venv/bin/naru", True, "naru"),
        ("{folder}/naru", False, "./naru"),
        ("/opt/my tools/bin/naru", False, "'/opt/my tools/bin/naru'"),
        ("naru", False, "naru"),
    ],
    ids=["relative", "below here", "on the PATH", "here", "with a space", "bare"],
)
def test_a_message_names_the_program_as_it_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv0: str, on_path: bool, told: str
) -> None:
    program = tmp_path / ".venv" / "bin" / "naru"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(program.parent) if on_path else "/nowhere")
    monkeypatch.setattr(sys, "argv", [argv0.format(folder=tmp_path)])
    called._program.cache_clear()
    try:
        assert called.as_called("Start it: naru serve") == f"Start it: {told} serve"
    finally:
        called._program.cache_clear()


def test_only_command_lines_are_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["x/naru"])
    for text in ("naru is a ferry", "See /opt/naru serve", "naru.yaml", "my-naru serve", "Naru serves naru-data"):
        assert called.as_called(text) == text
    for name in COMMANDS:
        assert called.as_called(f"`naru {name}`") == f"`x/naru {name}`"


@pytest.mark.slow
def test_help_errors_and_remedies_of_a_program_off_the_path_work_as_printed(tmp_path: Path) -> None:
    environment = {**os.environ, "NARU_HUB__DATA_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [str(HERE), *words], env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        return " ".join((done.stdout + done.stderr).split())

    program = called.shlex.quote(called._from_here(HERE))
    assert f"Usage: {program} servers" in run("servers", "frob")
    assert f"Try '{program} servers -h'" in run("servers", "frob")
    assert f"`{program} servers add time" in run("servers", "add", "-h")
    assert f"Add one: {program} servers add time" in run("servers", "list")
    assert f"See: {program} servers list" in run("servers", "explain", "none")
    # A shell is known by being the one that started it; two commands keep it from becoming the first of them.
    within = ["bash", "-c", f"{HERE} --show-completion; true"]
    completion = " ".join(subprocess.check_output(within, env=environment, text=True, timeout=120).split())
    assert "_NARU_COMPLETE=complete_bash" in completion
    assert completion.endswith(" naru")
