"""Every command in every state of the world: what it ends with, and what it says (issue 22, line 7).

`python -m tests.cli.command_table` writes docs/reference/command-outcomes.md; `test_command_table.py` holds it to that.
Commands run in this process, each on a fresh copy of a folder in which something was done before.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from tests.docs.fake_model import MODEL, fake_model
from typer.main import get_command

from naru.cli.commands import COMMANDS
from naru.cli.main import app, main
from naru.cli.serve.listening import listen
from naru.config import Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-outcomes.md"
HR = [sys.executable, "-m", "naru.builtins.hr.server"]
NOWHERE = "http://127.0.0.1:9/v1"
KEY = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"
STATES = ("hub runs", "wrong input", "no hub", "hub asks for a key", "folder not writable", "--json")
"""All of them with stdout and stderr in a pipe."""
_ABOUT_HUBS = ("no hub", "hub asks for a key")


@dataclass(frozen=True)
class Row:
    """One command: what is typed for it to work, and what is typed wrong."""

    right: Sequence[str]
    wrong: Sequence[str]
    before: Sequence[Sequence[str]] = ()
    """Typed first, in the same folder; `{id}` in `right` is the id that the last of them printed."""
    not_run: str = ""
    """Why it is not run with right input here."""
    otherwise: Sequence[str] | None = None
    """Typed where `right` is not run, in `ends_in`, so that hubs, keys and folders are tried nevertheless."""
    ends_in: Sequence[str] = STATES[2:-1]
    piped: str = ""
    """What it reads from its standard input."""
    alone: bool = False
    """It opens data and asks no hub: what hubs do is not tried."""


ROWS: dict[str, Row] = {
    "demo": Row(
        (),
        ("--base-url", NOWHERE),
        not_run="needs the local engine: `make demo`",
        otherwise=("--base-url", NOWHERE),
        ends_in=("folder not writable",),
    ),
    "serve": Row(
        (),
        ("--port", "{taken}"),
        not_run="runs until it is stopped",
        otherwise=("--port", "0"),
        ends_in=("folder not writable",),
    ),
    "chat": Row(("How many days are left?",), ("hi", "--base-url", NOWHERE)),
    "connect": Row(("void",), ("nobody",)),
    "import": Row(("{mcp.json}", "--yes"), ("none.json", "--yes")),
    "servers list": Row((), ("--store", "mysql://x/y")),
    "servers add": Row(("time", "--", *HR), ("time", "ftp://x/y")),
    "servers remove": Row(("hr",), ("nobody",)),
    "servers enable": Row(("hr",), ("nobody",)),
    "servers disable": Row(("hr",), ("nobody",)),
    "servers export": Row((), ("nobody",)),
    "servers check": Row((), ("--store", "mysql://x/y")),
    "servers import": Row(("{mcp.json}", "--yes"), ("none.json", "--yes")),
    "servers connect": Row(("hr",), ("nobody",)),
    "servers disconnect": Row(("hr",), ("nobody",)),
    "servers refresh": Row(("hr",), ("nobody",)),
    "servers logs": Row(("hr",), ("nobody",)),
    "servers explain": Row(("hr",), ("nobody",)),
    "servers approve": Row(("hr", "--yes"), ("nobody", "--yes")),
    "servers login": Row((), ("nobody",), not_run="opens a browser at an authorization server", otherwise=("hr",)),
    "servers logout": Row((), ("nobody",), not_run="needs somebody who is signed in", otherwise=("hr",)),
    "servers secret set": Row(("hr", "TOKEN"), ("nobody", "TOKEN"), piped="s3cret-of-hr"),
    "servers secret list": Row(("hr",), ("nobody",)),
    "servers secret remove": Row(
        ("hr", "TOKEN"), ("hr", "nothing"), before=(("servers", "secret", "set", "hr", "TOKEN"),), piped="s3cret-of-hr"
    ),
    "tools list": Row((), ("--server", "nobody")),
    "tools search": Row(("employee",), ("employee", "--limit", "none")),
    "tools show": Row(("hr__get_all_employees",), ("hr__nothing",)),
    "tool run": Row(("hr.get_employee_info", "employee_id=EMP001"), ("hr.get_employee_info", "employee=EMP001")),
    "tool list": Row(("--local",), ("--module", "no_such_module")),
    "tool schema": Row(("hr.get_employee_info",), ("hr.nothing",)),
    "tool serve": Row((), ("--module", "no_such_module"), not_run="runs until it is stopped"),
    "data ask": Row(
        ("how many products?", "--database", "{shop}"), ("who?", "--database", "sqlite:///none.db"), alone=True
    ),
    "data index": Row(("{notes.md}",), ("none.csv",), alone=True),
    "data search": Row(
        ("ferry",), ("ferry", "--results", "none"), before=(("data", "index", "{notes.md}"),), alone=True
    ),
    "data check": Row(("--database", "{shop}"), ("--database", "oracle://x/y"), alone=True),
    "data reader-sql": Row((), ("--engine", "oracle")),
    "doctor": Row((), ("--base-url", "nonsense")),
    "validate": Row(("{mcp.json}",), ("none.json",)),
    "runs list": Row((), ("--limit", "none")),
    "runs show": Row(("latest",), ("nothing",)),
    "runs replay": Row(("latest",), ("nothing",)),
    "parse": Row(("{reply.txt}",), ("none.txt",)),
    "probe": Row((MODEL,), (MODEL, "--base-url", "nonsense")),
    "approvals list": Row((), ("--config", "none.yaml")),
    "approvals allow": Row(
        (), ("nothing",), not_run="needs a call that waits: `tests/cli/test_approvals.py`", otherwise=("nothing",)
    ),
    "approvals deny": Row(
        (), ("nothing",), not_run="needs a call that waits: `tests/cli/test_approvals.py`", otherwise=("nothing",)
    ),
    "approvals revoke": Row(
        (), ("nothing",), not_run="needs what was allowed: `tests/cli/test_approvals.py`", otherwise=("nothing",)
    ),
    "keys create": Row(("user", "--owner", "Kim"), ("emperor",)),
    "keys list": Row((), ("--config", "none.yaml")),
    "keys revoke": Row(("{id}",), ("nothing",), before=(("keys", "create", "user", "--json"),)),
    "keys show": Row(("{id}",), ("nothing",), before=(("keys", "create", "user", "--json"),)),
    "keys rotate": Row(("{id}",), ("nothing",), before=(("keys", "create", "user", "--json"),)),
    "audit verify": Row((), ("--file", "none.jsonl")),
    "audit show": Row((), ("--last", "0")),
    "backup": Row(("out.tar.gz",), ("no/such/folder/out.tar.gz",)),
    "restore": Row(("out.tar.gz", "--replace"), ("none.tar.gz", "--replace"), before=(("backup", "out.tar.gz"),)),
}


@dataclass
class Told:
    """What a command ended with and said."""

    code: int
    out: str
    err: str

    @property
    def has_traceback(self) -> bool:
        return "Traceback (most recent call last)" in self.out + self.err


@dataclass
class World:
    """A place to run commands in: hubs, a model, and a folder that is copied for each run."""

    seed: Path
    model_url: str
    open_hub: int = 0
    locked_hub: int = 0
    taken: int = 0
    stops: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def run(self, name: str, state: str) -> Told | None:
        """Run a command in a state; None where it cannot be."""
        row = ROWS[name]
        otherwise = row.otherwise if state in row.ends_in else None
        if state != "wrong input" and row.not_run and otherwise is None:
            return None
        if (state == "--json" and not takes_json(name)) or (row.alone and state in _ABOUT_HUBS):
            return None
        if name.split()[0] in ("servers", "tools", "tool"):  # whatever the row before did, or a busy machine
            self._typed(["servers", "connect", "hr"], self.seed, self.open_hub)
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            shutil.copytree(self.seed, folder, dirs_exist_ok=True)
            if state == "folder not writable":
                shutil.rmtree(folder / "data")
                (folder / "data").write_text("a file stands where the folder should be", encoding="utf-8")
            port = {"no hub": 9, "hub asks for a key": self.locked_hub}.get(state, self.open_hub)
            found = ""
            if state != "wrong input":
                for earlier in row.before:
                    told = self._typed(self._filled(earlier, folder, ""), folder, port, row.piped)
                    found = json.loads(told.out)["id"] if told.code == 0 and "--json" in earlier else found
            given = row.wrong if state == "wrong input" else otherwise if row.not_run else row.right
            json_flag = ["--json"] if state == "--json" else []
            typed = self._filled([*name.split(), *json_flag, *given], folder, found or "nothing")
            return self._typed(typed, folder, port, row.piped)

    def _filled(self, arguments: Sequence[str], folder: Path, found: str) -> list[str]:
        places = {"{id}": found, "{taken}": str(self.taken), "{shop}": f"sqlite:///{folder / 'shop.db'}"}
        places |= {f"{{{name}}}": str(folder / name) for name in ("mcp.json", "notes.md", "reply.txt")}
        return [places.get(one, one) for one in arguments]

    def _typed(self, arguments: list[str], folder: Path, port: int, piped: str = "") -> Told:
        values = {
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "xdg"),
            "NARU_HUB__DATA_DIR": str(folder / "data"),
            "NARU_SERVER__PORT": str(port),
            "NARU_MODEL__BASE_URL": self.model_url,
            "NARU_MODEL__MODEL": MODEL,
            "NARU_MODEL__API": "openai",
        }
        return typed(arguments, folder, values, piped)


def typed(arguments: Sequence[str], folder: Path, values: dict[str, str], piped: str = "") -> Told:
    """Run one command line in this process, as from a script: no terminal, in a folder, with those variables."""
    out, err = io.StringIO(), io.StringIO()
    before, place, program, read = dict(os.environ), Path.cwd(), sys.argv, sys.stdin
    stdin = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        os.environ.update(values)
        os.chdir(folder)
        sys.argv = ["naru", *arguments]
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            sys.stdin = io.StringIO(piped)
            try:
                main()
                code = 0
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else int(bool(left.code))
    finally:
        os.dup2(stdin, 0)
        os.close(stdin)
        os.close(nothing)
        sys.argv, sys.stdin = program, read
        os.chdir(place)
        os.environ.clear()
        os.environ.update(before)
    return Told(code, out.getvalue(), err.getvalue())


def names() -> list[str]:
    """Return every command that there is, groups by their commands."""
    whole = get_command(app)
    return [
        " ".join(words)
        for name in COMMANDS
        for words in _leaves((name,), whole.get_command(None, name))  # type: ignore[attr-defined, arg-type]
    ]


def _leaves(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    inner = getattr(command, "commands", None)
    for name, one in (inner or {}).items():
        yield from _leaves((*words, name), one)
    if not inner:
        yield words


def takes_json(name: str) -> bool:
    """Tell whether a command has `--json`."""
    first, *rest = name.split()
    command: Any = get_command(app).get_command(None, first)  # type: ignore[attr-defined, arg-type]
    for word in rest:
        command = command.commands[word]
    return any("--json" in option.opts for option in command.params)


@contextlib.contextmanager
def world(folder: Path) -> Iterator[World]:
    """Make a folder in which something was done, a model, and two hubs, one of which asks for a key."""
    seed = folder / "seed"
    seed.mkdir(parents=True)
    (seed / "mcp.json").write_text(
        json.dumps({"mcpServers": {"other": {"command": HR[0], "args": HR[1:]}}}), encoding="utf-8"
    )
    (seed / "notes.md").write_text("# Ferry\n\nThe ferry to the island leaves at nine.\n", encoding="utf-8")
    (seed / "reply.txt").write_text(
        '<tool_call>\n{"name": "look", "arguments": {"id": "7"}}\n</tool_call>', encoding="utf-8"
    )
    _shop(seed / "shop.db")
    with contextlib.ExitStack() as stack:
        made = World(seed, stack.enter_context(fake_model()))
        made.open_hub = stack.enter_context(hub(folder / "open"))
        made.locked_hub = stack.enter_context(hub(folder / "locked", server={"api_key": KEY, "auth": "on"}))
        made.taken = made.open_hub
        for earlier in (["servers", "add", "hr", "--", *HR], ["chat", "--local", "hello"]):
            told = made._typed(earlier, seed, 9)
            assert told.code == 0, told.err
        yield made


def _shop(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as shop, shop:
        shop.execute("create table products (name text, price integer)")


@contextlib.contextmanager
def hub(folder: Path, backend: ScriptedBackend | None = None, **sections: dict[str, object]) -> Iterator[int]:
    """Serve a hub with the HR server and a scripted model in a thread; gives its port."""
    bound = listen("127.0.0.1", 0)
    port: int = bound.getsockname()[1]
    server = {"port": port, **sections.get("server", {})}
    own = {"hub": {"data_dir": folder, "store": "memory:", "demo": True}, "server": server}
    settings = Settings.model_validate({**sections, **own})
    ends, ready = threading.Event(), threading.Event()

    async def serve() -> None:
        model = backend or ScriptedBackend(lambda _: "There are 7 days left.")
        async with open_hub(settings, backend=model) as opened, open_app(opened) as application:
            await opened.manager.connect("hr")
            served = uvicorn.Server(uvicorn.Config(application.asgi, log_level="warning", lifespan="off"))
            task = asyncio.ensure_future(served.serve(sockets=[bound]))
            ready.set()
            await asyncio.to_thread(ends.wait)
            application.stopping()
            served.should_exit = True
            await task

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="hub")
    thread.start()
    assert ready.wait(90)
    try:
        yield port
    finally:
        ends.set()
        thread.join(90)


def page(codes: dict[str, list[int | None]]) -> str:
    """Return the reference page of what each command ended with."""
    lines = [
        "# How commands end",
        "",
        "Made by a test that types every command in every state: `python -m tests.cli.command_table`.",
        "All run with their output in a pipe; none may end in a traceback, and each that fails says what to do.",
        "The codes: 0 done, 1 the outcome is bad, 2 wrong usage, 3 not found, 4 timed out, 5 unreachable, 130 Ctrl-C.",
        "",
        f"| command | {' | '.join(STATES)} |",
        f"| --- |{' --- |' * len(STATES)}",
    ]
    for name, found in codes.items():
        cells = ["·" if code is None else str(code) for code in found]
        lines.append(f"| `naru {name}` | {' | '.join(cells)} |")
    lines += ["", "`·`: not run, there is no such option, or the command asks no hub. Not run with right input:", ""]
    lines += [f"- `naru {name}`: {row.not_run}" for name, row in ROWS.items() if row.not_run]
    return "\n".join(lines) + "\n"


def measure(place: World) -> dict[str, list[int | None]]:
    """Run everything; return the codes by command, in the states' order."""
    return {
        name: [None if (told := place.run(name, state)) is None else told.code for state in STATES] for name in ROWS
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as given, world(Path(given)) as here:
        if len(sys.argv) > 1:
            for one in STATES:
                shown = here.run(" ".join(sys.argv[1:]), one)
                print(f"== {one}: {shown}\n")
        else:
            PAGE.write_text(page(measure(here)), encoding="utf-8")
