"""What a server says unasked: only what the protocol knows counts, and what it takes back is taken back."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from naru.connections.rules.pins import PinBook
from naru.connections.rules.policy import Policy, PolicyGuard
from naru.connections.session import opening
from naru.connections.session.catalogue import Listing, read_list, read_tools
from naru.connections.session.listening import ChangeListener
from naru.connections.session.options import RequestOptions
from naru.connections.session.session import Hooks
from naru.connections.state.faults import Failure, LinkError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports.base import Outgoing
from naru.messages import JsonObject, ToolDefinition
from naru.records import ServerRecord, TransportType
from naru.tasks import Tasks
from tests.connections.conftest import QUICK, managed
from tests.connections.in_memory import InMemoryServer, InMemoryTransport, reaching
from tests.counting import calls_made
from tests.waiting import until


def record(name: str = "s") -> ServerRecord:
    return ServerRecord(name=name, transport_type=TransportType.STDIO, config={"command": name})


@pytest.mark.parametrize("word", ["stopping", "removed", "status", "servers", ""])
async def test_a_server_says_that_its_lists_changed_and_nothing_else_of_the_hub(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`stopping` ended what the console holds open, `removed` made faces forget the server."""
    server = InMemoryServer()
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed(replace(QUICK, refresh_interval_seconds=0)) as manager:
        await manager.register(record())
        assert await manager.connect("s")
        told: list[str] = []
        manager.subscribe(lambda change: told.append(change.what))
        server.links[0].say({"jsonrpc": "2.0", "method": f"notifications/{word}/list_changed"})
        server.offer("another")
        await until(lambda: "tools" in told)
        assert told == ["tools"]


async def test_a_question_that_its_server_takes_back_is_asked_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    server = InMemoryServer()
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    asked, taken_back, heard = asyncio.Event(), asyncio.Event(), list[str]()

    async def ask(question: Any) -> JsonObject:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            taken_back.set()
        return {}

    hooks = Hooks(on_request=ask, on_notification=lambda server, method, params: heard.append(method))
    async with managed(hooks=hooks) as manager:
        await manager.register(record())
        assert await manager.connect("s")
        (link,) = server.links
        sent: list[bytes] = []

        async def send(body: bytes, *, version: str = "") -> None:
            sent.append(body)

        monkeypatch.setattr(link, "send", send)
        link.say({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": {}})
        await asyncio.wait_for(asked.wait(), 30)
        for unknown in ("other", 1, None, ["q1"]):
            link.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": unknown}})
        link.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q1"}})
        await asyncio.wait_for(taken_back.wait(), 30)
        await until(lambda: len(manager.connection("s")._supervisor.session._tasks) == 0)  # type: ignore[union-attr]
        assert sent == [], "what was taken back is not answered"
        assert heard == [], "its ids are the server's own: a client would take them for ours"


async def test_a_server_whose_empty_results_are_null_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """A nil pointer of Go's is written as null."""

    class Nulls(InMemoryServer):
        pings = 0

        def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
            if method == "ping":
                self.pings += 1
                return {"result": None}
            return super().answer(method, params)

    server = Nulls()
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed(replace(QUICK, ping_interval_seconds=0.01)) as manager:
        await manager.register(record())
        assert await manager.connect("s")
        await until(lambda: server.pings > 4)
        assert (server.opened, manager.connection("s").counters.malformed) == (1, 0)


class Pages:
    """A session whose list has so many pages of ten prompts each, which it counts."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.capabilities: JsonObject = {"prompts": {}}

    async def request(self, method: str, params: JsonObject | None, options: RequestOptions) -> JsonObject:
        page = 0 if params is None else params["cursor"]
        prompts = [{"name": f"{page}-{number}", "title": 1} for number in range(10)]
        return {"prompts": prompts, "nextCursor": page + 1} if page + 1 < self.count else {"prompts": prompts}


def read_pages(count: int) -> Listing:
    return asyncio.run(read_list(Pages(count), "prompts", ConnectionSettings()))  # type: ignore[arg-type]


def test_a_list_whose_pages_are_counted_is_read_to_its_end() -> None:
    listing = read_pages(20)
    assert (len(listing.items), listing.warning) == (200, "")
    assert listing.items[-1] == {"name": "19-9"}


@pytest.mark.parametrize("kind", ["tools", "prompts"])
def test_a_list_is_cut_also_where_one_page_holds_all_of_it(kind: str) -> None:
    """R-20"""

    class Heap(Pages):
        async def request(self, method: str, params: JsonObject | None = None, options: object = None) -> JsonObject:
            return {kind: [{"name": str(number)} for number in range(12_000)]}

    heap = Heap(1)
    heap.capabilities = {kind: {}}
    listing = asyncio.run(read_list(heap, kind, ConnectionSettings()))  # type: ignore[arg-type]
    assert len(listing.items) == 10_000
    assert "cut at 10000 items" in listing.warning


def test_a_tool_whose_header_annotation_is_of_several_types_costs_no_other() -> None:
    odd: JsonObject = {"properties": {"a": {"type": ["string", "null"], "x-mcp-header": "A"}}}
    listing = Listing([{"name": "odd", "inputSchema": odd}, {"name": "good"}])
    read = read_tools(listing, "s", "modern")
    assert [tool.name for tool in read.definitions] == ["good"]
    assert "needs type string, integer or boolean" in read.warnings[0]


def test_the_pages_of_a_list_cost_their_own_items_alone() -> None:
    counts = [calls_made(lambda pages=pages: read_pages(pages)) for pages in (5, 10, 80)]
    assert counts[2] - counts[1] < 16 * (counts[1] - counts[0])


class Subscribed:
    """A stateless session that counts its subscriptions."""

    server = "s"
    failure = None
    capabilities: JsonObject = {"tools": {"listChanged": True}}  # noqa: RUF012

    def __init__(self) -> None:
        self.tasks = Tasks()
        self.own = self.tasks.begin
        self.open = self.most = 0
        self.asked: list[JsonObject] = []
        self.ends: asyncio.Future[JsonObject] | None = None
        self.changed: list[str] = []

    def lost(self, failure: Failure) -> None: ...

    def list_changed(self, kind: str) -> None:
        self.changed.append(kind)

    async def request_endless(self, method: str, notifications: JsonObject) -> JsonObject:
        self.asked.append(notifications)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            if len(self.asked) == 1:
                raise LinkError(Failure("stream", "cut", "it broke."))
            self.ends = asyncio.get_running_loop().create_future()
            return await self.ends
        finally:
            self.open -= 1


async def test_resources_that_are_asked_for_while_a_subscription_rests_make_no_second_one() -> None:
    session = Subscribed()
    changes = ChangeListener(session)
    changes.restart()
    await until(lambda: len(session.asked) == 1)
    changes.watch(frozenset({"file:///a"}))
    await until(lambda: session.open)
    changes.watch(frozenset({"file:///b"}))
    await until(lambda: session.asked[-1].get("resourceSubscriptions") == ["file:///b"])
    await asyncio.sleep(0.3)  # longer than the first rest: a second one would be there by now
    assert (session.most, len(session.tasks)) == (1, 1)
    await session.tasks.end()


async def test_lists_are_read_again_once_a_subscription_stands_again_and_not_before() -> None:
    """H5: what changes in between is in no list that was read before, and nobody tells it."""
    session = Subscribed()
    changes = ChangeListener(session)
    changes.restart()  # the first breaks
    await until(lambda: session.open and len(session.asked) == 2)
    assert session.changed == []
    changes.acknowledged()
    assert session.changed == ["tools"]
    changes.watch(frozenset({"file:///a"}))
    await until(lambda: len(session.asked) == 3)
    changes.acknowledged()
    assert session.changed == ["tools"], "nothing was lost that is worth a list"
    await session.tasks.end()


async def test_a_change_that_is_told_while_a_link_is_still_being_made_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """H5: what the first list holds is written down before the link counts as open, which may take a while."""
    server = InMemoryServer("a")

    class Slow(PolicyGuard):
        async def note(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> None:
            if len(tools) == 1:
                server.offer("a", "b")
            await super().note(record, tools)

    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed(replace(QUICK, refresh_interval_seconds=0), guard=Slow(Policy())) as manager:
        await manager.register(record())
        assert await manager.connect("s")
        await until(lambda: [tool.name for tool in manager.tools("s")] == ["a", "b"])


async def test_a_subscription_that_ends_in_the_moment_of_another_wish_can_still_be_closed() -> None:
    session = Subscribed()
    session.asked.append({})  # the first does not break
    changes = ChangeListener(session)
    changes.restart()
    await until(lambda: session.ends)
    assert session.ends is not None
    session.ends.set_result({})
    await asyncio.sleep(0)  # its answer has come, and its keeper has not seen it yet
    changes.watch(frozenset({"file:///a"}))
    await until(lambda: session.asked[-1].get("resourceSubscriptions") == ["file:///a"])
    async with asyncio.timeout(30):
        await session.tasks.end()
    assert not len(session.tasks)


async def test_a_subscription_that_a_program_ends_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """On stdio a stateless server ends one by `notifications/cancelled` (2026-07-28, subscriptions)."""

    class Modern(InMemoryServer):
        def __init__(self) -> None:
            super().__init__()
            self.listens: list[Any] = []
            self.link = lambda: Listened(self)  # type: ignore[method-assign]

        def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
            if method == "server/discover":
                lists = {"tools": {"listChanged": True}}
                return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": lists}}
            return super().answer(method, params)

    class Listened(InMemoryTransport):
        def _arrive(self, request_id: int, method: str, params: dict[str, Any]) -> None:
            if method == "subscriptions/listen":
                server.listens.append(request_id)
                self.say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"})
            else:
                super()._arrive(request_id, method, params)

    server = Modern()
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed() as manager:
        await manager.register(record())
        assert await manager.connect("s")
        await until(lambda: server.listens)
        server.tools = ["another"]
        ended = {"requestId": server.listens[0]}
        server.links[0].say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": ended})
        await until(lambda: len(server.listens) == 2)
        await until(lambda: [tool.name for tool in manager.tools("s")] == ["another"])
        assert server.opened == 1


async def test_a_slow_program_that_the_first_question_ended_is_greeted_in_the_older_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may have ended before the handshake that follows a question unanswered for long."""

    class Ended(InMemoryTransport):
        def _arrive(self, request_id: int, method: str, params: dict[str, Any]) -> None:
            if method != "server/discover":
                super()._arrive(request_id, method, params)

        def abandon(self, call: Outgoing, reason: str) -> None:
            self._failure = Failure("stream", "exited", "the process exited with code 1.")

    server = InMemoryServer()
    server.link = lambda: Ended(server)  # type: ignore[method-assign]
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed(replace(QUICK, probe_timeout_seconds=0.05)) as manager:
        await manager.register(record())
        assert await manager.connect("s")
        assert server.opened == 2


async def test_what_a_server_newly_offers_is_pinned_without_holding_up_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-50: another process may hold the file of pins for as long as a minute."""
    server, pins = InMemoryServer("a"), PinBook(tmp_path / "pins.json")
    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    guard = PolicyGuard(Policy(), pins)
    async with managed(replace(QUICK, refresh_interval_seconds=0), guard=guard) as manager:
        await manager.register(record())
        assert await manager.connect("s")
        other = os.open(tmp_path / ".pins.json.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(other, fcntl.LOCK_EX)
        assert [tool.name for tool in manager.tools("s")] == ["a"], "it was written down when it was listed"
        server.offer("a", "b")
        await asyncio.sleep(0.1)
        assert [tool.name for tool in manager.tools("s")] == ["a"]
        os.close(other)
        await until(lambda: [tool.name for tool in manager.tools("s")] == ["a", "b"])
        kept = PinBook(tmp_path / "pins.json")
        kept.load()
        assert set(kept.pins("s")) == {"a", "b"}
