"""State across an await: whatever order tasks run in, a connected server is listed and callable (issue 23, line 2).

Scripts of several people run side by side on `tests/interleaving`'s loop, against the real manager, gateway and toolset
over in-memory servers. What each is told is compared with what was promised at the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import pytest

from naru.connections.link import private_links
from naru.connections.manager import Manager
from naru.connections.session import opening
from naru.connections.state.settings import ConnectionSettings
from naru.errors import ConflictError, NaruError, NotFoundError, ToolError, UnknownToolError
from naru.gateway.catalog import Catalog, CatalogSettings
from naru.gateway.engine import Engine
from naru.gateway.sessions.exchange import Exchange
from naru.gateway.sessions.parked import ParkedCall, Parking
from naru.gateway.sessions.subscriptions import Subscriptions
from naru.gateway.upstreams.servers import ServerUpstreams
from naru.gateway.upstreams.upstream import Change, ListKind
from naru.gateway.wire.protocol import RpcError
from naru.messages import JsonObject
from naru.records import ServerRecord, ServerStatus, TransportType
from naru.stores.memory import MemoryStore
from naru.tools.combined import CombinedToolset
from naru.tools.toolset import CallContext
from tests.connections.in_memory import InMemoryServer, reaching
from tests.gateway.scripted import ScriptedUpstream, ScriptedUpstreams
from tests.interleaving import every, seeded

Step = tuple[str, str]
"""What somebody does, and to which server."""


class World:
    """A hub over in-memory servers, and what it has promised of each."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.servers = {name: InMemoryServer("echo", prompts=["greet"]) for name in names}
        self.manager = Manager(MemoryStore(), settings=ConnectionSettings(refresh_interval_seconds=0.0))
        self.engine = Engine(ServerUpstreams(self.manager))
        self.session = self.engine.open_session("ann", "")
        self.toolset = CombinedToolset(self.manager.toolsets)
        self.promised: dict[str, int] = {}
        """Server → the number of the promise that it is connected; missing while there is none."""
        self.kept: set[str] = set()
        """Servers that were connected and not taken away since: a kill may fail a call, not hide a tool."""
        self._promises = 0
        self._requests = 0

    def record(self, name: str, **config: Any) -> ServerRecord:
        return ServerRecord(
            id=name,
            name=name,
            transport_type=TransportType.STDIO,
            auto_connect=False,
            config={"command": name, **config},
        )

    async def do(self, what: str, name: str) -> None:
        try:
            await getattr(self, f"_{what}")(name)
        except (NotFoundError, ConflictError):
            assert what not in ("list", "call", "tool", "prompts")  # somebody has just removed or registered it

    # What somebody does

    async def _register(self, name: str) -> None:
        await self.manager.register(self.record(name))

    async def _unregister(self, name: str) -> None:
        self._taken(name)
        await self.manager.unregister(name)
        assert name not in [each.name for each in await self.manager.list_servers()]

    async def _update(self, name: str) -> None:
        self._taken(name)
        self._promises += 1
        await self.manager.update(self.record(name, cwd=f"/{self._promises}"))

    async def _connect(self, name: str) -> None:
        if await self.manager.connect(name):
            self._promises += 1
            self.promised[name] = self._promises
            self.kept.add(name)

    async def _disconnect(self, name: str) -> None:
        self._taken(name)
        await self.manager.disconnect(name)

    async def _refresh(self, name: str) -> None:
        check = self._checked(name)
        try:
            await self.manager.connection(name).refresh()
        except NaruError as error:
            check(False, "", error)

    async def _kill(self, name: str) -> None:
        self.promised.pop(name, None)
        self.servers[name].kill()
        await asyncio.sleep(0)

    async def _change(self, name: str) -> None:
        self.servers[name].offer("echo", f"more{len(self.servers[name].tools)}")
        await asyncio.sleep(0)

    async def _list(self, name: str) -> None:
        check = self._checked(name)
        answer = await self._ask("tools/list")
        check(f"{name}__echo" in [tool["name"] for tool in answer["result"]["tools"]], "", answer)

    async def _call(self, name: str) -> None:
        check = self._checked(name)
        answer = await self._ask("tools/call", {"name": f"{name}__echo", "arguments": {}})
        check("result" in answer, str(answer.get("error")), answer)

    async def _prompts(self, name: str) -> None:
        check = self._checked(name)
        answer = await self._ask("prompts/list")
        check(f"{name}__greet" in [prompt["name"] for prompt in answer["result"]["prompts"]], "", answer)

    async def _tool(self, name: str) -> None:
        """Call it as the hub's own loop does, by the toolset."""
        check = self._checked(name)
        try:
            await self.toolset.call(f"{name}__echo", {}, CallContext())
        except UnknownToolError as error:
            check(False, f"Unknown tool: {error}", error)
        except NaruError as error:
            check(False, "", error)
        else:
            check(True, "", None)

    # What is promised

    def _taken(self, name: str) -> None:
        self.promised.pop(name, None)
        self.kept.discard(name)

    def _checked(self, name: str) -> Callable[[bool, str, object], None]:
        """Note what is promised as a request begins; return what judges its answer."""
        promise, was_kept = self.promised.get(name), name in self.kept

        def check(is_there: bool, said: str, answer: object) -> None:
            if promise is not None and self.promised.get(name) == promise:
                assert is_there, f"{name} was called CONNECTED before: {answer}"
            if was_kept and name in self.kept:
                assert "Unknown tool" not in said, f"{name} was only killed: {answer}"

        return check

    async def _ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self._requests += 1
        message = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params or {}}
        return json.loads(await self.engine.answer_legacy(message, self.session, lambda frame: None))

    async def check_rest(self) -> None:
        """After everything: what is wanted is there, what is offered is what the servers have, nothing is left."""
        await asyncio.sleep(120.0)  # of the loop's own clock: retries and refreshes had their time
        offered = [tool["name"] for tool in (await self._ask("tools/list"))["result"]["tools"]]
        expected = []
        for name, connection in self.manager.connections.items():
            if name in self.kept:
                assert connection.status is ServerStatus.CONNECTED, connection.life.last_failure
            if connection.status is ServerStatus.CONNECTED:
                expected += [f"{name}__{tool}" for tool in self.servers[name].tools]
                await self.do("call", name)
        assert sorted(offered) == sorted(expected)
        live = {name for name, connection in self.manager.connections.items() if connection.is_live}
        assert {name: len(server.links) for name, server in self.servers.items()} == {
            name: int(name in live) for name in self.servers
        }

    async def close(self) -> None:
        await self.engine.close()
        await self.manager.close()
        assert not any(server.links for server in self.servers.values())
        assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable[[], Coroutine[Any, Any, None]]]:
    """Make the work of one run: what is done first, then several scripts side by side."""

    def make(first: list[Step], *scripts: list[Step]) -> Callable[[], Coroutine[Any, Any, None]]:
        names = tuple(sorted({name for script in (first, *scripts) for _, name in script}))

        async def run() -> None:
            world = World(names)
            monkeypatch.setattr(opening, "candidates", reaching(world.servers))
            for what, name in first:
                await world.do(what, name)

            async def play(script: list[Step]) -> None:
                for what, name in script:
                    await world.do(what, name)

            await _all(*(play(script) for script in scripts))
            await world.check_rest()
            await world.close()

        return run

    return make


async def _all(*works: Awaitable[None]) -> None:
    async with asyncio.TaskGroup() as group:
        for each in works:
            group.create_task(each)  # type: ignore[arg-type]


READY: list[Step] = [("register", "a"), ("connect", "a")]
SMALL: dict[str, tuple[list[Step], ...]] = {
    "a call while it connects": ([("connect", "a"), ("call", "a")], [("call", "a"), ("list", "a")]),
    "a kill beside lists and calls": ([("kill", "a"), ("connect", "a"), ("call", "a")], [("list", "a"), ("call", "a")]),
    "a disconnect beside a connect": ([("disconnect", "a")], [("connect", "a"), ("call", "a"), ("list", "a")]),
    "back at once": ([("disconnect", "a"), ("connect", "a"), ("call", "a")], [("call", "a"), ("prompts", "a")]),
    "a change beside a kill": ([("change", "a"), ("kill", "a")], [("refresh", "a"), ("list", "a")]),
    "two refreshes and a change": ([("refresh", "a")], [("change", "a"), ("refresh", "a")]),
    "an update beside calls": ([("update", "a"), ("connect", "a"), ("call", "a")], [("call", "a"), ("prompts", "a")]),
    "removed and registered again": (
        [("unregister", "a"), ("register", "a"), ("connect", "a"), ("call", "a")],
        [("list", "a")],
    ),
    "the loop's own toolset": ([("kill", "a"), ("connect", "a"), ("tool", "a")], [("tool", "a")]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_connected_server_is_callable_in_every_order_of_a_small_case(work, name):
    """Every order in which callbacks are let wait up to twice."""
    assert every(work(READY, *SMALL[name]), delays=2, most=100_000) > 1_000


def everything(count: int) -> tuple[list[Step], ...]:
    """Twelve kinds of steps over several servers, as a busy day would have them."""
    names = [chr(ord("a") + number) for number in range(count)]
    return (
        *([("disconnect", name), ("connect", name), ("call", name), ("list", name)] for name in names[::2]),
        *([("kill", name), ("connect", name), ("call", name), ("prompts", name)] for name in names[1::2]),
        [(what, name) for name in names for what in ("list", "call", "tool")],
        [("change", names[0]), ("refresh", names[0]), ("kill", names[0]), ("list", names[-1]), ("call", names[-1])],
        [("unregister", names[-1]), ("register", names[-1]), ("connect", names[-1]), ("call", names[-1])],
    )


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(100), range(100, 200)], ids=["first", "second"])
def test_a_connected_server_is_callable_in_orders_drawn_at_random(work, seeds):
    """Several servers, all kinds of steps at once."""
    first = [step for name in "abc" for step in (("register", name), ("connect", name))]
    assert seeded(work(first, *everything(3)), seeds) == len(seeds)


class Subscribed(ScriptedUpstream):
    """A server whose updates are wanted or not; taking that in is a turn of the loop, and sometimes fails."""

    wanted = False
    refusals = 0

    async def subscribe(self, uri: str) -> None:
        await asyncio.sleep(0)
        if self.refusals:
            self.refusals -= 1
            raise RpcError(-32000, "Not now.")
        self.wanted = True

    async def unsubscribe(self, uri: str) -> None:
        await asyncio.sleep(0)
        self.wanted = False


@pytest.mark.parametrize("refusals", [0, 1])
def test_a_resource_is_watched_as_long_as_somebody_wants_it_in_every_order(refusals):
    async def work() -> None:
        server = Subscribed("a")
        server.refusals = refusals
        subscriptions = Subscriptions(list)
        staying: list[str] = []

        async def stay(name: str) -> None:
            with contextlib.suppress(RpcError):
                await subscriptions.want(server, "uri")
                staying.append(name)

        async def leave() -> None:
            with contextlib.suppress(RpcError):
                await subscriptions.want(server, "uri")
                await subscriptions.drop(server, ("a", "", "uri"))

        await _all(leave(), stay("first"), stay("second"), leave())
        assert server.wanted is bool(staying)
        for _ in staying:
            await subscriptions.drop(server, ("a", "", "uri"))
        assert not server.wanted

    assert every(work, delays=3) > 20


@pytest.mark.slow
def test_a_server_has_no_more_links_of_callers_than_it_may_in_any_order(monkeypatch):
    monkeypatch.setattr(private_links, "MOST", 1)
    servers = {"a": InMemoryServer("echo")}
    monkeypatch.setattr(opening, "candidates", reaching(servers))

    async def work() -> None:
        servers["a"].links.clear()
        manager = Manager(MemoryStore())
        config = {"command": "a", "isolation": "caller"}
        await manager.register(ServerRecord(name="a", transport_type=TransportType.STDIO, config=config))
        await manager.connect("a")

        async def call(caller: str) -> None:
            with contextlib.suppress(ToolError):  # it is told that others are at work
                await manager.call_tool("a", "echo", {}, CallContext(caller=caller))
            assert len(servers["a"].links) <= 2, "the shared one and one of a caller"

        await _all(call("ann"), call("bob"), call("ann"))
        await _all(call("eve"), manager.disconnect("a"))
        await manager.close()
        assert not servers["a"].links

    assert every(work, delays=2) > 100


def test_a_list_that_does_not_come_holds_nobody_up_who_needs_another():
    """A call looks at tools alone; those who want the list wait for it once, not at every request."""

    async def work() -> None:
        clock = asyncio.get_running_loop()
        held = asyncio.Event()

        class Slow(ScriptedUpstream):
            async def list(self, kind: ListKind) -> Sequence[JsonObject]:
                if kind == "prompts":
                    await held.wait()
                return await super().list(kind)

        catalog = Catalog(ScriptedUpstreams(Slow("slow"), ScriptedUpstream("quick")), CatalogSettings())
        assert set((await catalog.view("", ("tools",))).tools) == {"slow__echo", "quick__echo"}
        assert clock.time() == 0
        for _ in range(3):
            assert not (await catalog.view("", ("prompts",), to_list=True)).prompts
        assert clock.time() == CatalogSettings().patience_seconds
        told: list[Change] = []
        catalog.on_late = told.append
        held.set()
        await asyncio.sleep(1)
        assert told == [Change("", "servers")]
        await catalog.close()

    every(work, delays=1)


async def test_an_answer_that_is_no_object_leaves_the_parked_call_to_the_next_try():
    exchange = Exchange("ann", "", "2026-07-28", {"elicitation": {}}, {}, lambda frame: None)
    parking, call = Parking(), ParkedCall(exchange)

    async def ask() -> dict[str, Any]:
        return dict(await call.ask("elicitation/create", {}))  # type: ignore[call-overload]

    parking.start(call, ask())
    assert await call.next() is None
    key = next(iter(call.questions))
    parked = parking.park(call)
    with pytest.raises(RpcError, match="must be an object"):
        parking.take(parked, exchange, {key: "yes"})
    assert parking.take(parked, exchange, {key: {"action": "accept"}}) is call
    assert await call.next() == {"action": "accept"}
    await parking.close()
