"""Cached environments with real clients, made on first use: `uv` for Python, `npm` for Node."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

CACHE = Path("~/.cache/naru-tests").expanduser()
_INSTALL_SECONDS = 300


def python_environment(*requirements: str, without: Sequence[str] = ()) -> Path:
    """Return the Python of an environment that holds exactly these requirements; skips when they cannot be had.

    `without` names packages that are asked for, and are never imported: engines of gigabytes.
    """
    folder = _folder("py", [sys.version, *requirements, *without])
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        uv = Path(sys.executable).parent / "uv"
        _run([str(uv), "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
        (folder / "without.txt").write_text("".join(f"{name} ; sys_platform == 'never'\n" for name in without))
        left_out = ["--override", str(folder / "without.txt")] if without else []
        _run([str(uv), "pip", "install", "--quiet", "--python", str(python), *left_out, *requirements])
        (folder / ".ready").touch()
    return python


def node_environment(packages: dict[str, str]) -> Path:
    """Return a folder whose `node_modules` holds these packages; skips when Node or they cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are missing: apt-get install nodejs npm")
    folder = _folder("node", [f"{name}@{version}" for name, version in sorted(packages.items())])
    if not (folder / ".ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        manifest = {"private": True, "type": "module", "dependencies": packages}
        (folder / "package.json").write_text(json.dumps(manifest))
        _run(
            [
                "npm",
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--fetch-retries=1",
                "--fetch-timeout=60000",
                "--prefix",
                str(folder),
            ]
        )
        (folder / ".ready").touch()
    return folder


def _folder(kind: str, parts: list[str]) -> Path:
    return CACHE / f"{kind}-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:16]}"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    if done.returncode:
        pytest.skip(f"cannot install what this test needs: {' '.join(command)}: {done.stderr.strip()[-300:]}")
