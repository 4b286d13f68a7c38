"""Issue 19 line 11: every form of the decorator keeps the function's type, and the how-to's own example checks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HOW_TO = Path(__file__).parent.parent.parent / "docs" / "how-to" / "python-tools.md"
FORMS = ("register_tool", "register_tool()", 'register_tool("x")', 'register_tool(name="x")',
         'register_tool("x", description="d", annotations={"readOnlyHint": True})')  # fmt: skip
WAIT_SECONDS = 300


def check(source: str, folder: Path) -> tuple[int, str]:
    (folder / "checked.py").write_text(source)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            "--cache-dir",
            str(folder / "cache"),
            "checked.py",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.slow
def test_every_form_keeps_the_functions_type_and_a_mark_may_be_any_default(tmp_path):
    lines = ["from naru.tools import Depends, register_tool", "def provide() -> int: return 1"]
    for number, form in enumerate(FORMS):
        lines += [f"@{form}", f"def tool_{number}(a: int, b: int = Depends(provide)) -> str: return str(a + b)"]
        lines += [f"reveal_type(tool_{number})"]
    code, told = check("\n".join(lines), tmp_path)
    assert told.count('Revealed type is "def (a: int, b: int =) -> str"') == len(FORMS), told
    assert code == 0, told


@pytest.mark.slow
def test_the_how_tos_own_example_checks(tmp_path):
    (source,) = re.findall(r"```python file=my_tools.py\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), flags=re.DOTALL)
    code, told = check(source, tmp_path)
    assert code == 0, told
