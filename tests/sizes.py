"""How large a test is: small in the suite, at the stated figure in `bench/fault_matrix.py` (`NARU_FULL_SIZE=1`).

The suite runs on machines that are busy: there a bound in seconds catches a hang and nothing else. At full size, on a
machine that does nothing else, the same bound is the claim of SECURITY.md.
"""

from __future__ import annotations

import os

IS_FULL = os.environ.get("NARU_FULL_SIZE") == "1"
_PATIENCE = 20


def sized(suite: int, full: int) -> int:
    """Return how many repetitions a test makes."""
    return full if IS_FULL else suite


def within(seconds: float) -> float:
    """Return the bound of a duration: the claim at full size, what only a hang exceeds in the suite."""
    return seconds if IS_FULL else seconds * _PATIENCE + 5
