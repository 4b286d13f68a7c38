"""Holds that the same tests are collected everywhere: `python scripts/collection.py`, a part of `make check`.

`make test` deals tests out to workers that each collect by themselves and have to find the same ones. So the tests are
collected four times at once, each beginning in another second, with another hash seed, time zone and temporary folder,
two of them in a copy of the tree in another folder: every id, plain parameter and place in the order has to be equal.
"""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SEEDS = ("0", "1", "4242", "random")
_SHOWN_LINES = 12


class Lister:
    """Writes what was collected, a line each, in the order in which a worker would have it."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write ids and parameters: those that a test is called with, where they are plain data."""
        lines = [f"{item.nodeid} {_fixtures(item)} {_plain(_parameters(item))}" for item in session.items]
        self._target.write_text("\n".join(lines), encoding="utf-8", errors="backslashreplace")


def _parameters(item: pytest.Item) -> object:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else None


def _fixtures(item: pytest.Item) -> str:
    return ",".join(getattr(item, "fixturenames", ()))


def _plain(value: object) -> str:
    """Return the text of plain data; of what has no value of its own, as functions and objects, the kind."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_plain(key)}: {_plain(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_plain, value)) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(_plain, value))) + "}"
    if isinstance(value, Path) and value.is_relative_to(ROOT):
        return value.relative_to(ROOT).as_posix()
    if isinstance(value, str | bytes | int | float | Path) or value is None:
        return repr(value)
    return type(value).__qualname__


def _copied(folder: Path) -> Path:
    """Copy what git would commit, as a clone in another place would have it."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def _start(root: Path, seed: str, folder: Path, how: str) -> tuple[subprocess.Popen[str], Path]:
    """Start a collection in a process of its own."""
    folder.mkdir()
    own = {"PYTHONHASHSEED": seed, "TMPDIR": str(folder), "TZ": f"UTC-{SEEDS.index(seed)}", "PYTHONPATH": f"{root}/src"}
    command = (sys.executable, str(root / "scripts" / "collection.py"), how, str(folder / "list"))
    return subprocess.Popen(
        command, cwd=root, env=os.environ | own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ), folder / "list"


def compare() -> int:
    """Collect four times and say what differs; 0 when nothing does."""
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        elsewhere = _copied(here / "another" / "folder")
        begun = []
        for number, seed in enumerate(SEEDS):
            # One leaves what `make test` wants of each file, asserts rewritten, beside it: its workers start with that.
            how = "--prepare" if number == 0 else "--list"
            begun.append(_start(elsewhere if number % 2 else ROOT, seed, here / f"tmp{number}", how))
            time.sleep(1.01)  # Another second: `gzip` and its like write it into what they make.
        lists = []
        for process, target in begun:
            said, _ = process.communicate()
            if process.returncode:
                print(said)
                return 1
            lists.append(target.read_text(encoding="utf-8").split("\n"))
    for number, found in enumerate(lists[1:], start=1):
        if found != lists[0]:
            print(f"Test ids, parameters or their order differ between collections 1 and {number + 1}:")
            changes = [line for line in difflib.ndiff(lists[0], found) if line[0] in "+-"]
            print("\n".join(line[:400] for line in changes[:_SHOWN_LINES]))
            print("No time, random value, port, temporary path, id() or order of a set may stand in them.")
            return 1
    print(f"the same {len(lists[0])} tests, collected four times")
    return 0


def main() -> int:
    """Compare, or be one of the four."""
    if sys.argv[1:2] in (["--list"], ["--prepare"]):
        # Plain asserts: only what is collected counts, and rewriting them takes half of the time.
        plain = ["--assert=plain"] if sys.argv[1] == "--list" else []
        quick = ["--collect-only", "-qq", *plain, "-p", "no:cacheprovider"]
        return int(pytest.main(quick, plugins=[Lister(Path(sys.argv[2]))]))
    return compare()


if __name__ == "__main__":
    sys.exit(main())
