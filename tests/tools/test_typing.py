"""Issue 19 line 11: every form of the decorator keeps the function's type, and the how-to's own example checks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.client_environments import node_environment

HOW_TO = Path(__file__).parent.parent.parent / "docs" / "how-to" / "python-tools.md"
FORMS = ("register_tool", "register_tool()", 'register_tool("x")', 'register_tool(name="x")',
         'register_tool("x", description="d", annotations={"readOnlyHint": True})')  # fmt: skip
WAIT_SECONDS = 300
PYRIGHT = "1.1.414"


def how_to() -> str:
    (source,) = re.findall(r"```python file=my_tools.py\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), flags=re.DOTALL)
    return str(source)


def check(source: str, folder: Path) -> tuple[int, str]:
    (folder / "checked.py").write_text(source, encoding="utf-8")
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


def pyright(source: str, folder: Path) -> list[dict[str, Any]]:
    """Return what pyright says of a source in its strict mode."""
    node = node_environment({"pyright": PYRIGHT})
    (folder / "checked.py").write_text(source, encoding="utf-8")
    (folder / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "include": ["checked.py"]}), encoding="utf-8"
    )
    main = str(node / "node_modules" / "pyright" / "index.js")
    done = subprocess.run(
        ["node", main, "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    return list(json.loads(done.stdout)["generalDiagnostics"])


def every_form() -> str:
    lines = ["from naru.tools import Depends, register_tool", "def provide() -> int: return 1"]
    for number, form in enumerate(FORMS):
        lines += [f"@{form}", f"def tool_{number}(a: int, b: int = Depends(provide)) -> str: return str(a + b)"]
        lines += [f"reveal_type(tool_{number})"]
    lines += ["class Theirs:", "    name: str = 'x'", "reveal_type(register_tool(Theirs()))"]
    return "\n".join(lines)


@pytest.mark.slow
def test_every_form_keeps_the_functions_type_and_a_mark_may_be_any_default(tmp_path):
    code, told = check(every_form(), tmp_path)
    assert told.count('Revealed type is "def (a: int, b: int =) -> str"') == len(FORMS), told
    assert 'Revealed type is "checked.Theirs"' in told
    assert code == 0, told


@pytest.mark.slow
@pytest.mark.node
def test_every_form_keeps_the_functions_type_under_pyright(tmp_path):
    found = pyright(every_form(), tmp_path)
    assert [each for each in found if each["severity"] != "information"] == []
    told = "\n".join(each["message"] for each in found)
    assert told.count('is "(a: int, b: int = Depends(provide)) -> str"') == len(FORMS), told
    assert told.endswith('is "Theirs"')


@pytest.mark.slow
@pytest.mark.node
def test_a_wrong_call_of_a_registered_function_is_told_by_pyright(tmp_path):
    source = """
from naru.tools import register_tool
@register_tool(name="x")
def tool(a: int) -> str: return str(a)
tool("text")
"""
    (found,) = pyright(source, tmp_path)
    assert found["rule"] == "reportArgumentType"


@pytest.mark.slow
def test_the_how_tos_own_example_checks(tmp_path):
    code, told = check(how_to(), tmp_path)
    assert code == 0, told


@pytest.mark.slow
@pytest.mark.node
def test_the_how_tos_own_example_checks_under_pyright(tmp_path):
    assert pyright(how_to(), tmp_path) == []
