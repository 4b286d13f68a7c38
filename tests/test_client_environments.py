"""Issue 23 line 1: what two workers of a first `make test` need at once is installed once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.client_environments import made_once

WORKERS = 4


def test_workers_that_come_at_once_install_one_after_the_other_and_once(tmp_path: Path) -> None:
    at_once = threading.Barrier(WORKERS)
    installed: list[Path] = []

    def install() -> bool:
        at_once.wait(60)
        with made_once(tmp_path / "cache" / "node") as is_made:
            if not is_made:
                (tmp_path / "cache" / "node").mkdir()  # fails where another does the same
                time.sleep(0.05)
                installed.append(tmp_path)
            return is_made

    with ThreadPoolExecutor(WORKERS) as workers:
        found = [each.result(60) for each in [workers.submit(install) for _ in range(WORKERS)]]
    assert (len(installed), sorted(found)) == (1, [False] + [True] * (WORKERS - 1))


def test_what_could_not_be_installed_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "py").mkdir()
    with pytest.raises(FileNotFoundError), made_once(tmp_path / "py"):
        (tmp_path / "nothing").unlink()
    with made_once(tmp_path / "py") as is_made:
        assert not is_made
    with made_once(tmp_path / "py") as is_made:
        assert is_made
