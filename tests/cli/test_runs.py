"""`naru runs`: list, show, replay what was kept (N13)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from naru.cli.terminal.exit_codes import Exit
from naru.stores.kept.runs import RunStore


def run(run_id: str, started_at: int, question: str, answer: str) -> dict:
    call = {"name": "hr__find", "arguments": {"id": "E1"}}
    made = {**call, "ran": True, "writer": "grammar", "mended": True, "is_error": False}
    return {
        "id": run_id, "started_at": started_at, "model": "qwen2.5", "question": question, "caller": "local",
        "reason": "answered", "answer": answer, "seconds": 1.5, "messages": [{"role": "user", "content": question}],
        "tools": [{"name": "hr__find", "description": "Find.", "schema": {"properties": {"id": {"type": "string"}}}}],
        "rounds": [
            {"round": 1, "final": False, "offered": ["hr__find"], "at": 0.0, "seconds": 0.5, "written": [call],
             "raw": '<tool_call>\n{"name": "hr__find", "arguments": {"id": "E1"}}\n</tool_call>',
             "calls": [{**made, "text": "Kim \x1b[2J", "seconds": 0.01}]},
            {"round": 2, "final": False, "offered": [], "at": 0.6, "seconds": 0.4, "raw": "It is Kim.", "calls": []},
        ],
    }  # fmt: skip


@pytest.fixture
def runs(tmp_path: Path) -> None:
    async def save() -> None:
        store = RunStore(tmp_path / "data" / "runs.db")
        await store.save(run("run_aaa1", 1_000, "who is E1?", "It is Kim."))
        await store.save(run("run_aab2", 2_000, "누가 E1인가요?", "Somebody else."))

    asyncio.run(save())


def test_runs_are_listed_newest_first_and_filtered(naru, runs: None) -> None:
    heading, *rows = [line.split("\t") for line in naru("runs", "list").stdout.splitlines()]
    assert heading[0] == "run"
    assert [row[0] for row in rows] == ["run_aab2", "run_aaa1"]
    assert rows[0][-1] == "누가 E1인가요?"
    assert [one["id"] for one in json.loads(naru("runs", "list", "who is", "--json").stdout)] == ["run_aaa1"]
    assert naru("runs", "list", "--reason", "failed").stdout == ""


def test_a_run_is_shown_step_by_step(naru, runs: None) -> None:
    shown = naru("runs", "show", "run_aaa").stdout
    for text in (
        "who is E1?",
        "Round 1, tools shown: hr__find\n",
        "Round 2, no tools shown\n",
        "written by the model, held to valid calls, mended",
        "It is Kim.",
    ):
        assert text in shown
    assert "\x1b" not in shown
    assert json.loads(naru("runs", "show", "--json").stdout)["id"] == "run_aab2"


def test_an_id_may_be_cut_but_must_name_one_run(naru, runs: None) -> None:
    assert "2 runs begin" in naru("runs", "show", "run_a", code=Exit.USAGE).stderr
    assert "no run 'zzz'" in naru("runs", "show", "zzz", code=Exit.NOT_FOUND).stderr


def test_a_replay_says_whether_it_came_to_the_same(naru, runs: None) -> None:
    assert "the same" in naru("runs", "replay", "run_aaa1").stdout
    differs = naru("runs", "replay", "run_aab2", code=Exit.NOT_WELL).stdout
    assert "answer differs" in differs
    assert json.loads(naru("runs", "replay", "run_aaa1", "--json").stdout)["same"] is True


def test_a_replay_on_a_model_that_is_away_says_that_it_is(naru, runs: None) -> None:
    away = naru("runs", "replay", "run_aaa1", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", code=Exit.NOT_WELL)
    assert "reason differs" in away.stdout
    assert "http://127.0.0.1:9/v1 cannot be reached" in away.stderr


def test_without_runs_that_is_said(naru) -> None:
    assert "No runs are kept yet" in naru("runs", "list").stderr
    assert "No runs are kept yet" in naru("runs", "show", code=Exit.NOT_FOUND).stderr
