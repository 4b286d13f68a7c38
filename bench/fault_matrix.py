"""The fault tests at their full figures (docs/decisions/0100): `python bench/fault_matrix.py [PATTERN]`.

Runs the matrix's tests with `NARU_FULL_SIZE=1`, where their bounds are the claims themselves, and prints what each
measured. About ten minutes for everything on a machine of its own; where others are at work R-27's 16,000 writes alone
take more than an hour: leave them out with PATTERN, a `-k` expression over test names, as "not r27".
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = (
    *("tests/connections", "tests/stores", "tests/gateway/test_robustness.py"),
    "tests/builtins/data/sql/test_fuzz.py",
)
_FIGURE = re.compile(r"^\.*((?:[RS]-\d\d|a\d\d|f\d\d)\b.*)")


def main(pattern: str) -> int:
    command = [sys.executable, "-m", "pytest", "-s", "-q", "--timeout=1200", *TESTS]
    if pattern:
        command += ["-k", pattern]
    environment = {**os.environ, "NARU_FULL_SIZE": "1", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if found := _FIGURE.match(line):
                print(found[1], flush=True)
    failed = process.returncode != 0
    print("".join(said[-60:]) if failed else said[-1].strip())
    return process.returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="a -k expression over test names")
    sys.exit(main(parser.parse_args().pattern))
