"""What is lost when a hub is killed, or the database goes away: nothing that was acknowledged (issue 21 line 5)."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import httpx2 as httpx
import pytest

from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries
from tests.ports import free_port
from tests.postgres_servers import PostgresServers
from tests.replicas.cluster import (
    Cluster,
    call,
    cluster,
    eventually,
    message_of,
    messages_of,
    offers,
    open_session,
    register,
    rpc,
    text_of,
)
from tests.replicas.test_replicas import modern

pytestmark = pytest.mark.slow


@pytest.fixture
def three(postgres_servers: PostgresServers, tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path, postgres_servers.fresh_database(15)) as made:
        register(made.way(0))
        for number in range(3):
            way = made.way(number)
            eventually(lambda way=way: offers(way, "asking__echo"))
        yield made


@dataclass
class Load:
    """Calls and writes through nginx until it is stopped."""

    way: httpx.Client
    stop: threading.Event = field(default_factory=threading.Event)
    failed: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def call(self) -> None:
        while not self.stop.is_set():
            try:
                assert text_of(modern(self.way, name="asking__echo", arguments={"text": "x"})) == "x"
                self.done.append(time.monotonic())
            except (httpx.HTTPError, KeyError, IndexError, ValueError):
                self.failed.append(time.monotonic())

    def write(self) -> None:
        while not self.stop.is_set():
            try:
                made = self.way.post("/api/keys", json={"role": "read", "owner": "load"})
                if made.status_code == 201:
                    self.kept.append(made.json()["id"])
            except httpx.HTTPError:
                self.failed.append(time.monotonic())

    def served_since(self, moment: float) -> int:
        return sum(at > moment for at in self.done)


def test_line5_one_hub_killed_under_load_loses_no_acknowledged_write_and_stops_nobody_else(three: Cluster) -> None:
    load = Load(three.way())
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for _ in range(4):
            pool.submit(load.call)
        for _ in range(2):
            pool.submit(load.write)
        try:
            eventually(lambda: len(load.done) > 50 and len(load.kept) > 10)
            three.kill(1)
            killed, kept = time.monotonic(), len(load.kept)
            eventually(lambda: load.served_since(killed + 1) > 50 and len(load.kept) > kept + 10)
            eventually(lambda: load.served_since(max(load.failed, default=0.0)) > 50)  # how soon: bench/replicas.py
        finally:
            load.stop.set()
    assert len(load.kept) > 20
    for number in (0, 2):
        way = three.way(number)
        eventually(lambda way=way: set(load.kept) <= {key["id"] for key in way.get("/api/keys").json()})


def test_line5_a_session_of_a_killed_hub_begins_anew_at_another(three: Cluster) -> None:
    session = open_session(three.way(1))
    assert text_of(call(three.way(0), session, "asking__echo", text="before")) == "before"
    three.kill(1)
    gone = three.way(0).post("/mcp", json=rpc("tools/list"), headers=session)
    assert gone.status_code == 404
    assert "Initialize again" in gone.text
    again = open_session(three.way(0))
    assert text_of(call(three.way(2), again, "asking__echo", text="after")) == "after"


def under_way(three: Cluster, tmp_path: Path) -> tuple[dict[str, str], dict[str, object], Path]:
    begun = tmp_path / "begun"
    body = rpc("tools/call", 5, name="asking__wait", arguments={"seconds": 60, "text": str(begun)})
    return open_session(three.way(1)), body, begun


def test_line5_a_call_under_way_at_a_killed_hub_ends_with_an_error_that_says_why(
    three: Cluster, tmp_path: Path
) -> None:
    session, body, begun = under_way(three, tmp_path)
    session["Accept"] = "application/json"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        calling = pool.submit(lambda: three.way(0).post("/mcp", json=body, headers=session))
        eventually(begun.exists)
        three.kill(1)
        answer = calling.result(60)
    assert answer.status_code == 502
    assert message_of(answer)["id"] == 5
    assert "stopped while the call was under way: it may have run" in message_of(answer)["error"]["message"]


def test_line5_so_does_one_whose_answer_is_a_stream(three: Cluster, tmp_path: Path) -> None:
    session, body, _ = under_way(three, tmp_path)
    with three.way(0).stream("POST", "/mcp", json=body, headers=session) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        three.kill(1)
        said = messages_of("\n".join(stream.iter_lines()))[-1]
    assert said["id"] == 5
    assert "it may have run" in said["error"]["message"]


def test_line5_a_call_that_a_killed_hub_held_waits_no_longer(three: Cluster) -> None:
    other, session = three.way(0), open_session(three.way(1))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        calling = pool.submit(
            lambda: three.way(1).post("/mcp", json=rpc("tools/call", name="asking__wipe"), headers=session)
        )
        eventually(lambda: other.get("/api/approvals").json()["waiting"])
        three.kill(1)
        eventually(lambda: not other.get("/api/approvals").json()["waiting"])
        assert calling.exception(60) is not None


def test_line5_without_the_database_what_runs_goes_on_and_changes_say_why_not(tmp_path: Path) -> None:
    port, folder = free_port(), Path(mkdtemp())
    folder.chmod(0o755)  # the server is another user's
    settings = {"listen_addresses": "127.0.0.1", "port": str(port)}
    database = EmbeddedPostgres(bin_dir=find_binaries(15), data_dir=folder / "data", settings=settings)
    with database, cluster(tmp_path, f"postgresql://postgres@127.0.0.1:{port}/postgres", count=2) as two:
        register(two.way(0))
        way, other = two.way(0), two.way(1)
        eventually(lambda: offers(way, "asking__echo") and offers(other, "asking__echo"))
        key = way.post("/api/keys", json={"role": "user"}).json()["key"]
        mine = two.way(1, key)
        eventually(lambda: mine.get("/v1/models").status_code == 200)
        database.stop()
        assert text_of(modern(mine, name="asking__echo", arguments={"text": "on"})) == "on"
        refused = way.post("/api/keys", json={"role": "user"})
        assert refused.status_code >= 500
        assert "keys.json could not be changed" in refused.text
        assert "cannot be reached" in refused.text
        database.start()
        made = eventually(lambda: _made(way))
        eventually(lambda: two.way(1, made).get("/v1/models").status_code == 200)


def _made(way: httpx.Client) -> str:
    answer = way.post("/api/keys", json={"role": "user"})
    return str(answer.json()["key"]) if answer.status_code == 201 else ""
