"""The dashboard and the alert rules ask for figures that `/metrics` gives; the rules fire as they say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import httpx2 as httpx
import pytest

from naru.config import Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app

DEPLOY = Path(__file__).parents[2] / "deploy"
FIGURE = re.compile(r"\b(?:naru|gen_ai)_[a-z_]+(?=[{\[ ]|$)")


def asked_for() -> set[str]:
    """Return the names of all figures in the dashboard's and the rules' expressions."""
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    text = "\n".join([*expressions, (DEPLOY / "alerts.yaml").read_text(encoding="utf-8")])
    return {name for name in FIGURE.findall(text) if name not in {"naru_", "gen_ai_request_model"}}


async def test_every_figure_asked_for_is_given(tmp_path: Path) -> None:
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with (
        open_hub(settings, backend=ScriptedBackend([])) as hub,
        open_app(hub) as app,
        httpx.AsyncClient(transport=httpx.ASGITransport(app.asgi), base_url="http://127.0.0.1:20006") as client,
    ):
        hub.figures.request("/mcp", 200, 0.1)
        hub.figures.model("m", 0.1, waited=0.1, first=0.1, tokens=(1, 1))
        hub.figures.call("s", "t", "ok", 0.1)
        hub.figures.queues["default"] = lambda: (0, 0)
        text = (await client.get("/metrics")).text
    given = set(re.findall(r"^([a-z_]+)(?:\{| )", text, re.MULTILINE))
    assert len(asked_for()) > 8
    assert asked_for() - {"naru_servers", "naru_approvals_waiting"} <= given | {"naru_audit_failures_total"}
    assert {"naru_servers", "naru_approvals_waiting", "naru_audit_failures_total"} <= given


def test_the_dashboard_has_one_place_for_each_panel() -> None:
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in board["panels"]}) == len(places)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check rules alerts.yaml", "test rules alerts.test.yaml"])
def test_prometheus_own_tool_accepts_the_rules(command: str) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    done = subprocess.run(
        ["promtool", *command.split()], cwd=DEPLOY, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
