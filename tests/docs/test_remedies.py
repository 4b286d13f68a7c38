"""No remedy names what does not exist: each setting, key, variable, command and option in them is looked up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from pydantic import BaseModel
from typer.main import get_command

from naru.cli.main import app
from naru.config import Settings
from naru.records import LIMITS
from naru.stores.formats.spellings import COMMON_KEYS, PROGRAM_KEYS, URL_KEYS
from tests.syntax import parsed

SOURCE = Path(__file__).parent.parent.parent / "src" / "naru"
MAKERS = {"Failure": 3, "_refusal": 2, "_unavailable": 1, "_cannot": 1}
"""Functions whose positional argument from that place on is a remedy."""
RECORD = PROGRAM_KEYS | URL_KEYS | COMMON_KEYS | {f"limits.{one}" for one in LIMITS} | {"env.PATH", "transportType"}
OUTSIDE = {"NARU_CONFIG", "NARU_DATA_DIR", "NARU_API_KEY", "NARU_DATABASE_URL", "Authorization"}
WORDS = {"register_tool", "mime_type"}
"""Names of Python that an author meets, who is told about them."""
OPTIONS_OF_OTHERS = {"--db"}


def settings_of(model: type[BaseModel] = Settings, before: str = "") -> Iterator[str]:
    """Yield the path of every setting and section."""
    for name, field in model.model_fields.items():
        yield f"{before}{name}"
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from settings_of(inner, f"{before}{name}.")


def commands(command: Any, before: str, context: typer.Context | None = None) -> Iterator[tuple[str, Any]]:
    """Yield every command with its words."""
    yield before, command
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from commands(command.get_command(context, name), f"{before} {name}")


PATHS = frozenset(settings_of())
COMMANDS = dict(commands(get_command(app), "naru"))
OPTIONS = {option for one in COMMANDS.values() for given in one.params for option in getattr(given, "opts", ())}


def remedies() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each remedy that the source holds."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(parsed(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            maker = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = [word.value for word in node.keywords if word.arg == "remedy"]
            given += node.args[MAKERS[maker] :] if maker in MAKERS else []
            for one in given:
                parts = [part.value for part in ast.walk(one) if isinstance(part, ast.Constant)]
                yield f"{path.relative_to(SOURCE)}: {parts[:1]}", "\0".join(map(str, parts))


def _path_of(variable: str) -> str:
    return variable.removeprefix("NARU_").lower().replace("__", ".")


def unknown(text: str) -> list[str]:
    """Return what a remedy names that does not exist."""
    variables = re.findall(r"\bNARU_[A-Z_]*[A-Z]\b(?!_)", text)  # one that is cut off is put together by code
    wrong = [one for one in variables if one not in OUTSIDE and _path_of(one) not in PATHS]
    paths = re.findall(r"\b(?:" + "|".join(Settings.model_fields) + r")\.(?!jsonl?\b)[a-z][a-z_.-]*[a-z]", text)
    wrong += [path for path in paths if path.replace("-", "_") not in PATHS]
    for called in re.findall(r"\bnaru ([a-z-]+(?: [a-z-]+)?)", text):
        first = called.split()[0]
        group = COMMANDS.get(f"naru {first}")
        if group is None or (hasattr(group, "list_commands") and f"naru {called}" not in COMMANDS and " " in called):
            wrong.append(f"naru {called}")
    wrong += [
        option for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text) if option not in OPTIONS | OPTIONS_OF_OTHERS
    ]
    for quoted in re.findall(r"`([A-Za-z][\w.-]*)`", text):
        is_known = (
            quoted in RECORD | OUTSIDE | PATHS or quoted.startswith("naru ") or quoted.removeprefix("config.") in RECORD
        )
        wrong += [] if is_known else [quoted]
    leaves = {path.rpartition(".")[2] for path in PATHS}
    for word in re.findall(r"(?<![\w.])[a-z]+(?:_[a-z]+)+(?![\w.])", text):
        wrong += [] if word in leaves | RECORD | WORDS else [word]
    return wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Raise `max_frame_bytes`.", ["max_frame_bytes", "max_frame_bytes"]),
        ("Set mcp.security.no-such-thing.", ["mcp.security.no-such-thing"]),
        ("Set NARU_SERVER__PORTS=1 or NARU_SERVER__PORT=2.", ["NARU_SERVER__PORTS"]),
        ("See naru servers lists, then naru servers list.", ["naru servers lists"]),
        ("Start it with --hosts.", ["--hosts"]),
        ("Raise `startTimeout` of its entry, or `limits.answerMb`.", []),
    ],
)
def test_the_look_up_finds_what_does_not_exist(text: str, wrong: list[str]) -> None:
    assert unknown(text) == wrong


@pytest.mark.slow
def test_no_remedy_names_what_does_not_exist() -> None:
    found = list(remedies())
    assert len(found) > 200, "remedies were not found"
    assert {place: wrong for place, text in found if (wrong := unknown(text))} == {}
