"""Nothing on the call path opens files, sleeps, starts programs or looks up names on the event loop (R-38).

The interpreter's own audit events tell; what runs in a thread may block. How late the loop wakes up under load is a
figure of `bench/gateway.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from naru.config import ServerSettings
from naru.gateway.upstreams.upstream import Change
from naru.stores.secrets.keys import KeyFile
from naru.web.gate.access import KeyRing
from tests.gateway.by_hand import gateway, request
from tests.gateway.peers import asked, peers
from tests.gateway.scripted import ScriptedUpstream

BLOCKING = frozenset(
    {
        "open",
        "time.sleep",
        "subprocess.Popen",
        "os.system",
        "os.listdir",
        "os.scandir",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "sqlite3.connect",
        "fcntl.flock",
        "import",
    }
)
SOURCE = str(Path(sys.modules["naru"].__file__ or "").parent)


class Watch:
    """Notes blocking calls of ours while it is on; an audit hook cannot be taken off again, so it is put on late."""

    def __init__(self) -> None:
        self.is_on = False
        self.is_hooked = False
        self.seen: list[str] = []

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.is_on or event not in BLOCKING or asyncio._get_running_loop() is None:
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(SOURCE):
                self.seen.append(f"{event} {str(arguments[:1])[:80]} in {frame.f_code.co_filename}:{frame.f_lineno}")
                return
            frame = frame.f_back

    @contextlib.contextmanager
    def watching(self) -> Iterator[list[str]]:
        if not self.is_hooked:
            self.is_hooked = True
            sys.addaudithook(self._hear)
        self.seen, self.is_on = [], True
        try:
            yield self.seen
        finally:
            self.is_on = False


WATCH = Watch()


async def test_the_watch_sees_what_blocks(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    with WATCH.watching() as seen:
        keys.create("user")
        assert any(line.startswith("open") for line in seen)
        seen.clear()
        await asyncio.to_thread(keys.create, "user")
        assert seen == [], "in a thread it may"


@pytest.mark.slow
async def test_nothing_blocks_the_loop_on_any_face() -> None:
    resources = {"resources": [{"uri": "file:///x", "name": "x"}], "prompts": [{"name": "p"}]}
    async with peers(ScriptedUpstream("a", items=resources)) as every:

        async def walk() -> None:
            for client in every:
                for method, params in (
                    ("tools/list", {}),
                    ("tools/call", {"name": "a__echo", "arguments": {"text": "x"}}),
                    ("resources/read", {"uri": "file:///x"}),
                    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "a__p"}, "argument": {}}),
                    ("no/such", {}),
                ):
                    await client.ask(asked(client, method, params))
            every[0].gateway.upstreams.tell(Change("a", "tools"))

        await walk()
        with WATCH.watching() as seen:
            await walk()
            await walk()
        assert seen == []


async def test_nothing_blocks_the_loop_when_keys_are_checked(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    _, secret = keys.create("user")
    settings = ServerSettings(port=0, auth="on")
    async with gateway(server=settings, keys=KeyRing(keys)) as client:
        good, bad = {"authorization": f"Bearer {secret}"}, {"authorization": "Bearer naru_wrong"}
        assert (await client.post(request("initialize", {}), **good))[0] == 200
        with WATCH.watching() as seen:
            for _ in range(3):
                assert (await client.post(request("initialize", {}), **good))[0] == 200
                assert (await client.post(request("initialize", {}), **bad))[0] == 401
        assert seen == []
