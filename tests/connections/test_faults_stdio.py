"""The fault matrix over stdio (SECURITY.md section 4); each test prints the figure it measured."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from naru.connections.link import health
from naru.connections.manager import Manager
from naru.connections.session.options import RequestOptions
from naru.connections.state.faults import BusyError, LinkError, RpcError
from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports import descendants
from naru.connections.transports.descendants import VARIABLE
from naru.errors import ToolError, ToolTimeoutError
from naru.records import ServerStatus
from naru.tools.toolset import CallContext
from tests.connections.conftest import LATER, QUICK, managed, stdio
from tests.sizes import IS_FULL, sized, within
from tests.waiting import sleep_as_the_machine, until

pytestmark = pytest.mark.slow


async def connected(manager: Manager, *modes: str, name: str = "raw") -> None:
    await manager.register(stdio(name, "raw_server.py", *modes))
    assert await manager.connect(name), manager.explain(name).summary


async def call(manager: Manager, tool: str, *, name: str = "raw", context: CallContext | None = None, **arguments):
    return (await manager.call_tool(name, tool, arguments, context)).text


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_child_that_dies_in_a_call_fails_that_call_at_once_and_is_back(manager: Manager) -> None:
    """R-01"""
    await connected(manager)
    await connected(manager, name="other")
    longest = back = 0.0
    turns = sized(10, 500)
    for _ in range(turns):
        waiting = asyncio.ensure_future(call(manager, "sleep", seconds=30))
        await asyncio.sleep(0)
        start = time.monotonic()
        with pytest.raises(ToolError, match=r"'raw'.*exited with code 3"):
            await call(manager, "exit")
        with pytest.raises(ToolError, match="may have run"):
            await waiting
        longest = max(longest, time.monotonic() - start)
        start = time.monotonic()
        assert await call(manager, "echo", text="back") == "back"
        back = max(back, time.monotonic() - start)
        assert await call(manager, "echo", name="other", text="untouched") == "untouched"
    print(
        f"R-01 stdio: {2 * turns} faulted calls, 0 hangs, slowest error {longest * 1000:.0f} ms, "
        f"slowest recovery {back * 1000:.0f} ms"
    )
    assert longest < within(1)
    assert back < within(2)
    assert manager.connection("other").generation == 1


async def test_a_hanging_call_ends_at_its_deadline_and_is_cancelled(manager: Manager) -> None:
    """R-02"""
    await connected(manager)
    start = time.monotonic()
    with pytest.raises(ToolTimeoutError, match="may have run"):
        await call(manager, "sleep", seconds=30, context=CallContext(timeout_seconds=0.3))
    took = time.monotonic() - start
    connection = manager.connection("raw")
    assert connection.in_flight == 0
    assert len(json.loads(await call(manager, "cancelled"))) == 1
    assert connection.counters.strays == 0
    print(f"R-02: deadline 0.3 s kept within {abs(took - 0.3) * 1000:.0f} ms, slots held 0")
    assert 0.3 <= took < 0.3 + within(0.5)


async def test_a_late_answer_is_dropped_and_counted(manager: Manager) -> None:
    """R-02"""
    await connected(manager)
    with pytest.raises(ToolTimeoutError):
        await call(manager, "late", context=CallContext(timeout_seconds=0.1))
    await until(lambda: manager.connection("raw").counters.strays == 1)
    assert await call(manager, "echo", text="next") == "next"


async def test_a_cancelled_caller_cancels_its_call_alone(manager: Manager) -> None:
    """a28: 20 calls side by side, 5 of them cancelled; the 21st works."""
    await connected(manager)
    tasks = [asyncio.ensure_future(call(manager, "sleep", seconds=0.6 if n % 4 else 600)) for n in range(20)]
    await until(lambda: manager.connection("raw").in_flight >= 5)
    for task in tasks[::4]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in results] == [n % 4 == 0 for n in range(20)]
    assert [result for n, result in enumerate(results) if n % 4] == ["slept"] * 15
    assert await call(manager, "echo", text="21") == "21"


async def test_noise_on_stdout_is_skipped_and_counted_and_loses_no_answer(manager: Manager) -> None:
    """R-04: logs, BOM, CRLF, blank lines, JSON that is no message, half a message, batches."""
    await connected(manager, "banner")
    lost = 0
    for _ in range(200):
        answers = [await call(manager, "noise", lines=90), await call(manager, "jsonlog"), await call(manager, "batch")]
        lost += answers != ["after noise", "after json logs", ""]
    counted = manager.connection("raw").counters.noise_lines
    print(f"R-04: {counted} bad lines, {lost} good answers lost")
    assert lost == 0
    assert counted >= 200 * 95
    assert "[stdout] log line 89" in manager.connection("raw").log_text


async def test_a_hundred_bad_lines_in_a_row_restart_the_child(manager: Manager) -> None:
    """R-04"""
    await connected(manager)
    with pytest.raises(ToolError, match="not JSON-RPC"):
        await call(manager, "noise", lines=150)
    assert await call(manager, "echo", text="again") == "again"
    assert manager.connection("raw").generation == 2


async def test_invalid_utf8_is_replaced_and_the_link_goes_on(manager: Manager) -> None:
    """R-05"""
    await connected(manager)
    assert await call(manager, "badutf") == "a\ufffdb"
    assert await call(manager, "echo", text="ok") == "ok"
    print("R-05: call after an invalid byte: ok")


async def test_ids_that_are_not_ours_reach_nobody(manager: Manager) -> None:
    """R-06"""
    await connected(manager)
    for _ in range(100):
        assert await asyncio.gather(
            call(manager, "wrong_id"),
            call(manager, "doubled"),
            call(manager, "stringid"),
            call(manager, "echo", text="e"),
        ) == ["yours", "first", "yours", "e"]
    strays = manager.connection("raw").counters.strays
    print(f"R-06: {strays} stray answers dropped, 0 misdelivered")
    assert strays == 100 * 8


@pytest.mark.parametrize("tool", ["both", "neither"])
async def test_an_answer_with_both_or_neither_of_result_and_error_ends_its_call(manager: Manager, tool: str) -> None:
    """R-06, a06"""
    await connected(manager)
    with pytest.raises(ToolError, match="result"):
        await call(manager, tool)
    assert manager.connection("raw").counters.malformed == 1
    assert await call(manager, "echo", text="ok") == "ok"


async def test_prompts_are_not_asked_for_when_they_are_not_declared(manager: Manager) -> None:
    """a06"""
    await connected(manager)
    assert (await manager.connection("raw").listing("prompts")).items == ()


async def test_large_answers_arrive_fast_and_those_beyond_the_cap_fail_alone(manager: Manager) -> None:
    """R-07, a30"""
    await connected(manager)
    size = 8 * 1024 * 1024 - 200
    await call(manager, "big", bytes=1024)
    lag = asyncio.ensure_future(worst_lag())
    start = time.monotonic()
    assert len(await call(manager, "big", bytes=size)) == size
    took = time.monotonic() - start
    with pytest.raises(ToolError, match="8,388,608 bytes") as caught:
        await call(manager, "big", bytes=size + 1024)
    assert "`limits.answerMb`" in str(caught.value)
    assert await call(manager, "echo", text="ok") == "ok"
    lag.cancel()
    worst = (await asyncio.gather(lag, return_exceptions=True), worst_lag.seen)[1]
    print(f"R-07 stdio: 8 MiB in {took * 1000:.0f} ms, loop lag {worst * 1000:.0f} ms")
    assert took < within(1.0)
    assert worst < within(0.25)


async def worst_lag() -> None:
    worst_lag.seen = 0.0
    while True:
        start = time.monotonic()
        await asyncio.sleep(0.005)
        worst_lag.seen = max(worst_lag.seen, time.monotonic() - start - 0.005)


worst_lag.seen = 0.0


async def test_a_frame_without_an_end_does_not_grow_memory_past_the_cap(manager: Manager) -> None:
    """R-07: 64 MiB for one line."""
    await connected(manager)
    await call(manager, "big", bytes=1024)
    forget_peak()
    before = peak_mib()
    with pytest.raises(ToolError, match="limit is"):
        await call(manager, "big", bytes=64 * 1024 * 1024)
    grown = peak_mib() - before
    print(f"R-07: peak memory grew by {grown:.0f} MiB for a 64 MiB line (cap 8)")
    assert grown < 24


def forget_peak() -> None:
    """Let the peak of memory start anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_mib() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


async def test_a_silent_server_costs_its_own_timeout_only() -> None:
    """R-02, R-15, a04: good servers are usable long before the dead one has timed out."""
    settings = replace(QUICK, probe_timeout_seconds=0.5, close_timeout_seconds=0.3)
    async with managed(settings) as manager:
        await manager.register(stdio("dead", "raw_server.py", "silent", startTimeout="1.5s"))
        for name in ("ok1", "ok2"):
            await manager.register(stdio(name, "raw_server.py"))
        start = time.monotonic()
        await manager.initialize_from_store()
        await manager.reload()
        manager_ready = time.monotonic() - start
        for name in ("dead", "ok1", "ok2"):
            manager._connect_in_background(manager.connection(name))
        await until(lambda: manager.connection("ok1").is_live and manager.connection("ok2").is_live)
        usable = time.monotonic() - start
        assert not manager.connection("dead").is_live
        await until(lambda: manager.get_status("dead") is ServerStatus.FAILED)
        told = manager.explain("dead")
        assert told.failure is not None
        assert told.failure.code == "timeout"
        print(f"a04: ready after {manager_ready * 1000:.0f} ms, good servers after {usable * 1000:.0f} ms")


@pytest.mark.parametrize("mode", ["group", "setsid", "daemon"])
async def test_whatever_a_child_started_ends_with_it(mode: str) -> None:
    """R-16: on every exit path; at full size 3 x 17 x 4 cycles."""
    pids: list[int] = []
    endings = ("disconnect", "exit", "kill", "close") * sized(1, 17)
    for ending in endings:
        async with managed() as manager:
            await connected(manager)
            pids += [int(await call(manager, "pid")), int(await call(manager, "fork", mode=mode))]
            if ending == "disconnect":
                await manager.disconnect("raw")
            elif ending == "exit":
                with pytest.raises(ToolError):
                    await call(manager, "exit")
            elif ending == "kill":
                os.kill(pids[-2], signal.SIGKILL)
                await until(lambda manager=manager: manager.connection("raw").generation == 2)
    for _ in range(600):  # what has been killed takes the kernel a moment
        survivors = [pid for pid in pids if is_alive(pid)]
        if not survivors:
            break
        await asyncio.sleep(0.1)
    zombies = [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE]
    print(
        f"R-16 {mode}: {len(endings)} cycles, {len(pids)} processes over 4 exit paths, "
        f"{len(survivors)} survivors, {len(zombies)} zombies"
    )
    assert survivors == []
    assert zombies == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_what_has_only_just_been_started_is_found_by_its_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-16: a process shows no environment while its program is loaded; a busy disk lets that take milliseconds."""
    mark = descendants.new_mark()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    place = tmp_path / str(child.pid)
    place.mkdir()
    for name in ("stat", "exe"):
        (place / name).symlink_to(f"/proc/{child.pid}/{name}")
    (place / "environ").touch()
    monkeypatch.setattr(descendants, "_PROC", tmp_path)
    loaded = threading.Timer(0.1, (place / "environ").write_text, [f"{descendants.VARIABLE}={mark}"])
    loaded.start()
    ended = descendants.end_marked(mark)
    loaded.join()
    try:
        assert ended == 1
        assert child.wait(60) == -signal.SIGKILL
    finally:
        child.kill()


@pytest.mark.parametrize("mode", ["ignore-eof", "ignore-term"])
async def test_a_child_that_does_not_listen_is_ended_by_force(mode: str) -> None:
    """R-16, H14"""
    settings = ConnectionSettings(close_timeout_seconds=0.2)
    async with managed(settings) as manager:
        await connected(manager, mode)
        pid = int(await call(manager, "pid"))
        start = time.monotonic()
    took = time.monotonic() - start
    assert not is_alive(pid)
    assert took < within(2)


HUB = """
import asyncio, sys
from naru.connections.manager import Manager
from naru.records import ServerRecord, TransportType
from naru.stores.memory import MemoryStore
async def main():
    manager = Manager(MemoryStore())
    config = {"command": sys.executable, "args": [sys.argv[1], "ignore-eof", "ignore-term"]}
    await manager.register(ServerRecord(name="raw", transport_type=TransportType.STDIO, config=config))
    await manager.connect("raw")
    grandchild = await manager.call_tool("raw", "fork", {"mode": "daemon"})
    print(manager.connection("raw").pid, grandchild.text, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


async def test_a_killed_naru_leaves_no_child_and_the_next_start_ends_what_wandered_off(manager: Manager) -> None:
    """R-17"""
    script = str(Path(__file__).parent.parent / "fixtures" / "servers" / "raw_server.py")
    slowest = 0.0
    kills = sized(2, 50)
    for _ in range(kills):
        hub = subprocess.Popen([sys.executable, "-c", HUB, script], stdout=subprocess.PIPE, text=True)
        assert hub.stdout is not None
        child, grandchild = map(int, (await asyncio.to_thread(hub.stdout.readline)).split())
        assert is_alive(child)
        assert is_alive(grandchild)
        hub.kill()
        start = time.monotonic()
        hub.wait()
        hub.stdout.close()
        await until(lambda child=child: not is_alive(child))
        assert is_alive(grandchild), "a daemon cannot be reached by a parent's death"
        await manager.initialize_from_store()
        await until(lambda grandchild=grandchild: not is_alive(grandchild))
        slowest = max(slowest, time.monotonic() - start)
    print(f"R-17: {kills} kills of Naru, 0 orphans, slowest {slowest * 1000:.0f} ms")
    assert slowest < within(5)


async def test_cycles_of_connecting_leave_nothing(manager: Manager) -> None:
    """R-18, a11"""
    count = sized(10, 500)
    process = psutil.Process()
    await connected(manager)
    for _ in range(3):
        await manager.disconnect("raw")
        await manager.connect("raw")
    await manager.disconnect("raw")
    before = facts(process)
    for _ in range(count):
        assert await manager.connect("raw")
        await manager.disconnect("raw")
    await until(lambda: len(asyncio.all_tasks()) <= before["tasks"])
    after = facts(process)
    grown = {name: after[name] - before[name] for name in before}
    print(f"R-18 stdio: after {count} cycles {grown}")
    assert grown["children"] == 0
    assert abs(grown["descriptors"]) <= 2
    assert grown["threads"] <= 1
    assert grown["rss_mib"] < 5
    assert await manager.connect("raw")
    assert len(process.children()) == before["children"] + 1


def facts(process: psutil.Process) -> dict[str, int]:
    return {
        "descriptors": process.num_fds(),
        "tasks": len(asyncio.all_tasks()),
        "threads": process.num_threads(),
        "children": len(process.children()),
        "rss_mib": process.memory_info().rss // 2**20,
    }


async def test_failed_starts_are_reaped_and_told_with_the_childs_last_words() -> None:
    """a11, R-32"""
    async with managed(LATER) as manager:
        await manager.register(stdio("bad", "raw_server.py", "exit"))
        for _ in range(3):
            assert not await manager.connect("bad")
        told = manager.explain("bad")
        assert told.failure is not None
        assert told.failure.code == "exited"
        assert "code 1" in told.summary
        assert "cannot start: no licence" in told.log_tail
        assert told.next_retry_seconds is not None
        assert [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE] == []


async def test_calls_do_not_feed_a_crash_loop() -> None:
    """R-32: 50 programs that end at once, and callers who insist."""
    policy = ReconnectPolicy(initial_delay_seconds=0.02, max_delay_seconds=60, stable_seconds=10)
    async with managed(ConnectionSettings(reconnect=policy)) as manager:
        await manager.register(stdio("bad", "raw_server.py", "exit"))
        await manager.connect("bad")
        await until(lambda: manager.connection("bad").life.in_crash_loop(asyncio.get_running_loop().time()))
        start = time.monotonic()
        for _ in range(50):
            with pytest.raises(ToolError, match="exited with code 1"):
                await call(manager, "echo", name="bad", text="x")
        took = time.monotonic() - start
        print(f"R-32: 50 calls into a crash loop refused in {took * 1000:.0f} ms without a start")
        assert took < within(0.5)
        assert "again and again" in manager.explain("bad").summary


async def test_a_storm_of_list_changes_becomes_one_refresh_a_second(manager: Manager) -> None:
    """R-19, f18"""
    await connected(manager)
    await connected(manager, name="other")
    quiet = await latencies(manager)
    start = time.monotonic()
    for _ in range(10):
        await call(manager, "storm", times=200)
    stormy = await latencies(manager)
    connection = manager.connection("raw")
    await until(lambda: "extra199" in connection.catalogue)
    await asyncio.sleep(1.2)
    lists = json.loads(await call(manager, "count"))["lists"]
    print(f"R-19: 2000 notices, {lists} lists; other server's p99 {quiet * 1000:.2f} -> {stormy * 1000:.2f} ms")
    assert lists <= 3 + (time.monotonic() - start)
    assert stormy < (max(2 * quiet, 0.02) if IS_FULL else within(0.02))


async def latencies(manager: Manager) -> float:
    taken = []
    for _ in range(100):
        start = time.perf_counter()
        await call(manager, "echo", name="other", text="x")
        taken.append(time.perf_counter() - start)
    return statistics.quantiles(taken, n=100)[-1]


async def test_a_new_tool_shows_within_two_seconds_and_listeners_are_told(manager: Manager) -> None:
    """f18"""
    await connected(manager)
    told: list[str] = []
    manager.subscribe(lambda change: told.append(change.what))
    await manager.call_tool("raw", "grow", {"name": "t2"})
    took = await until(lambda: "t2" in manager.connection("raw").catalogue, within(2))
    assert "tools" in told
    assert any(tool.name == "t2" for tool in manager.tools())
    print(f"f18: new tool listed after {took * 1000:.0f} ms")


@pytest.mark.parametrize(
    ("mode", "count", "says"),
    [
        ("endless", 200, "200 pages"),
        ("circle", 3, "circles"),
        ("many=5000", 5000, ""),
        ("many=12000", 10_000, "10000 items"),
    ],
)
async def test_lists_without_an_end_are_cut_and_say_so(manager: Manager, mode: str, count: int, says: str) -> None:
    """R-20"""
    start = time.monotonic()
    await connected(manager, mode)
    took = time.monotonic() - start
    connection = manager.connection("raw")
    print(f"R-20 {mode}: {len(connection.tools)} tools in {took:.2f} s {connection.catalogue.warnings}")
    assert took < within(5)
    assert len(connection.tools) == count
    assert says in " ".join(connection.catalogue.warnings)


async def test_a_bad_tool_is_set_aside_with_its_reason_and_costs_no_other(manager: Manager) -> None:
    """N6"""
    await connected(manager, "bad-tools")
    assert [tool.name for tool in manager.tools("raw")] == ["echo", "good"]
    warnings = " ".join(manager.connection("raw").catalogue.warnings)
    assert "no name" in warnings
    assert "same name" in warnings
    assert "inputSchema" in warnings


async def test_a_flood_on_stderr_neither_blocks_nor_grows(manager: Manager) -> None:
    """R-40"""
    kilobytes = sized(64, 1024) * 1024
    await connected(manager)
    await call(manager, "flood", kilobytes=1024)
    before = psutil.Process().memory_info().rss
    start = time.monotonic()
    assert await call(manager, "flood", kilobytes=kilobytes, context=CallContext(timeout_seconds=60)) == "flooded"
    took = time.monotonic() - start
    grown = (psutil.Process().memory_info().rss - before) / 2**20
    print(f"R-40: {kilobytes // 1024} MiB of stderr in {took:.1f} s, memory +{grown:.1f} MiB")
    assert len(manager.connection("raw").log_text) <= 64 * 1024
    assert grown < 8


async def test_a_child_gets_three_descriptors_a_private_session_and_no_secret(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-25, S-33"""
    monkeypatch.setenv("NARU_MODEL__API_KEY", "CANARY")
    await manager.register(stdio("raw", "raw_server.py", env={"DECLARED": "yes"}))
    await manager.connect("raw")
    assert json.loads(await call(manager, "descriptors")) == [0, 1, 2]
    limits = json.loads(await call(manager, "limits"))
    assert limits == {"files": 4096, "umask": 0o077, "is_leader": True}
    environment = json.loads(await call(manager, "environment"))
    assert environment["DECLARED"] == "yes"
    assert "CANARY" not in str(environment)
    extra = set(environment) - {"DECLARED", VARIABLE, "PATH", "HOME", "LANG", "TERM", "SHELL", "USER", "LOGNAME", "TZ"}
    world = ("_PROXY", "CERT_FILE", "CERT_DIR", "CERTS", "CA_BUNDLE", "PIP_", "UV_", "NPM_CONFIG_", "XDG_")
    beyond = {name for name in extra if not any(word in name.upper() for word in world)}
    assert beyond <= {"LC_ALL", "LC_CTYPE", "TMPDIR"}


async def test_memory_limits_make_the_child_die_alone(manager: Manager) -> None:
    """S-25"""
    await manager.register(stdio("raw", "raw_server.py", limits={"memoryMb": 256}))
    await manager.connect("raw")
    with pytest.raises(ToolError):
        await call(manager, "big", bytes=1024 * 1024 * 1024)
    assert await call(manager, "echo", text="ok") == "ok"


async def test_a_stopped_child_is_noticed_and_replaced() -> None:
    """R-14: at full size with the product's own interval of 15 s."""
    short = ConnectionSettings(
        ping_interval_seconds=0.2, ping_timeout_seconds=0.2, close_timeout_seconds=0.2, reconnect=QUICK.reconnect
    )
    settings = ConnectionSettings() if IS_FULL else short
    async with managed(settings) as manager:
        await connected(manager)
        await call(manager, "stop")
        connection, before = manager.connection("raw"), manager.connection("raw").generation
        took = await until(lambda: connection.generation > before and connection.is_live)
        print(f"R-14: interval {settings.ping_interval_seconds:g} s, noticed and replaced after {took:.2f} s")
        assert took < within(35 + 4.5)
        assert "pings" in str(manager.connection("raw").life.last_failure)


async def test_a_server_busy_with_a_call_is_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ConnectionSettings(request_limit_seconds=1_000_000)
    patient = CallContext(timeout_seconds=settings.request_limit_seconds)
    async with managed(settings) as manager:
        await connected(manager)
        assert await call(manager, "flood", kilobytes=1) == "flooded"
        connection = manager.connection("raw")
        pid = connection.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        waiting = asyncio.ensure_future(call(manager, "echo", text="slow", context=patient))
        await until(lambda: connection.in_flight)
        for _ in range(50):
            if connection._supervisor._health._misses > health._MISSES:
                break
            await sleep_as_the_machine(monkeypatch, 100)
        assert connection.status is ServerStatus.DEGRADED
        os.kill(pid, signal.SIGCONT)
        assert await waiting == "slow"
        assert connection.pid == pid
        await sleep_as_the_machine(monkeypatch, settings.ping_interval_seconds)
        await until(lambda: connection.status is ServerStatus.CONNECTED)


async def test_one_stuck_server_does_not_slow_another() -> None:
    """R-35"""
    settings = ConnectionSettings(queue_timeout_seconds=0.5)
    async with managed(settings) as manager:
        await connected(manager)
        await connected(manager, name="other")
        alone = await latencies(manager)
        stuck = [asyncio.ensure_future(call(manager, "sleep", seconds=60)) for _ in range(1000)]
        await asyncio.sleep(0)
        beside = await latencies(manager)
        await until(lambda: sum(task.done() for task in stuck) >= 990)
        refused = sum(task.done() and isinstance(task.exception(), ToolError) for task in stuck)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        print(f"R-35: 1000 calls on a stuck server, {refused} refused; p99 {alone * 1e3:.2f} -> {beside * 1e3:.2f} ms")
        assert refused == 990


async def test_stop_and_removal_interrupt_an_attempt_at_once(manager: Manager) -> None:
    """H10, H14: stop while connecting, removal while reconnecting."""
    await manager.register(stdio("raw", "raw_server.py", "silent"))
    attempt = asyncio.ensure_future(manager.connect("raw"))
    await until(lambda: manager.get_status("raw") is ServerStatus.CONNECTING)
    await asyncio.wait_for(manager.disconnect("raw"), 30)
    assert not await attempt
    assert manager.get_status("raw") is ServerStatus.DISCONNECTED
    again = asyncio.ensure_future(manager.connect("raw"))
    await until(lambda: manager.get_status("raw") is ServerStatus.CONNECTING)
    await asyncio.wait_for(manager.unregister("raw"), 30)
    assert not await again
    assert manager.get_status("raw") is None


async def test_connect_and_disconnect_side_by_side_end_in_a_state_that_is_true(manager: Manager) -> None:
    """H4"""
    await connected(manager)
    for _ in range(5):
        await asyncio.gather(*(manager.connect("raw") if n % 2 else manager.disconnect("raw") for n in range(6)))
        connection = manager.connection("raw")
        assert connection.is_live == (connection.status is ServerStatus.CONNECTED)
    assert await manager.connect("raw")
    assert await call(manager, "echo", text="ok") == "ok"


async def test_a_server_may_ask_us_in_the_middle_of_a_call(manager: Manager) -> None:
    """Sampling, elicitation and roots of the legacy era; refused by default (S-58)."""
    await connected(manager)
    refused = json.loads(await call(manager, "ask"))
    assert refused["code"] == -32601

    async def answer(asked) -> dict:
        return {"said": f"{asked.server} {asked.method} {asked.params}"}

    options = RequestOptions(on_request=answer)
    raw = await manager.connection("raw").request("tools/call", {"name": "ask", "arguments": {}}, options)
    said = json.loads(raw["content"][0]["text"])["said"]
    assert said == "raw sampling/createMessage {'n': 1}"


async def test_errors_and_unknown_keys_pass_as_they_were_sent(manager: Manager) -> None:
    """Decision 4: the seam carries plain JSON-RPC data."""
    await connected(manager)
    connection = manager.connection("raw")
    with pytest.raises(RpcError) as caught:
        await connection.request("tools/call", {"name": "nonsense", "arguments": {}})
    assert caught.value.as_error() == {
        "code": -32602,
        "message": "Unknown tool: nonsense",
        "data": {"name": "nonsense"},
    }
    assert connection.catalogue.raw[0]["x-kept"] == {"by": "us"}
    with pytest.raises(LinkError, match="'raw'"):
        await connection.request("tools/call", {"name": "both"})
    assert issubclass(BusyError, LinkError)
