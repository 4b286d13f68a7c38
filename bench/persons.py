"""Mixed requests of twenty persons at two hubs of one database: how many answers hold anything of somebody else's.

`python -m bench.persons --requests 1000000`. Three kinds of servers: tokens of the official SDK's authorization server
(renewed by either hub meanwhile), programs with a stored secret, headers passed on. Every face is asked: MCP stateless
and with sessions (one's own, through the other hub, somebody else's), chat, responses, tools, runs, approvals, secrets,
sign-ins that begin at one hub and end at the other. A hub is ended and started again ten times in a run. Whatever
belongs to a person holds that person's mark, and every byte of every answer is searched for the marks of others.

The hubs are in this process and are asked as the server asks an application, without a socket for each request: what is
measured is whose the answers are.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import random
import re
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.replicas.inside import hub_at
from tests.team.authority import Provider, say_yes
from tests.team.conftest import MODERN, Team, declared
from tests.team.test_own_credentials import SIGN_IN
from tests.team.test_sign_in import BACK, upstream
from tests.web.conftest import served

from naru.connections import personal
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries

PERSONS = 20
AT_ONCE = 16
RESTARTS = 10
TOKEN_SECONDS = 30
MARK = re.compile(rb"zq(\d\d)z")
ACCEPT = (b"accept", b"application/json, text/event-stream")
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "persons", "version": "1"},
}
HELLO = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "persons", "version": "1"}, "capabilities": {}}


@dataclass
class Answer:
    """What came."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


@dataclass
class Who:
    """A person: the mark in all that is theirs, and what they hold."""

    number: int
    key: str = ""
    token: str = ""
    sessions: dict[int, bytes] = field(default_factory=dict)
    """Hub → the session that was opened there."""
    responses: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    is_moving: bool = False
    """Signs out and in, or stores a secret, just now: calls may be refused."""
    moves: int = 0
    """How often that was begun: a call under way then may still go without what is the person's own."""

    @property
    def mark(self) -> str:
        return f"zq{self.number:02}z"


class Place:
    """One of the hubs, which is ended and started again; others reach it at one address all the time."""

    def __init__(self, folder: Path, store: str, servers: list[Any]) -> None:
        self._folder, self._store, self._servers = folder, store, servers
        self._stack = AsyncExitStack()
        self.url = ""
        self.team: Team | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert self.team is not None
        await self.team.app.asgi(scope, receive, send)

    async def start(self) -> None:
        opened = hub_at(self._folder, self._store, self._servers, address=self.url, answer=said_again)
        self.team = await self._stack.enter_async_context(opened)

    async def end(self) -> None:
        await self._stack.aclose()


class Unkept(list[Any]):
    """Keeps nothing of a million requests."""

    def append(self, held: Any) -> None:
        """Forget it."""


def said_again(request: Any) -> str:
    """Answer a question with itself."""
    return f"You said: {request.messages[-1].content}"


class Load:
    """The requests."""

    def __init__(self, places: list[Place], provider: Provider, persons: list[Who], seed: int) -> None:
        self.places, self.provider, self.persons = places, provider, persons
        self.counts: Counter[str] = Counter()
        self.foreign: list[str] = []
        self.lacking: list[str] = []
        """Answers without what is the person's own."""
        self.chance = random.Random(seed)
        self.left = 0
        self._saying_yes = asyncio.Lock()
        kinds: list[tuple[int, Callable[[Who, int], Awaitable[None]]]] = [
            (200, self.lists),
            (90, self.calls("up__whoami")),
            (60, self.calls("on__whoami")),
            (130, self.calls("mine__read")),
            (170, self.calls_in_session),
            (10, self.calls_through_the_other),
            (60, self.takes_anothers_session),
            (40, self.asks("/api/tools")),
            (60, self.asks(SIGN_IN)),
            (40, self.asks("/api/mcp/servers/mine/secrets")),
            (20, self.asks("/api/runs")),
            (20, self.asks("/api/approvals")),
            (40, self.asks("/api/mcp/servers")),
            (40, self.reads_a_response),
            (40, self.reads_anothers_response),
            (4, self.chats),
            (4, self.responds),
            (1, self.moves),
            (1, self.stores_again),
        ]
        self._kinds = [work for _, work in kinds]
        self._weights = [weight for weight, _ in kinds]

    async def run(self, requests: int) -> None:
        """Make so many, and answers for all of them."""
        self.left = requests
        await asyncio.gather(*(self._worker() for _ in range(AT_ONCE)))

    async def _worker(self) -> None:
        while self.left > 0:
            chosen = self.chance.choices(self._kinds, self._weights, k=32)
            for work in chosen:
                if self.left > 0:
                    await work(self.chance.choice(self.persons), self.chance.randrange(len(self.places)))

    async def ask(
        self, who: Who, hub: int, method: str, path: str, body: Any = None, headers: tuple[Any, ...] = ()
    ) -> Answer:
        """Make one request and search its answer."""
        self.left -= 1
        answer = await ask(self.places[hub], who, method, path, body, headers)
        marks = set(MARK.findall(answer.body))
        mine = b"%02d" % who.number
        if marks - {mine}:
            self.counts["foreign"] += 1
            self.foreign.append(f"{who.mark} at {hub}: {method} {path} {body} → {answer.status} {answer.body[:400]!r}")
        elif marks:
            self.counts["own"] += 1
        else:
            self.counts["of nobody" if answer.status < 400 else "refused"] += 1
        return answer

    async def mcp(self, who: Who, hub: int, method: str, params: dict[str, Any]) -> Answer:
        named = ((b"mcp-name", str(params["name"]).encode()),) if "name" in params else ()
        headers = (ACCEPT, (b"mcp-protocol-version", MODERN.encode()), (b"mcp-method", method.encode()), *named)
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        return await self.ask(who, hub, "POST", "/mcp", body, headers)

    async def called(self, who: Who, hub: int, tool: str) -> Answer:
        return await self.mcp(who, hub, "tools/call", {"name": tool, "arguments": {}})

    async def lists(self, who: Who, hub: int) -> None:
        await self.mcp(who, hub, "tools/list", {})

    def calls(self, tool: str) -> Callable[[Who, int], Awaitable[None]]:
        async def call(who: Who, hub: int) -> None:
            moves = who.moves
            answer = await self.called(who, hub, tool)
            if who.mark.encode() not in answer.body and moves == who.moves and not who.is_moving:
                self.lacking.append(f"{who.mark} at {hub}: {tool} → {answer.status} {answer.body[:400]!r}")

        return call

    def asks(self, path: str) -> Callable[[Who, int], Awaitable[None]]:
        async def get(who: Who, hub: int) -> None:
            await self.ask(who, hub, "GET", path)

        return get

    async def in_session(self, who: Who, hub: int, session: bytes) -> Answer:
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "mine__read", "arguments": {}}}
        return await self.ask(who, hub, "POST", "/mcp", body, (ACCEPT, (b"mcp-session-id", session)))

    async def opened(self, who: Who, hub: int) -> bytes:
        """Return a person's session at a hub, opened where there is none."""
        if hub not in who.sessions:
            body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
            answer = await self.ask(who, hub, "POST", "/mcp", body, (ACCEPT,))
            session = who.sessions[hub] = answer.headers[b"mcp-session-id"]
            done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self.ask(who, hub, "POST", "/mcp", done, (ACCEPT, (b"mcp-session-id", session)))
        return who.sessions[hub]

    async def calls_in_session(self, who: Who, hub: int) -> None:
        answer = await self.in_session(who, hub, await self.opened(who, hub))
        if answer.status == 404:  # the hub was started again
            who.sessions.pop(hub, None)

    async def calls_through_the_other(self, who: Who, hub: int) -> None:
        held = who.sessions.get(1 - hub)
        if held is not None and (await self.in_session(who, hub, held)).status == 404:
            who.sessions.pop(1 - hub, None)

    async def takes_anothers_session(self, who: Who, hub: int) -> None:
        other = self.chance.choice(self.persons)
        if other is not who and hub in other.sessions:
            answer = await self.in_session(who, hub, other.sessions[hub])
            self.counts["sessions of others taken"] += answer.status == 200

    async def chats(self, who: Who, hub: int) -> None:
        said = {"role": "user", "content": f"{who.mark} asks this."}
        await self.ask(who, hub, "POST", "/v1/chat/completions", {"model": "alpha+tools", "messages": [said]})

    async def responds(self, who: Who, hub: int) -> None:
        asked = {"model": "alpha", "input": f"{who.mark} wants to know."}
        answer = await self.ask(who, hub, "POST", "/v1/responses", asked)
        if answer.status == 200:
            who.responses.append(json.loads(answer.body)["id"])

    async def reads_a_response(self, who: Who, hub: int) -> None:
        if who.responses:
            await self.ask(who, hub, "GET", f"/v1/responses/{self.chance.choice(who.responses)}")

    async def reads_anothers_response(self, who: Who, hub: int) -> None:
        other = self.chance.choice(self.persons)
        if other is not who and other.responses:
            await self.ask(who, hub, "GET", f"/v1/responses/{self.chance.choice(other.responses)}")

    async def moves(self, who: Who, hub: int) -> None:
        """Sign out at one hub and in again: begun at this one, ended at the other."""
        if who.is_moving:
            return
        async with self.moving(who, "up__whoami"):
            await self.ask(who, 1 - hub, "DELETE", SIGN_IN)
            await self.sign_in(who, hub)

    async def sign_in(self, who: Who, hub: int) -> None:
        begun = await self.ask(who, hub, "POST", SIGN_IN, {"redirectUri": BACK})
        async with self._saying_yes:
            self.provider.subject = who.mark
            came = await say_yes(json.loads(begun.body)["url"])
        await self.ask(who, 1 - hub, "POST", f"{SIGN_IN}/answer", came)

    @asynccontextmanager
    async def moving(self, who: Who, tool: str) -> AsyncIterator[None]:
        """Change what a person's calls of a tool go with; it has changed when both hubs answer with the person's own.

        Raises:
            TimeoutError: A hub does not within a minute.
        """
        who.is_moving = True
        who.moves += 1
        yield
        async with asyncio.timeout(60):
            for hub in range(len(self.places)):
                while who.mark.encode() not in (await self.called(who, hub, tool)).body:
                    await asyncio.sleep(0.05)
        who.is_moving = False

    async def stores_again(self, who: Who, hub: int) -> None:
        if who.is_moving:
            return
        async with self.moving(who, "mine__read"):
            await self.ask(who, hub, "PUT", "/api/mcp/servers/mine/secrets/NOTED", {"value": who.mark})


async def ask(
    place: Place, who: Who, method: str, path: str, body: Any = None, headers: tuple[Any, ...] = ()
) -> Answer:
    """Make one request of an application, as a server does."""
    raw = b"" if body is None else json.dumps(body).encode()
    given = [
        (b"host", b"127.0.0.1:20006"),
        (b"authorization", b"Bearer " + who.key.encode()),
        (b"x-token", b"Bearer " + who.token.encode()),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(raw)).encode()),
        *headers,
    ]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": given,
        "server": ("127.0.0.1", 20006),
        "client": ("127.0.0.1", 1000 + who.number),
        "state": {},
    }
    asked = iter([{"type": "http.request", "body": raw, "more_body": False}])
    over = asyncio.Event()
    answer = Answer(0, {}, b"")
    parts: list[bytes] = []

    async def receive() -> dict[str, Any]:
        for message in asked:
            return message
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], dict(message["headers"])
        elif message["type"] == "http.response.body":
            parts.append(bytes(message.get("body", b"")))

    await place(scope, receive, send)
    over.set()
    answer.body = b"".join(parts)
    return answer


@asynccontextmanager
async def everything(folder: Path, store: str, seed: int) -> AsyncIterator[Load]:
    """Run two hubs, the upstream servers and the persons, each signed in and with a secret stored."""
    async with AsyncExitStack() as stack:
        provider, signed = await stack.enter_async_context(upstream())
        others, passed = await stack.enter_async_context(upstream())
        signed.headers, passed.headers = Unkept(), Unkept()
        forwards = {"credentials": "forward", "forwardHeaders": {"X-Token": "Authorization"}}
        servers = [
            {"name": "up", "url": signed.url, "transport": "http", "credentials": "per-user"},
            {"name": "on", "url": passed.url, "transport": "http", **forwards},
            declared("mine", credentials="per-user", env={"NOTED": "${input:NOTED}"}),
        ]
        places = [Place(folder / name, store, servers) for name in ("one", "two")]
        for place in places:
            place.url = await stack.enter_async_context(served(place))
            await place.start()
            stack.push_async_callback(place.end)
        persons = [Who(number) for number in range(PERSONS)]
        load = Load(places, provider, persons, seed)
        provider.life = TOKEN_SECONDS
        for who in persons:
            assert places[0].team is not None
            who.key = places[0].team.key()
            who.token = others._give("c", ["read"], passed.url, who.mark).access_token
            await load.stores_again(who, 0)
        for who in persons:
            async with load.moving(who, "up__whoami"):
                await load.sign_in(who, 0)
        load.counts.clear()
        yield load


async def measure(requests: int, seed: int) -> int:
    """Make the requests and print what came of them. Returns 1 when an answer was somebody else's."""
    took = 0.0
    with EmbeddedPostgres(bin_dir=find_binaries()) as database, tempfile.TemporaryDirectory() as folder:
        async with everything(Path(folder), database.dsn, seed) as load:
            gc.freeze()
            for part in range(RESTARTS + 1):
                began = time.monotonic()
                await load.run(requests // (RESTARTS + 1) + (part < requests % (RESTARTS + 1)))
                took += time.monotonic() - began
                if part < RESTARTS:
                    await load.places[part % 2].end()
                    await load.places[part % 2].start()
                said = ", ".join(f"{what} {count:,}" for what, count in sorted(load.counts.items()))
                print(f"{time.process_time():6.0f} s of CPU, renewed {load.provider.refreshed}: {said}", flush=True)
    foreign = load.counts["foreign"] + load.counts["sessions of others taken"]
    print(
        f"{requests:,} requests of {PERSONS} persons at 2 hubs, {RESTARTS} restarts, {requests / took:.0f} a second: "
        f"{foreign} foreign answers, {len(load.lacking)} calls without their own"
    )
    for line in (*load.foreign[:5], *load.lacking[:5]):
        print(line)
    return 1 if foreign or load.lacking else 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    assert personal.MOST_PROCESSES >= PERSONS
    logging.disable(logging.WARNING)  # sign-outs are told of, one by one
    return asyncio.run(measure(options.requests, options.seed))


if __name__ == "__main__":
    sys.exit(main())
