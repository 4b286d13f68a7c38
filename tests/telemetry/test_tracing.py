"""Traces by the GenAI and MCP conventions, read back from the SDK's in-memory exporter."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2 as httpx
import orjson
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from naru.agent.loop import run
from naru.config import Settings, TelemetrySettings
from naru.connections.manager import Manager
from naru.connections.session import opening
from naru.errors import ConfigError, ModelError, ToolError
from naru.gateway.gateway import Gateway
from naru.hub import open_hub
from naru.messages import ChatRequest, Message
from naru.models.scripted import ScriptedBackend
from naru.models.traced import Target, TracedBackend
from naru.records import ServerRecord, TransportType
from naru.stores.memory import MemoryStore
from naru.telemetry import tracing
from naru.telemetry.logs import JsonFormatter
from naru.telemetry.spans import OtelTracing
from naru.telemetry.start import start_tracing
from naru.tools.combined import CombinedToolset
from naru.web.app import open_app
from tests.connections.in_memory import InMemoryServer, reaching
from tests.loopback import QuietHandler, answering

PROGRAM = Path(__file__).parent.parent / "fixtures" / "servers" / "raw_server.py"
CALL = '```json\n{"name": "raw__echo", "arguments": {"text": "canary-argument"}}\n```'
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Spans:
    """What was exported, by name."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def all(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def one(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.all() if span.name == name]
        return found


@pytest.fixture(params=[False], ids=["no-content"])
def spans(request: pytest.FixtureRequest) -> Iterator[Spans]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    stop = tracing.activate(OtelTracing(provider, content=request.param))
    yield Spans(exporter)
    stop()


def record(*arguments: str) -> ServerRecord:
    config = {"command": sys.executable, "args": [str(PROGRAM), *arguments]}
    return ServerRecord(name="raw", transport_type=TransportType.STDIO, config=config)


def is_child(child: ReadableSpan, parent: ReadableSpan) -> bool:
    assert parent.context is not None
    return child.parent is not None and child.parent.span_id == parent.context.span_id


async def a_run(manager: Manager, answers: list[Any]) -> None:
    active = tracing.active()
    assert active is not None
    backend = TracedBackend(ScriptedBackend(answers), active, Target("openai", "127.0.0.1", 8000))
    request = ChatRequest("tiny", [Message("user", "say canary-question")], temperature=0.5)
    async with aclosing(run(backend, CombinedToolset(manager.toolsets), request)) as events:
        async for _ in events:
            assert not tracing_is_current(), "the reader of a run is not inside of its span"


def tracing_is_current() -> bool:
    active = tracing.active()
    return active is not None and active.ids() != ("", "")


async def test_a_run_is_one_trace_of_agent_chats_and_tools_without_any_content(spans: Spans) -> None:
    manager = Manager(MemoryStore())
    await manager.register(record())
    assert await manager.connect("raw")
    await a_run(manager, [CALL, "canary-answer"])
    await manager.close()
    agent, tool = spans.one("invoke_agent naru"), spans.one("execute_tool raw__echo")
    chats = [span for span in spans.all() if span.name == "chat tiny"]
    assert len(chats) == 2
    assert all(is_child(span, agent) for span in (*chats, tool))
    assert (chats[0].kind, tool.kind) == (SpanKind.CLIENT, SpanKind.INTERNAL)
    told = dict(chats[0].attributes or {})
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.provider.name"] == "openai"
    assert told["gen_ai.request.temperature"] == 0.5
    assert (told["server.address"], told["server.port"]) == ("127.0.0.1", 8000)
    assert told["gen_ai.response.finish_reasons"]
    assert dict(agent.attributes or {})["gen_ai.response.finish_reasons"] == ("answered",)
    # The conventions want no second span for a tool that is traced already: the MCP facts are on the tool's own.
    facts = dict(tool.attributes or {})
    assert (facts["gen_ai.tool.name"], facts["mcp.method.name"]) == ("echo", "tools/call")
    assert facts["network.transport"] == "pipe"
    assert not [span for span in spans.all() if span.name.startswith("tools/call")]
    assert "canary" not in "".join(span.to_json() for span in spans.all())


@pytest.mark.parametrize("spans", [True], ids=["content"], indirect=True)
async def test_content_is_traced_redacted_where_that_is_asked_for(spans: Spans) -> None:
    manager = Manager(MemoryStore())
    await manager.register(record())
    await manager.connect("raw")
    await a_run(manager, [CALL, "the answer, Authorization: Bearer abcdefghijklmnop"])
    await manager.close()
    last = [span for span in spans.all() if span.name == "chat tiny"][-1]
    said = orjson.loads(str(dict(last.attributes or {})["gen_ai.output.messages"]))
    assert "the answer" in said[0]["parts"][0]["content"]
    assert "abcdefghijklmnop" not in "".join(span.to_json() for span in spans.all())
    assert "canary-argument" in str(dict(spans.one("execute_tool raw__echo").attributes or {}))


async def test_a_call_outside_of_a_run_is_a_client_span_and_its_context_reaches_the_server(spans: Spans) -> None:
    manager = Manager(MemoryStore())
    await manager.register(record())
    await manager.connect("raw")
    result = await manager.call_tool("raw", "echo", {"text": "x"})
    await manager.close()
    span = spans.one("tools/call echo")
    assert (result.is_error, span.kind) == (False, SpanKind.CLIENT)
    assert span.context is not None
    heard = result.meta["heard"]["traceparent"]
    assert heard.startswith(f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-")
    facts = dict(span.attributes or {})
    assert facts["gen_ai.operation.name"] == "execute_tool"
    assert facts["mcp.protocol.version"]
    assert facts["naru.mcp.server"] == "raw"


async def test_a_call_that_runs_as_a_task_is_one_span_that_all_its_requests_carry(
    spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[str, str]] = []

    class Working(InMemoryServer):
        def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
            if method == "tools/list":
                execution = {"taskSupport": "required"}
                return {"result": {"tools": [{"name": "study", "inputSchema": {}, "execution": execution}]}}
            if method not in ("tools/call", "tasks/result"):
                return super().answer(method, params)
            heard.append((method, params["_meta"]["traceparent"]))
            found = {"content": [{"type": "text", "text": "found"}]}
            return {"result": {"task": {"taskId": "t1"}} if method == "tools/call" else found}

    monkeypatch.setattr(opening, "candidates", reaching({"s": Working()}))
    manager = Manager(MemoryStore())
    await manager.register(ServerRecord(name="s", transport_type=TransportType.STDIO, config={"command": "s"}))
    await manager.connect("s")
    assert (await manager.call_tool("s", "study", {})).text == "found"
    await manager.close()
    context = spans.one("tools/call study").context
    assert context is not None
    carried = f"00-{context.trace_id:032x}-{context.span_id:016x}"
    assert [method for method, _ in heard] == ["tools/call", "tasks/result"]
    assert all(parent.startswith(carried) for _, parent in heard)


async def test_a_tool_that_fails_and_a_server_that_is_gone_are_failed_spans(spans: Spans) -> None:
    manager = Manager(MemoryStore())
    await manager.register(record())
    await manager.connect("raw")
    with pytest.raises(ToolError):
        await manager.call_tool("raw", "exit", {})
    await manager.close()
    span = spans.one("tools/call exit")
    assert span.status.status_code is StatusCode.ERROR
    assert dict(span.attributes or {})["error.type"] == "connection_failed"


async def test_a_failing_model_is_a_failed_chat(spans: Spans) -> None:
    active = tracing.active()
    assert active is not None
    backend = TracedBackend(ScriptedBackend([ModelError("down, key sk-abcdefghijklmnop")]), active, Target("ollama"))
    with pytest.raises(ModelError):
        async for _ in backend.stream(ChatRequest("tiny", [Message("user", "hi")])):
            pass
    span = spans.one("chat tiny")
    assert dict(span.attributes or {})["error.type"] == "model_error"
    assert "abcdefghijklmnop" not in span.to_json()


async def test_an_mcp_client_s_trace_goes_on_through_naru_to_the_server(spans: Spans) -> None:
    """SEP-414: `traceparent` stands unprefixed in `_meta`, from client to server."""
    manager = Manager(MemoryStore())
    await manager.register(record())
    await manager.connect("raw")
    gateway = Gateway(manager)
    session = gateway.engine.open_session("", "")
    message = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "raw__echo", "arguments": {"text": "x"}, "_meta": {"traceparent": PARENT}},
    }
    await gateway.engine.answer_legacy(message, session, lambda frame: None)
    await gateway.close()
    await manager.close()
    server, client = spans.one("tools/call raw__echo"), spans.one("tools/call echo")
    assert server.kind is SpanKind.SERVER
    assert server.context is not None
    assert f"{server.context.trace_id:032x}" == PARENT.split("-")[1]
    assert server.parent is not None
    assert f"{server.parent.span_id:016x}" == PARENT.split("-")[2]
    assert is_child(client, server)
    assert dict(server.attributes or {})["jsonrpc.request.id"] == "7"
    assert dict(server.attributes or {})["mcp.session.id"] == session.id


async def test_an_http_request_goes_on_with_the_trace_of_its_header(spans: Spans, tmp_path: Path) -> None:
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006") as client:
            answer = await client.get("/api/mcp/servers/none", headers={"traceparent": PARENT})
    span = spans.one("GET /api/mcp/servers/{name}")
    assert answer.status_code == 404
    assert span.context is not None
    assert f"{span.context.trace_id:032x}" == PARENT.split("-")[1]
    assert dict(span.attributes or {})["http.response.status_code"] == 404


async def test_json_log_lines_name_the_span_that_they_belong_to(spans: Spans) -> None:
    active = tracing.active()
    assert active is not None
    with tracing.spanning(active.begin("work", "internal", {})):
        line = JsonFormatter().format(logging.makeLogRecord({"msg": "hello", "levelname": "INFO", "server": "a\nb"}))
        trace_id, span_id = active.ids()
    told = orjson.loads(line)
    assert (told["message"], told["server"]) == ("hello", "a\\u000ab")
    assert (told["trace_id"], told["span_id"]) == (trace_id, span_id)


@pytest.mark.slow
def test_while_tracing_is_off_the_sdk_is_not_even_imported() -> None:
    program = (
        "import sys, naru.cli.serve.command, naru.telemetry.tracing as t\n"
        "assert t.active() is None\n"
        "assert 'opentelemetry.sdk' not in sys.modules and 'naru.telemetry.spans' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_without_the_extra_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    for name in [one for one in sys.modules if one.startswith(("opentelemetry.sdk.", "naru.telemetry.spans"))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ConfigError, match=r"install .*\[telemetry\]'"):
        start_tracing(TelemetrySettings(traces="otlp"))


def test_spans_reach_a_collector() -> None:
    got: list[tuple[str, bytes]] = []

    class Collector(QuietHandler):
        def do_POST(self) -> None:
            got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_whole(b"", "application/x-protobuf")

    with answering(Collector) as url:
        stop = start_tracing(TelemetrySettings(traces="otlp", endpoint=f"{url}/v1/traces", service_name="ferry"))
        active = tracing.active()
        assert active is not None
        active.begin("work", "internal", {}).end()
        stop()
    assert [path for path, _ in got] == ["/v1/traces"]
    assert b"ferry" in got[0][1]
    assert b"work" in got[0][1]
    assert tracing.active() is None
