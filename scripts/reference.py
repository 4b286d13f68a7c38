"""The pages of docs/reference, made from the code: `python scripts/reference.py` writes, `--check` compares.

Settings come from their docstrings, commands from typer, routes from the route table, error codes from the source;
what to do about an error is written by hand in docs/reference/errors.yaml, and a code without a row there is an error.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import itertools
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import yaml
from typer.core import TyperArgument, TyperGroup
from typer.main import get_command

from naru import errors
from naru.agent.events import EndReason
from naru.cli.commands import COMMANDS
from naru.cli.main import app
from naru.cli.terminal.exit_codes import Exit
from naru.config import Settings
from naru.config import reference as settings_reference
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.models.transport import failures
from naru.web import openapi
from naru.web.app import open_app
from naru.web.problems import status_of
from naru.web.routes import Endpoint

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "reference"
SOURCE = ROOT / "src" / "naru"
MADE = "Made from the code: `make reference`."
ERRORS = "errors.yaml"


# Commands


def cli_page() -> str:
    """Return the page of all commands with their arguments, options and exit codes."""
    lines = ["# Commands", "", MADE, "", "`naru COMMAND --help` says the same. A name in capitals is an argument.", ""]
    lines += ['What fails says so on stderr; with `--json` stdout then has `{"error": …, "code": …}`.', ""]
    lines += ["| exit code | meaning |", "|---|---|"]
    lines += [f"| {code.value} | {meaning} |" for code, meaning in exit_codes()]
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    for name, path, command in commands():
        if len(path) == 1:
            lines += ["", f"## `naru {name}`", "", COMMANDS[name][1]]
        if isinstance(command, TyperGroup):
            continue
        if len(path) > 1:
            lines += ["", f"### `naru {' '.join(path)}`"]
        lines += _command_lines(path, command)
    lines += ["", "## `naru`", ""]
    lines += _parameter_rows(root)
    return "\n".join(lines) + "\n"


def commands() -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Give every command and group, groups in groups too: its first name, its whole path, typer's object."""
    root: Any = get_command(app)
    for name in sorted(COMMANDS):
        for path, command in _within((name,), root.get_command(None, name)):
            yield name, path, command


def _within(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for inner in sorted(getattr(command, "commands", {})):
        yield from _within((*path, inner), command.commands[inner])


def exit_codes() -> Iterator[tuple[Exit, str]]:
    """Give the exit codes with the docstring below each."""
    tree = ast.parse(inspect.getsource(Exit))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    for name, text in itertools.pairwise(body):
        if isinstance(name, ast.Assign) and isinstance(text, ast.Expr) and isinstance(name.targets[0], ast.Name):
            yield Exit[name.targets[0].id], str(ast.literal_eval(text.value))


def _command_lines(path: tuple[str, ...], command: Any) -> list[str]:
    shown = [one for one in command.params if one.name not in ("help", "install_completion", "show_completion")]
    arguments = [_metavar(one) for one in shown if isinstance(one, TyperArgument)]
    usage = " ".join(["naru", *path, *arguments, "[OPTIONS]" if len(arguments) < len(shown) else ""]).rstrip()
    lines = ["", "```text", usage, "```", ""]
    if len(path) > 1:
        lines += [_text(command.help or ""), ""]
    return [*lines, *_parameter_rows(command)] if shown else lines[:-1]


def _parameter_rows(command: Any) -> list[str]:
    rows = ["| | default | what it does |", "|---|---|---|"]
    for one in command.params:
        if one.name == "help":
            continue
        name = _metavar(one) if isinstance(one, TyperArgument) else ", ".join([*one.opts, *one.secondary_opts])
        rows.append(f"| `{name}` | {_default(one)} | {_text(getattr(one, 'help', None) or '')} |")
    return rows


def _metavar(argument: Any) -> str:
    name = argument.name.upper() + ("..." if argument.nargs == -1 or argument.multiple else "")
    return name if argument.required else f"[{name}]"


def _default(parameter: Any) -> str:
    value = parameter.default
    if parameter.required:
        return "required"
    if callable(value) or value in (None, "", False, (), []):
        return ""
    return f"`{getattr(value, 'value', value)}`"


def _text(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# Routes


def endpoints() -> tuple[Endpoint, ...]:
    """Return the product's whole route table."""

    async def opened() -> tuple[Endpoint, ...]:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}})
            async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as served:
                return served.endpoints

    return asyncio.run(opened())


_ABOUT_ROUTES = (
    "`/openapi.json` describes the same to programs. Errors are problem documents (RFC 9457) whose `code` is explained",
    "in [errors](errors.md). Roles, where keys are asked for: read < user < operator < admin; `public` needs no key.",
    "Every path below `/v1` is also at `/clients/{client}/v1`, where the client's name says how it is answered.",
    "A member of a body with a question mark may be left out. Every answer has an id in `X-Request-Id` (for",
    "Anthropic's packages in `Request-Id` too), which errors and log lines name; one that a request brings is kept.",
    "`Accept-Language: ko` has what Naru itself says in Korean; codes, names and servers' own words stay.",
)


def rest_page() -> str:
    """Return the page of all routes with the role that each needs; what differs in nothing else is one row."""
    lines = ["# HTTP", "", MADE, "", *_ABOUT_ROUTES, "", "| | role | what it does | body |", "|---|---|---|---|"]
    told: dict[tuple[str, ...], list[str]] = {}  # path, role, what it does, body → methods
    for row in sorted(endpoints(), key=lambda row: (row.path, row.methods)):
        path = re.sub(r"^/console/.+", "/console/{file}", row.path.removeprefix("/clients/{client}"))
        summary = _text((inspect.getdoc(row.handler) or row.path).splitlines()[0])
        for method in row.methods:
            body = openapi.BODIES.get((method, row.path))
            fields = ", ".join(_fields(body)) if body else ""
            methods = told.setdefault((path, row.access.name.lower(), summary, fields), [])
            if method not in methods:
                methods.append(method)
    lines += (f"| `{', '.join(methods)} {path}` | {' | '.join(rest)} |" for (path, *rest), methods in told.items())
    return "\n".join(lines) + "\n"


def _fields(model: Any) -> Iterator[str]:
    for name, field in model.model_fields.items():
        shown = field.alias or name
        yield f"`{shown}`" + ("" if field.is_required() else "?")


# Errors


def codes() -> dict[str, dict[str, str]]:
    """Return every error code by kind, with what its class says or an empty text."""
    found: dict[str, dict[str, str]] = {"api": {}, "server": {}, "model": {}}
    found["run"] = dict.fromkeys(get_args(EndReason), "")
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                _of_call(node, found, is_model="models" in path.parts)
            elif isinstance(node, ast.ClassDef):
                _of_class(node, found["api"])
    for code in (
        *failures._BY_STATUS.values(),
        *failures._BY_OWN_CODE.values(),
        *(row[0] for row in failures._BY_TEXT),
    ):
        found["model"].setdefault(code, "")
    found["server"] = {f"{code}NNN" if code.endswith("_") else code: text for code, text in found["server"].items()}
    return found


def _of_call(node: ast.Call, found: dict[str, dict[str, str]], *, is_model: bool) -> None:
    called = getattr(node.func, "id", getattr(node.func, "attr", ""))
    place = {"Failure": ("server", 1), "_refusal": ("server", 0), "_RefusedError": ("api", 1)}
    if is_model:
        place["failure"] = ("model", 0)
    if called in place and len(node.args) > place[called][1]:
        kind, position = place[called]
        for code in _literals(node.args[position]):
            found[kind].setdefault(code, "")
    for keyword in node.keywords:
        if keyword.arg == "code" and called in ("problem", "body"):
            for code in _literals(keyword.value):
                found["api"].setdefault(code, "")


def _literals(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        value = inner.value if isinstance(inner, ast.Constant) else None
        if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]+", value):
            yield value


def _of_class(node: ast.ClassDef, found: dict[str, str]) -> None:
    for line in node.body:
        if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") == "code":
            text = _text((ast.get_docstring(node) or "").split("\n\n")[0])
            code = str(ast.literal_eval(line.value))
            found[code] = found.get(code) or text


KINDS = {
    "api": ("Requests and commands", "`code` of a problem document, of an error in `/v1`, and what a command prints."),
    "server": ("MCP servers", "`code` of a server's last failure: `naru servers explain NAME`, the console."),
    "model": ("Model endpoints", "`code` of an error that a model endpoint gave."),
    "run": ("Why a run ended", "`reason` of a run: `naru runs`, the console, `/metrics`."),
}


def errors_page() -> str:
    """Return the page of all codes. Raises SystemExit naming those that have no row in errors.yaml."""
    told = yaml.safe_load((FOLDER / ERRORS).read_text(encoding="utf-8"))
    lines = ["# Errors: what they mean and what to do", "", MADE, ""]
    statuses = {kind.code: status_of(kind("")) for kind in _tree(errors.NaruError)}
    for kind, found in codes().items():
        rows = told.get(kind) or {}
        missing, unknown = sorted(found.keys() - rows.keys()), sorted(rows.keys() - found.keys())
        if missing or unknown:
            raise SystemExit(f"docs/reference/errors.yaml, {kind}: no row for {missing}; rows of no code: {unknown}")
        title, where = KINDS[kind]
        lines += [f"## {title}", "", where, "", "| code | HTTP | meaning | what to do |", "|---|---|---|---|"]
        for code in sorted(found):
            row = rows[code]
            meaning = row.get("means") or found[code]
            if not meaning or not row.get("do"):
                raise SystemExit(f"docs/reference/errors.yaml, {kind}.{code}: say what it means and what to do")
            status = row.get("http") or (statuses.get(code, "") if kind == "api" else "")
            lines.append(f"| `{code}` | {status} | {_text(meaning)} | {_text(row['do'])} |")
        lines.append("")
    return "\n".join(lines)


def _tree(kind: type[errors.NaruError]) -> Iterator[type[errors.NaruError]]:
    if not kind.__module__.startswith(("naru.connections", "naru.builtins")):
        yield kind
    for inner in kind.__subclasses__():
        if inner.__init__ in (kind.__init__, errors.NaruError.__init__) or inner.__module__ == "naru.errors":
            yield from _tree(inner)


def faces_page() -> str:
    """Return the page of what each API for models tells, from the matrix that the tests hold."""
    sys.path.insert(0, str(ROOT))
    matrix = importlib.import_module("tests.web.faces.matrix")
    said = (
        "Streamed and whole, over endpoints that speak each of these APIs, and Gemini's; "
        "`tests/web/faces/test_matrix.py` holds every cell."
    )
    return f"# What each API tells\n\n{MADE} {said}\n\n{matrix.table()}"


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_reference.markdown,
    "cli.md": cli_page,
    "http.md": rest_page,
    "errors.md": errors_page,
    "faces.md": faces_page,
}


def main() -> None:
    """Write the pages, or with --check tell which are out of date."""
    stale = []
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    if stale and "--check" in sys.argv:
        raise SystemExit(f"out of date: {', '.join(stale)}; run `make reference`")


if __name__ == "__main__":
    main()
