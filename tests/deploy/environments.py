"""Clean environments as users make them: `uv` with the versions of the lock, away from the repository."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
UV = Path(sys.executable).with_name("uv")
_SECONDS = 300


def uv(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run uv in `folder`, with nothing of the environment that runs the tests."""
    environment = {**os.environ, "UV_SYSTEM_CERTS": "true", **(env or {})}
    environment.pop("VIRTUAL_ENV", None)
    return subprocess.run(
        [str(UV), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def clean_environment(folder: Path, requirement: str) -> Path:
    """Make an environment in `folder` that holds `requirement` with the locked versions; return the folder.

    Skips when what is needed is neither in uv's cache nor to be had.
    """
    constraints = folder / "constraints.txt"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    constraints.write_text(
        "\n".join(re.findall(r"^([a-z0-9][^\s\\]*==[^\\\n]*?) *\\?$", lock, re.MULTILINE)), encoding="utf-8"
    )
    uv(folder, "venv", "--python", sys.executable, str(folder / "venv")).check_returncode()
    python = folder / "venv" / "bin" / "python"
    for mode in (["--offline"], []):
        done = uv(folder, "pip", "install", *mode, "--python", str(python), "-c", str(constraints), requirement)
        if done.returncode == 0:
            return folder
    pytest.skip(f"what {requirement} needs is neither in uv's cache nor to be had: {done.stderr[-300:]}")


@dataclass(frozen=True)
class Ended:
    """How a program ended, or that it served until it was interrupted (`code` 0)."""

    code: int
    said: str
    told: str


def run(folder: Path, *command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program of the environment, away from the repository."""
    program = str(folder / "venv" / "bin" / command[0])
    return subprocess.run(
        [program, *command[1:]],
        cwd=folder,
        env=_environment(folder),
        input=text,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def serve(folder: Path, *arguments: str) -> Ended:
    """Run `naru serve` until it serves or ends, then stop it as Ctrl-C does."""
    command = [str(folder / "venv" / "bin" / "naru"), "serve", *arguments]
    with subprocess.Popen(
        command, cwd=folder, env=_environment(folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stderr is not None
        lines = []
        for line in child.stderr:
            lines.append(line)
            if "Naru serves" in line:
                child.send_signal(signal.SIGINT)
                lines += child.stderr
                child.wait(timeout=90)
                return Ended(0, "", "".join(lines))
        return Ended(child.wait(timeout=90), "", "".join(lines))


def _environment(folder: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "NARU_HUB__DATA_DIR": str(folder / "data")}
