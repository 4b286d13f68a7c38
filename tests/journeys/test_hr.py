"""The main job, whole: a real small model, the real HR server over stdio, a real client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.engine]
MODEL = "qwen2.5-coder-0.5b"


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        assert process.poll() is None, "naru serve ended at once"
        try:
            with urllib.request.urlopen(f"{url}/readyz") as reply:
                if json.loads(reply.read())["status"] == "ready":
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError("naru serve was not ready within 180 s")


@pytest.fixture(scope="module")
def naru(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    port = free_port()
    data = tmp_path_factory.mktemp("data")
    process = subprocess.Popen(
        [sys.executable, "-m", "naru.cli.main", "serve", "--demo", "--store", "memory:", "--port", str(port)],
        env={**os.environ, "NARU_HUB__DATA_DIR": str(data), "NARU_MODEL__MODEL": MODEL},
    )
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", timeout=180, max_retries=0)
    finally:
        process.terminate()
        assert process.wait(timeout=90) == 0


def ask(client: openai.OpenAI, question: str, **options) -> openai.types.chat.ChatCompletion:
    return client.chat.completions.create(
        model=options.pop("model", f"{MODEL}+tools"), messages=[{"role": "user", "content": question}], **options
    )


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("who is EMP001?", "Kim Minjun"),
        ("EMP002의 2025년 남은 연차", "14"),
        ("What is EMP009's department?", "Finance"),
        ("직원 목록 보여줘", "James Carter"),
    ],
)
def test_the_answer_holds_the_fact_from_the_database(naru: openai.OpenAI, question: str, fact: str) -> None:
    assert fact in (ask(naru, question).choices[0].message.content or "")


def test_the_answer_streams_as_text_alone(naru: openai.OpenAI) -> None:
    chunks = list(
        naru.chat.completions.create(
            model=f"{MODEL}+tools", messages=[{"role": "user", "content": "who is EMP001?"}], stream=True
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert "Kim Minjun" in text
    assert all(not chunk.choices[0].delta.tool_calls for chunk in chunks if chunk.choices)
    assert chunks[-1].choices[0].finish_reason == "stop"


@pytest.mark.parametrize(
    "how",
    [
        {"extra_body": {"mcp_servers": ["hr"]}},
        {"extra_body": {"mcp_servers": "all"}},
        {"extra_headers": {"x-mcp-servers": "hr"}},
    ],
    ids=["body list", "body all", "header"],
)
def test_tools_may_be_asked_for_by_body_or_header(naru: openai.OpenAI, how: dict) -> None:
    answer = ask(naru, "who is EMP001?", model=MODEL, **how)
    assert "Kim Minjun" in (answer.choices[0].message.content or "")


def test_a_call_the_engine_leaves_in_the_text_comes_back_as_a_strict_tool_call(naru: openai.OpenAI) -> None:
    tool = {
        "type": "function",
        "function": {
            "name": "get_employee_info",
            "description": "Get one employee.",
            "parameters": {
                "type": "object",
                "properties": {"employee_id": {"type": "string"}},
                "required": ["employee_id"],
            },
        },
    }
    answer = ask(naru, "who is EMP001?", model=MODEL, tools=[tool], temperature=0)
    calls = answer.choices[0].message.tool_calls
    assert answer.choices[0].finish_reason == "tool_calls"
    assert calls
    assert calls[0].function.name == "get_employee_info"
    assert json.loads(calls[0].function.arguments) == {"employee_id": "EMP001"}


def test_both_names_of_the_model_are_listed(naru: openai.OpenAI) -> None:
    assert {MODEL, f"{MODEL}+tools"} <= {model.id for model in naru.models.list()}


def test_a_joke_needs_no_tool(naru: openai.OpenAI) -> None:
    answer = ask(naru, "tell me a joke")
    assert answer.choices[0].message.content
    assert (answer.model_extra or {})["naru"]["calls"] == []


def test_the_demo_answers_all_three_questions(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "naru.cli.main", "demo"],
        env={**os.environ, "NARU_HUB__DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 3 answered" in done.stdout
    assert "naru.cli.main serve" in done.stdout, "the next step, as this was called"
