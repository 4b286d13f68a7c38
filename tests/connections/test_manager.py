"""The manager against real servers made with the official SDK (H11)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from naru.connections.manager import Manager
from naru.errors import ConflictError, NotFoundError, ToolError, UnknownToolError
from naru.records import ServerRecord, ServerStatus, TransportType
from naru.tools.toolset import CallContext
from tests.connections.conftest import LATER, ONCE, http, managed, start_http, stdio
from tests.ports import free_port
from tests.waiting import until


def record_for(kind: str, port: int):
    return {
        "stdio": lambda: stdio("one", "sdk_server.py", "stdio"),
        "http": lambda: http("one", f"http://127.0.0.1:{port}/mcp"),
        "sse": lambda: http("one", f"http://127.0.0.1:{port}/sse", TransportType.SSE),
        "undeclared-http": lambda: http("one", f"http://127.0.0.1:{port}/mcp", None),
        "undeclared-sse": lambda: http("one", f"http://127.0.0.1:{port}/sse", None),
    }[kind]()


@pytest.mark.parametrize("kind", ["stdio", "http", "sse", "undeclared-http", "undeclared-sse"])
@pytest.mark.slow
async def test_a_server_connects_lists_and_calls_over_each_transport(
    manager: Manager, sdk_port: int, kind: str
) -> None:
    await manager.register(record_for(kind, sdk_port))
    assert manager.get_status("one") is ServerStatus.PENDING
    assert await manager.connect("one")
    assert manager.get_status("one") is ServerStatus.CONNECTED
    assert [tool.name for tool in manager.tools("one")] == ["echo", "pid", "steps", "fail"]
    result = await manager.call_tool("one", "echo", {"text": "안녕 \u2028"})
    assert result.text == "안녕 \u2028"
    assert (await manager.call_tool("one", "fail", {})).is_error
    seen = []

    async def on_progress(progress: float, total: float | None, message: str) -> None:
        seen.append((progress, total, message))

    await manager.call_tool("one", "steps", {}, CallContext(on_progress=on_progress))
    assert seen == [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]
    await manager.disconnect("one")
    assert manager.get_status("one") is ServerStatus.DISCONNECTED
    assert list(manager.tools("one")) == []


async def test_a_missing_command_says_what_was_searched_and_what_to_do() -> None:
    """f09"""
    config = {"command": "npx-nowhere", "env": {"PATH": "/usr/bin:/bin"}}
    async with managed(LATER) as manager:
        await manager.register(stdio("n", "sdk_server.py").model_copy(update={"config": config}))
        assert not await manager.connect("n")
        told = manager.explain("n")
    assert told.failure is not None
    assert told.failure.code == "command_not_found"
    assert "'npx-nowhere'" in told.summary
    assert "/usr/bin:/bin" in told.summary
    assert "full path" in told.remedy
    assert told.next_retry_seconds is not None


async def test_a_killed_child_is_back_for_the_next_call(manager: Manager) -> None:
    await manager.register(stdio("one", "raw_server.py"))
    await manager.connect("one")
    first = int((await manager.call_tool("one", "pid", {})).text)
    os.kill(first, signal.SIGKILL)
    await until(lambda: manager.connection("one").generation == 2 and manager.connection("one").is_live)
    assert int((await manager.call_tool("one", "pid", {})).text) != first


async def test_names_are_unique_and_unknown_names_are_named(manager: Manager) -> None:
    await manager.register(stdio("one", "raw_server.py"))
    with pytest.raises(ConflictError):
        await manager.register(stdio("one", "raw_server.py"))
    with pytest.raises(NotFoundError, match="'two'"):
        await manager.connect("two")
    await manager.unregister("one")
    with pytest.raises(NotFoundError):
        await manager.unregister("one")
    assert not await manager.list_servers()


async def test_an_unknown_tool_is_told_with_those_there_are(manager: Manager) -> None:
    await manager.register(stdio("one", "raw_server.py"))
    await manager.connect("one")
    with pytest.raises(UnknownToolError, match="echo, pid"):
        await manager.call_tool("one", "ecko", {})
    await manager.disconnect("one")
    assert (await manager.call_tool("one", "echo", {"text": "back"})).text == "back"


async def test_calling_a_server_that_was_never_connected_says_so(manager: Manager) -> None:
    await manager.register(stdio("one", "raw_server.py"))
    with pytest.raises(ToolError, match="PENDING"):
        await manager.call_tool("one", "echo", {"text": "x"})


async def test_a_defect_of_ours_is_told_and_does_not_end_the_supervision() -> None:
    broken = [True]

    def resolve(record):
        if broken.pop() if broken else False:
            raise RuntimeError("boom")
        return record.config

    async with managed(ONCE, resolve=resolve) as manager:
        await manager.register(stdio("one", "raw_server.py"))
        assert not await manager.connect("one")
        assert "boom" in manager.explain("one").summary
        assert await manager.connect("one")


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"disabled": True}, "Switch it on: naru servers enable one"),
        ({}, "Connect it: naru servers connect one"),
    ],
    ids=["disabled", "pending"],
)
async def test_a_server_at_rest_is_told_with_the_command_that_wakes_it(
    manager: Manager, config: dict[str, bool], says: str
) -> None:
    """N10"""
    await manager.register(stdio("one", "raw_server.py", **config))
    assert manager.explain("one").remedy == says


async def test_a_change_that_nobody_waits_for_to_its_end_is_connected_all_the_same(manager: Manager) -> None:
    record = stdio("one", "raw_server.py", "ignore-eof")
    await manager.register(record)
    assert await manager.connect("one")
    changed = record.model_copy(update={"config": {**record.config, "env": {"A": "1"}}})
    with pytest.raises(TimeoutError):  # its program takes longer to end
        await asyncio.wait_for(manager.update(changed), 0.2)
    await until(lambda: manager.connection("one").record.config["env"] == {"A": "1"})
    await until(lambda: manager.connection("one").is_live)


async def test_a_server_that_is_switched_off_is_connected_by_nobody(manager: Manager) -> None:
    """H3: not by hand, not by a call, and not by a sign-in; closing it leaves it switched off."""
    await manager.register(stdio("one", "raw_server.py", disabled=True))
    for _ in range(2):
        assert not await manager.connect("one")
        assert not await manager.ensure_connected("one")
        assert not await manager.signed("one", "")
        with pytest.raises(ToolError, match="DISABLED"):
            await manager.call_tool("one", "echo", {})
        assert manager.get_status("one") is ServerStatus.DISABLED
        await manager.disconnect("one")


@pytest.mark.parametrize(
    ("first_line", "says"),
    [("#!/no/such/interpreter", "interpreter that its first line names"), ("echo hello", "names no interpreter")],
)
async def test_f09_a_script_that_cannot_be_started_says_what_is_wrong_with_it(
    manager: Manager, tmp_path: Path, first_line: str, says: str
) -> None:
    script = tmp_path / "server"
    script.write_text(f"{first_line}\n", encoding="utf-8")
    script.chmod(0o755)
    record = ServerRecord(name="s", transport_type=TransportType.STDIO, config={"command": str(script)})
    await manager.register(record)
    assert not await manager.connect("s")
    assert says in manager.explain("s").remedy


@pytest.mark.slow
async def test_a_call_after_a_restart_that_nobody_noticed_gets_through(manager: Manager) -> None:
    """a20, PERF 9: the loop was busy while the server died and came back; its pooled connection is dead."""
    port = free_port()
    first = start_http(port)
    try:
        await manager.register(http("one", f"http://127.0.0.1:{port}/mcp"))
        await manager.connect("one")
        pid = (await manager.call_tool("one", "pid", {})).text
    finally:
        first.kill()
        first.wait()
    second = start_http(port)  # blocks the loop all the while
    try:
        start = time.monotonic()
        assert (await manager.call_tool("one", "pid", {})).text != pid
        print(f"first call after an unnoticed restart: {(time.monotonic() - start) * 1000:.0f} ms")
    finally:
        second.kill()
        second.wait()
