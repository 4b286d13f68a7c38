"""Hot reload and seeding: H8, f16, f17, R-30."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from naru.config import McpSettings, load_settings
from naru.connections.follow import Follower
from naru.connections.manager import Manager
from naru.connections.vault_follower import VaultFollower
from naru.records import ServerRecord, ServerStatus
from naru.stores.base import Store
from naru.stores.open import open_store
from naru.stores.secrets.common_rows import Place
from tests.connections.conftest import QUICK, SERVERS, managed
from tests.waiting import until

SERVER = [str(SERVERS / "raw_server.py")]


@asynccontextmanager
async def following(
    store: Store, settings: Callable[[], McpSettings] = McpSettings, paths: list[Path] | None = None
) -> AsyncIterator[tuple[Manager, Follower]]:
    await store.open()
    manager = Manager(store, settings=QUICK)
    follower = Follower(store, manager, settings, paths=paths, interval=0.05)
    try:
        await follower.start()
        yield manager, follower
    finally:
        await follower.close()
        await manager.close()
        await store.close()


def write(path: Path, data: object) -> None:
    """Replace a file as editors do: write beside it, rename."""
    temporary = path.with_name("edited")
    temporary.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    temporary.replace(path)


def entry(**more: object) -> dict[str, object]:
    return {"command": sys.executable, "args": SERVER, **more}


def live(manager: Manager, *names: str) -> Callable[[], bool]:
    return lambda: all(manager.get_status(name) is ServerStatus.CONNECTED for name in names)


async def test_f16_r30_each_edit_of_the_file_touches_only_what_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    servers = {"same": entry(), "s": entry()}
    write(path, {"mcpServers": servers})
    async with following(open_store(f"file:{path}")) as (manager, _):
        await until(live(manager, "same", "s"))
        kept, first = manager.connection("same").pid, manager.connection("s").pid

        servers["s"] = entry(disabled=True)
        write(path, {"mcpServers": servers})
        took = [await until(lambda: manager.get_status("s") is ServerStatus.DISABLED)]
        servers["s"] = entry()
        write(path, {"mcpServers": servers})
        took.append(await until(live(manager, "s")))
        assert manager.connection("s").pid != first
        second = manager.connection("s").pid
        servers["s"] = entry(env={"A": "1"})
        write(path, {"mcpServers": servers})
        took.append(await until(lambda: live(manager, "s")() and manager.connection("s").pid != second))

        write(path, '{"mcpServers": {')
        await asyncio.sleep(0.2)
        assert live(manager, "s", "same")(), "broken JSON keeps the running state"
        del servers["s"]
        write(path, {"mcpServers": servers})
        took.append(await until(lambda: manager.get_status("s") is None))
        assert manager.connection("same").pid == kept
        assert manager.connection("same").generation == 1
        print("f16 seconds:", [f"{seconds:.2f}" for seconds in took])


async def test_r30_a_hundred_reloads_fail_no_call_on_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    write(path, {"mcpServers": {"same": entry()}})
    async with following(open_store(f"file:{path}")) as (manager, _):
        await until(live(manager, "same"))
        pid = manager.connection("same").pid
        done = asyncio.Event()
        answers: list[str] = []

        async def call() -> None:
            while not done.is_set():
                answers.append((await manager.call_tool("same", "echo", {"text": "x"})).text)

        caller = asyncio.ensure_future(call())
        for number in range(100):
            write(path, {"mcpServers": {"same": entry(), f"other{number}": {"url": "http://127.0.0.1:9/mcp"}}})
            await manager.reload()
        done.set()
        await caller
        assert set(answers) == {"x"}
        assert manager.connection("same").pid == pid
        assert set(manager.connections) == {"same", "other99"}
        print(f"R-30: {len(answers)} calls beside 100 reloads, 0 failed")


async def test_h8_declared_servers_seed_the_store_and_what_is_in_it_wins(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    yaml = tmp_path / "naru.yaml"
    yaml.write_text(
        "mcp:\n  servers:\n"
        "    - {name: a, url: 'http://127.0.0.1:9/sse', auto-connect: false}\n"
        "    - {transport: stdio, command: x}\n"
        "    - {name: kept, url: 'http://127.0.0.1:9/from-yaml'}\n"
        "    - {name: bad, transport: carrier-pigeon, url: 'http://h/'}\n"
        "    - {name: prog, command: no-such-program-xyz}\n",
        encoding="utf-8",
    )
    url = f"sqlite:{tmp_path / 'naru.db'}"
    store = open_store(url)
    await store.open()
    from naru.records import ServerRecord

    await store.save(ServerRecord(name="kept", config={"url": "http://127.0.0.1:9/from-store"}, auto_connect=False))
    await store.close()
    async with following(open_store(url), lambda: load_settings(yaml).mcp, [yaml]) as (manager, follower):
        records = {record.name: record for record in await manager.list_servers()}
        assert set(records) == {"a", "kept", "prog"}
        assert records["kept"].config["url"].endswith("from-store")
        assert (records["a"].transport_type, records["a"].auto_connect) == ("SSE", False)
        assert (records["prog"].transport_type, records["prog"].auto_connect) == ("STDIO", True)
        assert manager.get_status("a") is ServerStatus.PENDING
        said = " ".join(problem.reason for problem in follower.declared.problems)
        assert "mcp.servers[1]: the entry has no name and is skipped" in said
        assert "carrier-pigeon" in said
        assert any("no name" in line for line in caplog.messages)
        await until(lambda: manager.get_status("prog") is ServerStatus.FAILED)


async def test_f16_declarations_follow_their_file_unless_somebody_changed_the_server(tmp_path: Path) -> None:
    yaml, other = tmp_path / "naru.yaml", tmp_path / "claude.json"

    def declare(port: int, files: str = "[]") -> None:
        a, b = (
            f"{{name: {name}, url: 'http://127.0.0.1:{port}/mcp', transport: http, auto-connect: false}}"
            for name in "ab"
        )
        write(yaml, f"mcp:\n  files: {files}\n  servers:\n    - {a}\n    - {b}\n")

    declare(1)
    async with following(open_store("memory:"), lambda: load_settings(yaml).mcp, [yaml]) as (manager, _):
        b = manager.connection("b").record
        await manager.update(b.model_copy(update={"description": "by hand", "updated_at": b.updated_at + 1}))
        declare(2)
        await until(lambda: manager.connection("a").record.config["url"] == "http://127.0.0.1:2/mcp")
        assert manager.connection("b").record.config["url"] == "http://127.0.0.1:1/mcp"
        write(other, {"mcpServers": {"c": {"url": "http://127.0.0.1:3/mcp"}}})
        declare(2, f"['{other}']")
        await until(lambda: "c" in manager.connections)
        write(other, "{ broken")
        await asyncio.sleep(0.2)
        assert "c" in manager.connections
        write(other, {"mcpServers": {}})
        await until(lambda: "c" not in manager.connections)
        write(yaml, "mcp: {}\n")
        await until(lambda: "a" not in manager.connections)
        assert "b" in manager.connections


async def test_a_settings_file_that_is_still_being_written_takes_no_server_away(tmp_path: Path) -> None:
    """Its first half is YAML as well."""
    path = tmp_path / "naru.yaml"

    def settings() -> McpSettings:
        return load_settings(path).mcp

    def lines(*names: str) -> list[str]:
        return ["mcp:\n", "  servers:\n", *(f"  - {json.dumps(entry(name=name))}\n" for name in names)]

    path.write_text("".join(lines("a", "b")), encoding="utf-8")
    async with following(open_store("memory:"), settings, [path]) as (manager, _):
        await until(live(manager, "a", "b"))
        kept = manager.connection("b").pid
        with path.open("w", encoding="utf-8") as file:
            for line in lines("a", "c", "b"):
                file.write(line)
                file.flush()
                await asyncio.sleep(0.15)  # several looks of the follower
        await until(live(manager, "a", "b", "c"))
        assert manager.connection("b").pid == kept


async def test_a_server_that_another_process_registers_is_taken_up(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'naru.db'}"
    async with following(open_store(url)) as (manager, _):
        from naru.records import ServerRecord

        elsewhere = open_store(url)
        await elsewhere.open()
        await elsewhere.save(ServerRecord(name="x", config={"url": "http://127.0.0.1:9/"}, auto_connect=False))
        await until(lambda: "x" in manager.connections)
        await elsewhere.delete("x")
        await until(lambda: "x" not in manager.connections)
        await elsewhere.close()


async def test_what_is_kept_here_for_one_reads_nothing_of_the_others(tmp_path: Path) -> None:
    async with managed(replace(QUICK, kept_in=tmp_path)) as manager:
        vault = manager.signins.vault
        for person in ("ada", "eve"):
            vault.write(person, "s", "secrets", {})
        follower = VaultFollower(manager)
        await follower.start()
        connection, asked = vault._file._opened(), list[str]()
        connection.set_trace_callback(asked.append)
        vault.write("ada", "s", "secrets", {"TOKEN": "x"})
        assert vault.delete("eve", "s", "secrets")
        connection.set_trace_callback(None)
        assert [statement for statement in asked if statement.startswith("select")] == []
        assert follower._known == vault.rows(), "none of it is another process's"


async def test_what_is_kept_here_while_the_others_are_looked_at_opens_no_link_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with managed(replace(QUICK, kept_in=tmp_path)) as manager:
        vault, followed = manager.signins.vault, list[str]()
        vault.write("ada", "s", "secrets", {})
        follower, rows = VaultFollower(manager), vault.rows
        await follower.start()

        async def signed(name: str, owner: str, *, wakes: bool = True) -> bool:
            followed.append(owner)
            return False

        def rows_while_one_is_kept() -> dict[Place, bytes]:
            found = rows()
            keeping = threading.Thread(target=vault.write, args=("ada", "s", "secrets", {"TOKEN": "x"}))
            keeping.start()
            keeping.join(0.2)
            return found

        monkeypatch.setattr(manager, "signed", signed)
        monkeypatch.setattr(vault, "rows", rows_while_one_is_kept)
        await follower.take_up()
        assert followed == []
        await until(lambda: follower._known == rows())


async def test_sign_ins_that_were_begun_and_ended_leave_nothing_in_memory(tmp_path: Path) -> None:
    async with managed(replace(QUICK, kept_in=tmp_path)) as manager:
        vault, follower = manager.signins.vault, VaultFollower(manager)
        await follower.start()
        for number in range(20):
            vault.write("", "", f"pending:{number}", {})
            vault.write("", "", f"pending:late {number}", {})
            vault.take("", "", f"pending:{number}")
        vault.prune("pending:", -1)
        assert not follower._known


async def test_what_was_remembered_of_a_server_costs_nobody_its_removal(tmp_path: Path) -> None:
    async with managed(replace(QUICK, kept_in=tmp_path)) as manager:
        await manager.register(ServerRecord(name="gone", config={"url": "http://127.0.0.1:9/mcp"}))
        manager.signins.vault.write("ada", "gone", "secrets", {"for": "", "values": {}})
        (tmp_path / "listings").write_text("no folder", encoding="utf-8")
        await manager.unregister("gone")
        assert manager.signins.vault.read("ada", "gone", "secrets") is None
