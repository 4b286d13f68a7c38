"""How the tests are dealt out to the workers of `make test`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = [f"tests/connections/test_{name}.py" for name in ("breaker", "bulkhead", "lifecycle")]


@pytest.mark.slow
def test_tests_that_share_something_are_run_by_one_worker() -> None:
    """Else each worker starts every engine, browser and database anew; nothing fails, and all takes much longer."""
    dealt = ["-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder"]
    words = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *dealt, *FILES]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True).stdout
    ran = set(re.findall(r"^\[(gw\d)\] .* PASSED (\S+?)::", told, re.MULTILINE))
    assert sorted(file for _, file in ran) == FILES, told
    assert len({worker for worker, _ in ran}) == 2
