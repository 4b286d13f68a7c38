"""Cached environments with real clients, made on first use: `uv` for Python, `npm` for Node."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

CACHE = Path("~/.cache/naru-tests").expanduser()
_INSTALL_SECONDS = 300


def python_environment(*requirements: str, without: Sequence[str] = ()) -> Path:
    """Return the Python of an environment that holds exactly these requirements; skips when they cannot be had.

    `without` names packages that are asked for, and are never imported: engines of gigabytes.
    """
    folder = CACHE / _name("py", [sys.version, *requirements, *without])
    python = folder / "bin" / "python"
    with made_once(folder) as is_made:
        if not is_made:
            uv = Path(sys.executable).parent / "uv"
            _run([str(uv), "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
            (folder / "without.txt").write_text(
                "".join(f"{name} ; sys_platform == 'never'\n" for name in without), encoding="utf-8"
            )
            left_out = ["--override", str(folder / "without.txt")] if without else []
            _run([str(uv), "pip", "install", "--quiet", "--python", str(python), *left_out, *requirements])
    return python


def node_environment(packages: dict[str, str]) -> Path:
    """Return a folder whose `node_modules` holds these packages; skips when Node or they cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are missing: apt-get install nodejs npm")
    folder = CACHE / _name("node", [f"{name}@{version}" for name, version in sorted(packages.items())])
    with made_once(folder) as is_made:
        if not is_made:
            folder.mkdir(exist_ok=True)
            manifest = {"private": True, "type": "module", "dependencies": packages}
            (folder / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
            how = "--silent --no-audit --no-fund --fetch-retries=1 --fetch-timeout=60000"
            _run(["npm", "install", *how.split(), "--prefix", str(folder)])
    return folder


def _name(kind: str, parts: list[str]) -> str:
    return f"{kind}-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:16]}"


@contextlib.contextmanager
def made_once(folder: Path) -> Iterator[bool]:
    """Tell whether a folder has been made, and hold it meanwhile; what is done without an error has made it.

    Workers of `make test` come to the same one within moments: npm leaves a folder that two installed into
    without some of its packages, and calls it done.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    ready = folder / ".ready"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield ready.exists()
        ready.touch()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    if done.returncode:
        pytest.skip(f"cannot install what this test needs: {' '.join(command)}: {done.stderr.strip()[-300:]}")
