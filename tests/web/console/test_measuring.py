"""`Probe now` in the console: the hub's own endpoint is measured, and what was found is gone by (issue 22, line 4)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2 as httpx

from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app
from tests.models.fake_endpoint import json_reply, serve
from tests.models.test_probe import able
from tests.web.console.test_api import words


def settings_for(folder: Path, base_url: str) -> Settings:
    model = {"base_url": base_url, "model": "org/some-model", "api": "openai"}
    return Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}, "model": model})


def answers(body: dict[str, Any]) -> Any:
    if "messages" not in body:
        return json_reply({"object": "list", "data": [{"id": "org/some-model"}]})
    return able(body, native=False)


async def probed(hub: Hub, body: dict[str, str]) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    async with open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=120) as client:
            reply = await client.post("/api/models/probe", json=body)
            steps = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")]
            return (
                reply.status_code,
                steps,
                (await client.get("/api/models", headers={"Accept-Language": "ko"})).json()["models"][0],
            )


async def test_a_probe_streams_its_checks_and_what_it_found_is_gone_by_at_once(tmp_path: Path) -> None:
    async with serve(answers) as endpoint:
        settings = settings_for(tmp_path, endpoint.base_url)
        async with open_hub(settings) as hub:
            status, steps, model = await probed(hub, {"model": "org/some-model"})
            assert status == 200
            assert [step["step"] for step in steps[-2:]] == ["check", "end"]
            assert hub.backend.profile.strategy == "prompted", "its endpoint takes no tools"
            assert model["strategy"] == "prompted"
            checks = model["measured"]["checks"]
            notes = [one["note"] for one in checks if one["note"]]
            assert notes
            assert [note for note in notes if not re.search("[가-힣]", note)] == []
            assert [one["name"] for one in checks] == [step["name"] for step in steps if step["step"] == "check"]
        async with open_hub(settings) as hub:
            assert hub.backend.profile.strategy == "prompted"
    for name in (one["name"] for one in checks):
        key = "check_" + re.sub(r"\W+", "_", re.sub(r"\d+", "N", name, count=1))
        assert key in words(), f"{name!r} has no line in text.js"


async def test_a_model_that_no_endpoint_has_is_not_measured(tmp_path: Path) -> None:
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub:
        status, steps, model = await probed(hub, {"model": "scripted"})
    assert (status, steps) == (400, [])
    assert model["measured"] is None


async def test_an_endpoint_that_is_away_ends_the_probe_with_its_reason_and_keeps_nothing(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "http://127.0.0.1:9/v1")
    async with open_hub(settings) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=120) as client:
            reply = await client.post("/api/models/probe", json={"model": "org/some-model"})
    assert "127.0.0.1:9" in reply.text
    assert not (tmp_path / "probes.json").exists()
