"""Tools that run as tasks alone (2025-11-25, tasks): called like any other, whoever calls."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from mcp import Client as SdkClient

from naru.connections.session import opening
from naru.connections.session.options import RequestOptions, ServerRequest
from naru.errors import ToolError, ToolTimeoutError
from naru.records import ServerRecord, TransportType
from tests.connections.conftest import http, managed
from tests.connections.fake_http import FakeHttpServer, events
from tests.connections.in_memory import InMemoryServer, InMemoryTransport, reaching
from tests.gateway.serving import http_record, serving
from tests.waiting import until

RELATED = {"io.modelcontextprotocol/related-task": {"taskId": "t1"}}


class TaskServer(FakeHttpServer):
    """Has one tool that is refused without `task`, and gives what came of it to who asks for that."""

    def __init__(self) -> None:
        super().__init__()
        self.behave = self._work
        self.outcome: dict[str, Any] | None = {"content": [{"type": "text", "text": "found"}], "_meta": RELATED}
        """None keeps whoever asks waiting."""

    def result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/list":
            execution = {"taskSupport": "required"}
            return {"tools": [{"name": "study", "inputSchema": {"type": "object"}, "execution": execution}]}
        return super().result(method, message)

    async def _work(self, request: web.Request, message: dict[str, Any]) -> web.Response | None:
        params, answer = message.get("params") or {}, {"jsonrpc": "2.0", "id": message.get("id")}
        match message.get("method"):
            case "tools/call" if "task" not in params:
                return web.json_response({**answer, "error": {"code": -32601, "message": "requires task augmentation"}})
            case "tools/call":
                task = {"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": None}
                return web.json_response({**answer, "result": {"task": task}})
            case "tasks/result" | "tasks/cancel":
                assert params["taskId"] == "t1"
                if message["method"] == "tasks/result" and self.outcome is None:
                    await asyncio.Event().wait()
                return web.json_response({**answer, **({"result": {}} if self.outcome is None else self.told)})
        return None

    @property
    def told(self) -> dict[str, Any]:
        outcome = self.outcome or {}
        return {"error": outcome} if "code" in outcome else {"result": outcome}


async def listed_and_called(url: str, mode: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    async with SdkClient(url, mode=mode, read_timeout_seconds=60) as client:
        (tool,) = (await client.list_tools()).tools
        result = await client.call_tool(tool.name, {})
    return tuple(one.model_dump(by_alias=True, exclude_none=True) for one in (tool, result))  # type: ignore[return-value]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_knows_no_tasks_lists_and_calls_it_like_any_other(mode: Any) -> None:
    async with TaskServer() as server, serving([http_record("web", server.url)]) as served:
        listed, result = await listed_and_called(f"{served.url}/mcp", mode)
        assert "execution" not in listed
        assert (result["content"][0]["text"], result["isError"]) == ("found", False)
        assert "io.modelcontextprotocol/related-task" not in (result.get("_meta") or {})
    assert (server.seen["tools/call"], server.seen["tasks/result"], server.seen["tasks/cancel"]) == (1, 1, 0)


async def test_what_a_task_tells_of_its_progress_reaches_who_called() -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    class Reporting(TaskServer):
        """Tells of progress under the token that the call came with, on the stream of what came of it."""

        async def _work(self, request: web.Request, message: dict[str, Any]) -> Any:
            if message.get("method") != "tasks/result":
                return await super()._work(request, message)
            call = next(body for body in self.bodies if body.get("method") == "tools/call")
            told = {"progressToken": call["params"]["_meta"]["progressToken"], "progress": 1}
            said = {"jsonrpc": "2.0", "method": "notifications/progress", "params": told}
            answer = events(said, {"jsonrpc": "2.0", "id": message["id"], "result": self.outcome})
            return web.Response(body=answer, content_type="text/event-stream")

    async with (
        Reporting() as server,
        serving([http_record("web", server.url)]) as served,
        SdkClient(f"{served.url}/mcp", mode="legacy", read_timeout_seconds=60) as client,
    ):
        (tool,) = (await client.list_tools()).tools
        await client.call_tool(tool.name, {}, progress_callback=hear)
    assert heard == [1]


async def test_a_task_that_fails_is_told_to_the_model() -> None:
    server = TaskServer()
    async with managed() as manager, server:
        await manager.register(http("web", server.url))
        assert await manager.connect("web")
        assert (await manager.call_tool("web", "study", {})).text == "found"
        server.outcome = {"code": -32603, "message": "the library is closed"}
        with pytest.raises(ToolError, match="the library is closed"):
            await manager.call_tool("web", "study", {})


async def test_a_task_that_nobody_waits_for_is_called_off() -> None:
    server = TaskServer()
    async with managed() as manager, server:
        server.outcome = None
        await manager.register(http("web", server.url, timeout=0.2))
        assert await manager.connect("web")
        with pytest.raises(ToolTimeoutError):
            await manager.call_tool("web", "study", {})
        await until(lambda: server.seen["tasks/cancel"] == 1)


async def test_a_task_and_what_came_of_it_have_one_deadline() -> None:
    """R-02"""

    class Late(TaskServer):
        async def _work(self, request: web.Request, message: dict[str, Any]) -> Any:
            if message.get("method") in ("tools/call", "tasks/result"):
                await asyncio.sleep(0.35)
            return await super()._work(request, message)

    async with managed() as manager, Late() as server:
        await manager.register(http("web", server.url, timeout=0.5))
        assert await manager.connect("web")
        with pytest.raises(ToolTimeoutError):
            await manager.call_tool("web", "study", {})


class Curious(InMemoryServer):
    """Beside all else on its one link it asks, naming the task and no call; the answer is what comes of that."""

    def __init__(self) -> None:
        super().__init__("study")
        self.waiting: dict[str, Any] = {}
        """Task -> the id of the request for what came of it."""
        self.early = False
        """It asks at once, before anybody has asked for what came of it."""

    def link(self) -> InMemoryTransport:
        return CuriousTransport(self)

    def answer(self, method: str, params: dict[str, Any]) -> Any:
        if method == "tools/list":
            execution = {"taskSupport": "required"}
            return {"result": {"tools": [{"name": "study", "inputSchema": {}, "execution": execution}]}}
        if method != "tools/call":
            return super().answer(method, params)
        task = params["arguments"]["task"]
        if self.early:
            asyncio.get_running_loop().call_soon(self.ask, task)
        return {"result": {"task": {"taskId": task, "status": "working"}}}

    def ask(self, task: str) -> None:
        meta = {"io.modelcontextprotocol/related-task": {"taskId": task}, "kept": 1}
        asked = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}, "_meta": meta}
        self.links[0].say({"jsonrpc": "2.0", "id": f"ask-{task}", "method": "elicitation/create", "params": asked})


class CuriousTransport(InMemoryTransport):
    """Keeps requests for what came of a task until its question is answered."""

    def __init__(self, server: Curious) -> None:
        super().__init__(server)
        self._waiting = server.waiting

    def _arrive(self, request_id: int, method: str, params: dict[str, Any]) -> None:
        if method != "tasks/result":
            super()._arrive(request_id, method, params)
            return
        self._waiting[params["taskId"]] = request_id

    async def send(self, body: bytes, *, version: str = "") -> None:
        message = json.loads(body)
        task = str(message.get("id")).removeprefix("ask-")
        if "method" not in message:
            said = str(message.get("result") or message["error"]["message"])
            result = {"content": [{"type": "text", "text": said}]}
            await until(lambda: task in self._waiting)
            self.say({"jsonrpc": "2.0", "id": self._waiting[task], "result": result})


@pytest.mark.parametrize("early", [False, True], ids=["once-waited-for", "at-once"])
async def test_what_a_task_asks_reaches_the_one_that_called_it(monkeypatch: pytest.MonkeyPatch, early: bool) -> None:
    server = Curious()
    server.early = early
    heard: list[dict[str, Any]] = []

    def asked_by(name: str) -> RequestOptions:
        async def answer(question: ServerRequest) -> dict[str, Any]:
            heard.append(question.params["_meta"])
            return {"action": "accept", "content": {"name": name}}

        return RequestOptions(on_request=answer, client=name, caller=name)

    monkeypatch.setattr(opening, "candidates", reaching({"s": server}))
    async with managed() as manager:
        await manager.register(ServerRecord(name="s", transport_type=TransportType.STDIO, config={"command": "s"}))
        assert await manager.connect("s")
        connection = manager.connections["s"]
        calls = [
            asyncio.ensure_future(
                connection.request("tools/call", {"name": "study", "arguments": {"task": name}}, asked_by(name))
            )
            for name in ("ann", "bob")
        ]
        if not early:
            await until(lambda: len(server.waiting) == 2)
            server.ask("ann")
            server.ask("bob")
        results = await asyncio.gather(*calls)
    assert ["ann" in str(results[0]), "bob" in str(results[1])] == [True, True], results
    assert heard == [{"kept": 1}, {"kept": 1}]  # who called knows of no task
