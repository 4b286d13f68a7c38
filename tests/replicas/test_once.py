"""A program that runs once for all hubs (issue 21 line 5): real hubs on one PostgreSQL."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
import pytest

from naru.records import ServerRecord
from naru.stores.secrets.file import secret_of
from tests.postgres_servers import PostgresServers
from tests.replicas.cluster import (
    ADMIN_KEY,
    Cluster,
    call,
    cluster,
    eventually,
    messages_of,
    open_session,
    rpc,
    text_of,
)
from tests.team.conftest import NOTED

pytestmark = pytest.mark.slow
SLOW = Path(__file__).with_name("counting_server.py")


def add(way: httpx.Client, name: str, script: Path = NOTED, **config: Any) -> None:
    entry = {"command": sys.executable, "args": [str(script), name], "run": "once", **config}
    made = way.post("/api/mcp/servers", json={"name": name, "config": entry, "autoConnect": True})
    assert made.status_code == 201, made.text


def pid_by(way: httpx.Client, name: str = "one") -> str:
    """Return the process that answers a call at a hub; empty while none does."""
    answer = call(way, open_session(way), f"{name}__read")
    if "result" not in answer or answer["result"].get("isError"):
        return ""
    return text_of(answer).rpartition(":")[2]


def where(way: httpx.Client, name: str = "one") -> str:
    return str(way.get(f"/api/mcp/servers/{name}").json().get("runsAt", ""))


@pytest.fixture(scope="module")
def two(postgres_servers: PostgresServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    store = postgres_servers.fresh_database(15)
    with cluster(tmp_path_factory.mktemp("once"), store, 2) as made:
        add(made.way(0), "one")
        add(made.way(0), "counting", SLOW)
        for number in range(2):
            eventually(lambda number=number: pid_by(made.way(number)))
            eventually(lambda number=number: where(made.way(number), "counting"))
        yield made


def test_line5_one_process_answers_at_every_hub_and_the_list_says_where(two: Cluster) -> None:
    assert pid_by(two.way(0)) == pid_by(two.way(1))
    places = {where(two.way(0)), where(two.way(1))}
    assert "here" in places
    assert places - {"here"} <= set(two.urls)
    assert len(places) == 2
    listed = {one["name"]: one for one in two.way(0).get("/api/mcp/servers").json()}
    assert listed["one"]["runsAt"] in {"here", *two.urls}


def test_line5_servers_list_says_where_it_runs(two: Cluster) -> None:
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(two.folders[0]),
        "NARU_HUB__STORE": two.store,
        "NARU_HUB__REPLICA_ADDRESS": "auto",
        "NARU_SERVER__PORT": two.urls[0].rpartition(":")[2],
        "NARU_SERVER__API_KEY": ADMIN_KEY,
    }
    command = [sys.executable, "-m", "naru.cli.main", "servers", "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    words = [one.split() for one in done.stdout.splitlines()]
    line = " ".join(next((one for one in words if one[:1] == ["one"]), []))
    assert "CONNECTED here" in line or f"CONNECTED at {two.urls[1]}" in line, done.stdout + done.stderr


def test_line5_calls_at_both_hubs_at_once_are_answered_each_with_its_own(two: Cluster) -> None:
    sessions = [open_session(two.way(number)) for number in range(2)]

    def echo(number: int) -> str:
        way = two.way(number % 2)
        return text_of(call(way, sessions[number % 2], "counting__say", number, text=f"n{number}"))

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert list(pool.map(echo, range(2, 32))) == [f"n{number}" for number in range(2, 32)]


def test_line5_progress_of_a_call_comes_through_the_other_hub(two: Cluster) -> None:
    for number in range(2):
        way = two.way(number)
        session = open_session(way)
        body = rpc("tools/call", 7, name="counting__count", arguments={}, _meta={"progressToken": "mine"})
        with way.stream("POST", "/mcp", json=body, headers=session) as stream:
            found = messages_of("\n".join(stream.iter_lines()))
        heard = [one["params"] for one in found if one.get("method") == "notifications/progress"]
        assert [(one["progressToken"], one["progress"]) for one in heard] == [("mine", 1), ("mine", 2)]
        assert text_of(found[-1]) == "counted"


def test_line5_an_error_of_the_server_is_the_same_through_the_other_hub(two: Cluster) -> None:
    said = [
        call(two.way(number), open_session(two.way(number)), "counting__fail")["error"]["message"]
        for number in range(2)
    ]
    assert said[0] == said[1]
    assert "on purpose" in said[0]


def test_line5_a_tool_that_it_adds_is_offered_at_both_hubs(two: Cluster) -> None:
    call(two.way(0), open_session(two.way(0)), "counting__grow")

    def offers_it(number: int) -> bool:
        tools = two.way(number).get("/api/mcp/servers/counting").json()
        return "grown" in str(tools["tools"]) + str(tools["withheldTools"])

    for number in range(2):
        eventually(lambda number=number: offers_it(number))


def test_s01_who_has_no_secret_of_the_hubs_asks_no_hub_for_a_server(two: Cluster) -> None:
    path = "/api/hubs/servers/one"
    for headers in ({}, {"Authorization": "Bearer " + "0" * 64}):
        answer = httpx.post(two.urls[0] + path, json=rpc("tools/list"), headers=headers, timeout=60)
        assert answer.status_code == 401
        assert answer.content == b""
    assert two.way(0).post(path, json=rpc("tools/list")).status_code == 401, "an admin's key is another thing"


def test_a_hub_that_asks_another_in_broken_json_is_told_so(two: Cluster) -> None:
    headers = {"Authorization": f"Bearer {secret_of(two.folders[0] / 'hubs.key').hex()}"}
    answer = httpx.post(two.urls[0] + "/api/hubs/servers/one", content=b"{", headers=headers, timeout=60)
    assert answer.status_code == 400


def test_line5_a_hub_that_has_lost_its_lease_lets_the_other_run_it(two: Cluster) -> None:
    before = pid_by(two.way(0))
    other = 0 if where(two.way(0)) != "here" else 1
    with psycopg.connect(two.store, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = %s", [0x6E617273]
        )
    eventually(lambda: pid_by(two.way(other)))
    eventually(lambda: pid_by(two.way(0)) == pid_by(two.way(1)) != "")
    assert before


def test_line5_when_the_hub_that_runs_it_is_killed_the_other_takes_over(
    postgres_servers: PostgresServers, tmp_path: Path
) -> None:
    store = postgres_servers.fresh_database(15)
    with cluster(tmp_path, store, 2) as made:
        add(made.way(0), "one")
        for number in range(2):
            eventually(lambda number=number: pid_by(made.way(number)))
        holder = 0 if where(made.way(0)) == "here" else 1
        before = pid_by(made.way(holder))
        made.kill(holder)
        began = time.monotonic()
        other = made.way(1 - holder)
        after = eventually(lambda: pid_by(other), 60)
        assert after != before
        assert where(other) == "here"
        assert time.monotonic() - began < 60, "bounded"


@pytest.mark.parametrize(
    "config",
    [
        {"command": "x", "run": "twice"},
        {"url": "https://far.example/mcp", "run": "once"},
        {"command": "x", "run": "once", "credentials": "per-user"},
        {"command": "x", "run": "once", "isolation": "caller"},
    ],
)
def test_line5_what_cannot_run_once_is_refused_with_the_reason(config: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"config\.run must be"):
        ServerRecord(name="one", config=config)
