"""The overview: what every face was asked for, over time and over restarts (N24)."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import httpx2 as httpx
import pytest

from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest, Message
from naru.models.limits.queue import RequestQueue
from naru.models.limits.queued import QueuedBackend
from naru.models.limits.rate import RateLimits
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord, TransportType
from naru.stores.kept.history import Point
from naru.telemetry.figures import REQUESTS, Figures
from naru.web.admin.overview import Sum
from naru.web.app import open_app

PROGRAM = Path(__file__).parents[2] / "fixtures" / "servers" / "raw_server.py"


def client_of(asgi: object) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(asgi)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=60)


def settings_in(folder: Path) -> Settings:
    return Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}})


def measured(hub: Hub, *answers: str) -> None:
    """Give the hub a model behind a queue that tells the hub's figures, as `open_backend` does."""
    queue = RequestQueue(RateLimits())
    queue.figures = hub.figures
    hub.figures.queues["default"] = queue.load
    hub.backend = QueuedBackend(ScriptedBackend(list(answers)), queue)


async def test_requests_tokens_and_calls_of_every_face_are_shown_and_stay(tmp_path: Path) -> None:
    async with open_hub(settings_in(tmp_path), backend=ScriptedBackend([])) as hub:
        measured(hub, "one", "two")
        async with open_app(hub) as app, client_of(app.asgi) as client:
            config = {"command": sys.executable, "args": [str(PROGRAM)]}
            await hub.manager.register(ServerRecord(name="raw", transport_type=TransportType.STDIO, config=config))
            assert await hub.manager.connect("raw")
            chat = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
            assert (await client.post("/v1/chat/completions", json=chat)).status_code == 200
            assert (await client.post("/v1/chat/completions", json={"model": "m"})).status_code == 400
            await client.post("/api/tools/call", json={"name": "raw__echo", "arguments": {"text": "x"}})
            shown = (await client.get("/api/overview")).json()
            text = (await client.get("/metrics")).text
    routes = {one["route"]: one for one in shown["routes"]}
    assert routes["/v1/chat/completions"]["count"] == 2
    assert routes["/v1/chat/completions"]["failed"] == 1
    assert [(one["model"], one["count"], one["failed"]) for one in shown["models"]] == [("m", 1, 0)]
    assert [(one["server"], one["tool"], one["count"]) for one in shown["tools"]] == [("raw", "echo", 1)]
    assert sum(shown["requests"]["count"]) == 3
    assert len(shown["times"]) == len(shown["requests"]["p95"]) == 60
    assert shown["now"]["servers"]["CONNECTED"] == 1
    assert 'naru_request_duration_seconds_count{outcome="ok",route="/v1/chat/completions"} 1.0' in text
    assert "gen_ai_client_operation_duration_seconds_bucket" in text
    assert 'naru_model_queue_running{endpoint="default"} 0.0' in text
    async with (
        open_hub(settings_in(tmp_path), backend=ScriptedBackend([])) as hub,
        open_app(hub) as app,
        client_of(app.asgi) as client,
    ):
        for name, steps in (("hour", 60), ("day", 96), ("week", 168)):
            again = (await client.get(f"/api/overview?range={name}")).json()
            assert sum(again["requests"]["count"]) == 3, name
            assert len(again["times"]) == steps


async def test_an_unknown_range_says_which_there_are(tmp_path: Path) -> None:
    async with (
        open_hub(settings_in(tmp_path), backend=ScriptedBackend([])) as hub,
        open_app(hub) as app,
        client_of(app.asgi) as client,
    ):
        refused = await client.get("/api/overview?range=year")
    assert refused.status_code == 400
    assert "hour, day, week" in refused.json()["remedy"]


async def test_model_errors_are_told_by_their_kind(tmp_path: Path) -> None:
    async with open_hub(settings_in(tmp_path), backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        hub.figures.model("m", 0.2, waited=0.0, error="rate_limited")
        hub.figures.model("m", 0.4, waited=2.0, first=0.1, tokens=(10, 5))
        async with client_of(app.asgi) as client:
            shown = (await client.get("/api/overview")).json()
    (row,) = shown["models"]
    assert (row["count"], row["failed"], row["errors"]) == (2, 1, {"rate_limited": 1})
    assert (row["input_tokens"], row["output_tokens"]) == (10, 5)
    assert row["waited_p95"] > 1
    assert sum(shown["tokens"]["input"]) == 10


@pytest.mark.slow
async def test_a_view_of_a_week_reads_hours_of_whatever_is_kept(tmp_path: Path) -> None:
    async with open_hub(settings_in(tmp_path), backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        now = int(time.time())
        old = [Point(now - day * 86_400, REQUESTS, ("/mcp", "ok"), 1, 0.1, (1,)) for day in range(300, 0, -1)]
        await hub.recorder.history.add(old)
        async with client_of(app.asgi) as client:
            shown = (await client.get("/api/overview?range=week")).json()
    assert sum(shown["requests"]["count"]) in (6, 7)


async def test_the_queue_tells_waits_and_first_pieces() -> None:
    figures = Figures()
    queue = RequestQueue(RateLimits())
    queue.figures = figures
    backend = QueuedBackend(ScriptedBackend(["hello"]), queue)
    request = ChatRequest(model="m", messages=(Message("user", "hi"),))
    assert [event async for event in backend.stream(request)]
    counts = {(one.name, one.labels): one for one in figures.series()}
    assert counts["gen_ai_client_operation_duration_seconds", ("m", "")].count == 1
    assert counts["gen_ai_client_operation_time_to_first_chunk_seconds", ("m",)].count == 1
    assert counts["naru_model_wait_seconds", ("m",)].count == 1


@pytest.mark.parametrize(
    ("buckets", "share", "wanted"),
    [((0, 0, 0), 0.5, None), ((4, 0, 0), 0.5, 0.5), ((0, 10, 0), 0.5, 1.5), ((1, 1, 8), 0.99, 2.0)],
)
def test_a_quantile_lies_within_its_bucket(buckets: tuple[int, ...], share: float, wanted: float | None) -> None:
    assert Sum(sum(buckets), 0.0, buckets).quantile(share, (1.0, 2.0)) == wanted
