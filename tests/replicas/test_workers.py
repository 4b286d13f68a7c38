"""`naru serve --workers`: several processes on one port, with the data folder in common (issue 21 line 6)."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import pytest

from naru.stores.secrets.keys import KeyFile
from tests.docs.fake_model import MODEL, fake_model
from tests.journeys.test_hr import wait_until_ready
from tests.ports import free_port
from tests.replicas.cluster import ADMIN_KEY, call, eventually, offers, open_session, register, rpc, text_of
from tests.replicas.test_replicas import REFUSED, modern
from tests.team.conftest import NOTED

pytestmark = pytest.mark.slow


@dataclass
class Workers:
    process: subprocess.Popen[bytes]
    url: str

    def way(self, key: str = ADMIN_KEY) -> httpx.Client:
        """Return a client with a connection of its own, which some worker gets."""
        return httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=90)

    def pids(self) -> list[int]:
        """Return the processes that serve."""
        found = []
        for one in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):  # it ends just now
                if "spawn_main" in " ".join(one.cmdline()):
                    found.append(one.pid)
        return found

    def ways(self, key: str = ADMIN_KEY) -> dict[int, httpx.Client]:
        """Return a client for each worker, told apart by the worker's own child."""
        found: dict[int, httpx.Client] = {}

        def reached() -> bool:
            way = self.way(key)
            answer = modern(way, name="asking__process", arguments={})
            if "result" in answer and not answer["result"].get("isError"):  # it may not have heard of the server yet
                found.setdefault(int(text_of(answer)), way)
            return len(found) == 2

        eventually(reached, 60)
        return found


@contextmanager
def workers(folder: Path, **environment: str) -> Iterator[Workers]:
    port = free_port()
    with fake_model() as model_url:
        process = subprocess.Popen(
            [sys.executable, "-m", "naru.cli.main", "serve", "--workers", "2", "--port", str(port)],
            env={
                **os.environ,
                "NARU_HUB__DATA_DIR": str(folder),
                "NARU_SERVER__API_KEY": ADMIN_KEY,
                "NARU_SERVER__RATE_LIMIT_PER_MINUTE": "0",
                "NARU_MODEL__BASE_URL": model_url,
                "NARU_MODEL__MODEL": MODEL,
                "NARU_MCP__SECURITY__ALLOW_REMOTE_EXEC": "true",
                "NARU_MCP__SECURITY__ALLOWED_COMMANDS": json.dumps([sys.executable]),
                **environment,
            },
        )
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            yield Workers(process, f"http://127.0.0.1:{port}")
        finally:
            process.terminate()
            process.wait(timeout=90)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    with workers(tmp_path_factory.mktemp("workers")) as made:
        eventually(lambda: len(made.pids()) == 2)
        way = made.way()
        register(way)
        eventually(lambda: offers(made.way(), "asking__echo") and offers(way, "asking__echo"))
        yield made


def test_no_key_is_asked_for_on_ones_own_machine_until_one_is_made(tmp_path: Path) -> None:
    """A-01: as by one process alone."""

    def statuses(one: Workers) -> set[int]:
        return {httpx.get(f"{one.url}/v1/models", timeout=90).status_code for _ in range(8)}

    with workers(tmp_path, NARU_SERVER__API_KEY="") as one:
        assert statuses(one) == {200}
        assert not (tmp_path / "admin.key").exists()
        KeyFile(tmp_path / "keys.json").create("user")
        eventually(lambda: statuses(one) == {401})


def test_line6_both_serve_and_hear_of_servers_and_keys(two: Workers) -> None:
    ways = two.ways()
    assert len(ways) == 2
    first, second = ways.values()
    made = first.post("/api/keys", json={"role": "user"}).json()
    theirs = two.ways(made["key"])
    assert all(way.get("/v1/models").status_code == 200 for way in theirs.values())
    assert second.delete(f"/api/keys/{made['id']}").status_code == 204
    for way in theirs.values():
        eventually(lambda way=way: way.get("/v1/models").status_code in REFUSED)
    entry = {"name": "far", "config": {"url": "https://far.example/mcp"}, "autoConnect": False}
    assert first.post("/api/mcp/servers", json=entry).status_code == 201
    eventually(lambda: second.get("/api/mcp/servers/far").status_code == 200)


def test_line6_a_session_is_found_from_both_and_a_question_answered_through_either(two: Workers) -> None:
    first, second = two.ways().values()
    session = open_session(first, elicitation={})
    assert text_of(call(second, session, "asking__echo", text="there")) == "there"
    with second.stream(
        "POST", "/mcp", json=rpc("tools/call", 7, name="asking__ask", arguments={}), headers=session
    ) as s:
        found = (json.loads(line[6:]) for line in s.iter_lines() if line.startswith("data: {"))
        question = next(message for message in found if message.get("method") == "elicitation/create")
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": question["id"]}
        answer["result"] = {"action": "accept", "content": {"name": "Ann"}}
        other = two.ways()
        for way in other.values():
            assert way.post("/mcp", json=answer, headers=session).status_code == 202
        assert text_of(next(message for message in found if message.get("id") == 7)) == "Hello, Ann."


def test_line6_a_held_call_is_answered_through_either(two: Workers) -> None:
    first, second = two.ways().values()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        calling = pool.submit(lambda: call(first, open_session(first), "asking__wipe"))
        waiting = eventually(lambda: second.get("/api/approvals").json()["waiting"])
        second.post(f"/api/approvals/{waiting[0]['id']}", json={"decision": "once"})
        assert text_of(calling.result(60)) == "wiped"


def test_line6_metrics_are_those_of_both_whoever_is_asked(two: Workers) -> None:
    first, second = two.ways().values()

    def counted(way: httpx.Client) -> float:
        lines = way.get("/metrics").text.splitlines()
        found = [line for line in lines if line.startswith("naru_server_calls_total{") and 'server="asking"' in line]
        return sum(float(line.rsplit(" ", 1)[1]) for line in found)

    before = counted(first)
    for way in (first, second):
        modern(way, name="asking__echo", arguments={"text": "x"})
    assert counted(first) == counted(second) == before + 2


def test_line6_a_worker_that_is_killed_is_replaced_and_the_others_serve_on(tmp_path: Path) -> None:
    with workers(tmp_path) as made:
        eventually(lambda: len(made.pids()) == 2)
        killed = made.pids()[0]
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: len([pid for pid in made.pids() if pid != killed]) == 2, 60)
        eventually(lambda: made.way().get("/v1/models").status_code == 200)


def test_line6_workers_do_not_outlive_the_one_who_watches_over_them(tmp_path: Path) -> None:
    with workers(tmp_path) as made:
        eventually(lambda: len(made.pids()) == 2)
        left = [psutil.Process(pid) for pid in made.pids()]
        made.process.kill()
        made.process.wait(30)
        _, alive = psutil.wait_procs(left, timeout=60)
        assert alive == []


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("NARU_HUB__STORE", "memory:", "A store in memory is one process's own."),
        ("NARU_HUB__REPLICA_ADDRESS", "auto", "do not go together"),
    ],
)
def test_line6_what_cannot_be_shared_by_processes_is_refused(
    tmp_path: Path, setting: str, value: str, said: str
) -> None:
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--workers", "2", "--port", "0"]
    environment = {**os.environ, "NARU_HUB__DATA_DIR": str(tmp_path), setting: value}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert re.search(r"Traceback", done.stderr) is None


def test_line6_one_worker_is_the_default_and_one_process(tmp_path: Path) -> None:
    port = free_port()
    with fake_model() as model_url:
        environment = {
            **os.environ,
            "NARU_HUB__DATA_DIR": str(tmp_path),
            "NARU_MODEL__BASE_URL": model_url,
            "NARU_MODEL__MODEL": MODEL,
        }
        command = [sys.executable, "-m", "naru.cli.main", "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=environment)
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            assert psutil.Process(process.pid).children() == []
        finally:
            process.terminate()
            process.wait(timeout=90)


def test_line5_a_program_that_runs_once_is_one_process_for_all_workers(tmp_path: Path) -> None:
    with workers(tmp_path) as made:
        config = {"command": sys.executable, "args": [str(NOTED), "one"], "run": "once"}
        entry = {"name": "one", "config": config, "autoConnect": True}
        assert made.way().post("/api/mcp/servers", json=entry).status_code == 201

        def answered() -> tuple[str, str]:
            way = made.way()
            answer = modern(way, name="one__read", arguments={})
            place = str(way.get("/api/mcp/servers/one").json().get("runsAt", ""))
            return (place, text_of(answer)) if "result" in answer else ("", "")

        seen: dict[str, set[str]] = {}

        def both() -> bool:
            place, text = answered()
            if place and text:
                seen.setdefault("here" if place == "here" else "elsewhere", set()).add(text)
            return len(seen) == 2

        eventually(both, 60)
        assert seen["here"] == seen["elsewhere"], "one process"
