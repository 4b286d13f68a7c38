"""The public bug reports of one area (tests/cases/reports.jsonl), each to be checked by its id."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent.parent / "cases" / "reports.jsonl"


class Reports:
    """The cases of an area and the checks that a test module has for them."""

    def __init__(self, area: str) -> None:
        lines = (json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines())
        self.cases: dict[str, dict[str, Any]] = {line["id"]: line for line in lines if line["area"] == area}
        self.checks: dict[str, Callable[[dict[str, Any]], Any]] = {}

    def check(self, case_id: str) -> Callable[[Any], Any]:
        """Take a function as the check of a case."""

        def keep(function: Any) -> Any:
            self.checks[case_id] = function
            return function

        return keep
