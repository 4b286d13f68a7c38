"""`/metrics` for Prometheus."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import httpx2 as httpx

from naru.config import Settings
from naru.hub import open_hub
from naru.models.fallback import FallingBack
from naru.models.router import Route, Router
from naru.models.scripted import ScriptedBackend
from naru.models.transport.failures import failure
from naru.records import ServerRecord, TransportType
from naru.tools.toolset import CallContext
from naru.web.app import open_app
from naru.web.figures.metrics import CountingJournal

PROGRAM = Path(__file__).parent.parent / "fixtures" / "servers" / "raw_server.py"


async def test_calls_of_every_face_approvals_and_the_audit_are_counted(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "hub": {"data_dir": tmp_path, "store": "memory:"},
            "approvals": {"deny": ["raw/pid"]},
        }
    )
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        config = {"command": sys.executable, "args": [str(PROGRAM)]}
        await hub.manager.register(ServerRecord(name="raw", transport_type=TransportType.STDIO, config=config))
        assert await hub.manager.connect("raw")
        await hub.tools().call("raw__echo", {"text": "x"}, CallContext())
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=60) as client:
            await client.post("/api/tools/call", json={"name": "raw__pid", "arguments": {}})
            text = (await client.get("/metrics")).text
    assert 'naru_server_calls_total{outcome="ok",server="raw"} 1.0' in text
    assert 'naru_server_calls_total{outcome="refused",server="raw"} 1.0' in text
    assert re.search(r'naru_server_call_seconds_total\{server="raw"\} \d', text)
    assert "naru_approvals_waiting 0.0" in text
    assert "naru_audit_failures_total 0.0" in text


async def test_answers_of_another_model_are_counted_and_said(tmp_path: Path) -> None:  # issue 17, line 11
    away = ScriptedBackend([failure("unreachable", "It is off.")])
    routes = [Route("a", away, ("first",)), Route("b", ScriptedBackend(["hello"]), ("second",))]
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    backend = FallingBack(Router(routes), ["b/second"])
    async with open_hub(settings, backend=backend) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=60) as client:
            body = {"model": "first", "messages": [{"role": "user", "content": "hi"}]}
            answer = (await client.post("/v1/chat/completions", json=body)).json()
            text = (await client.get("/metrics")).text
    assert answer["choices"][0]["message"]["content"] == "hello"
    assert answer["naru"]["note"] == "b/second answered in place of first (first: It is off.)."
    assert 'naru_model_fallbacks_total{answered="b/second",asked="first"} 1.0' in text


async def test_names_that_a_model_made_up_are_no_labels() -> None:
    journal = CountingJournal(None)
    calls = [
        {"name": "hr__find", "ran": True, "is_error": False},
        {"name": "find", "ran": True, "is_error": False},
        {"name": "sk-SENTINEL", "ran": False, "is_error": True},
    ]
    rounds = [{"offered": ["hr__find"], "calls": calls}]
    await journal.save({"reason": "answered", "seconds": 1.0, "rounds": rounds})
    assert dict(journal.calls) == {("hr__find", "ok"): 1, ("find", "ok"): 1, ("unknown", "refused"): 1}
