"""Issue 22 line 3, issue 19 lines 10 and 12: `naru serve --tools company.py`, as its users type it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from tests.docs.fake_model import fake_model

from naru.stores.secrets.keys import KeyFile

PRICE = 'def price(product: str) -> dict:\n    """Return the price of a product in won."""\n    return {"won": 1200}\n'
WAIT_SECONDS = 60.0


@contextmanager
def serving(folder: Path, model_url: str, *words: str) -> Iterator[tuple[str, dict[str, str]]]:
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--port", "0", *words]
    environment = {
        **os.environ,
        "HOME": str(folder),
        "NARU_HUB__DATA_DIR": str(folder / "data"),
        "NARU_MODEL__BASE_URL": model_url,
    }
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            while (found := re.search(r"on (http://\S+)", line := process.stderr.readline())) is None:
                assert line, "it ended before it served"
            yield found[1], environment
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=WAIT_SECONDS)


def tools(url: str) -> list[str]:
    listed = httpx.get(f"{url}/api/tools", timeout=WAIT_SECONDS).json()["tools"]
    return sorted(tool["name"] for tool in listed)


def until_tools_are(url: str, *names: str) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while (now := tools(url)) != sorted(names):
        assert time.monotonic() < end, now
        time.sleep(0.2)


@contextmanager
def mcp_client(url: str, key: str = "") -> Iterator[Callable[..., Any]]:
    """A client of the version with sessions, by hand."""
    headers = {"Accept": "application/json, text/event-stream"} | ({"Authorization": f"Bearer {key}"} if key else {})
    with httpx.Client(headers=headers, timeout=WAIT_SECONDS) as client:

        def ask(method: str, **params: object) -> Any:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = client.post(f"{url}/mcp", json=message)
            client.headers.setdefault("Mcp-Session-Id", answer.headers.get("Mcp-Session-Id", ""))
            text = answer.text
            line = next((line for line in text.splitlines() if line.startswith("data: {")), text)
            return json.loads(line.removeprefix("data: "))["result"]

        ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        client.headers["MCP-Protocol-Version"] = "2025-06-18"
        client.post(f"{url}/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield ask


def naru(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "naru.cli.main", *words]
    return subprocess.run(
        command, cwd=environment["HOME"], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_a_file_and_a_module_are_served_by_one_line_and_read_anew(tmp_path: Path) -> None:
    (tmp_path / "company.py").write_text(PRICE, encoding="utf-8")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "shop" / "stock.py").write_text(
        'def left(product: str) -> int:\n    """Count."""\n    return 3\n', encoding="utf-8"
    )
    with (
        fake_model() as model,
        serving(tmp_path, model, "--tools", "company.py", "--tools", "shop.stock") as (url, home),
    ):
        until_tools_are(url, "company__price", "stock__left")
        asked = naru({**home, "NARU_SERVER__PORT": url.rpartition(":")[2]}, "tools", "list", "--json")
        assert {one["name"] for one in json.loads(asked.stdout)} == {"company__price", "stock__left"}, asked.stderr
        shown = naru({**home, "NARU_SERVER__PORT": url.rpartition(":")[2]}, "servers", "list")
        assert re.search(r"^company\s+connected\s+1\s+STDIO", shown.stdout, re.MULTILINE | re.IGNORECASE), shown
        assert "No server is registered" not in shown.stderr
        (tmp_path / "company.py").write_text(PRICE + PRICE.replace("price", "cost"), encoding="utf-8")
        until_tools_are(url, "company__cost", "company__price", "stock__left")
        with mcp_client(url) as ask:
            listed = ask("tools/list")["tools"]
            assert sorted(tool["name"] for tool in listed) == ["company__cost", "company__price", "stock__left"]
            called = ask("tools/call", name="company__cost", arguments={"product": "pen"})
            assert called["structuredContent"] == {"won": 1200}


@pytest.mark.slow
def test_a_function_is_told_who_asks_and_nobody_can_say_it_of_themselves(tmp_path: Path) -> None:
    (tmp_path / "company.py").write_text(
        'def me(current_user: str) -> str:\n    """Me."""\n    return current_user\n', encoding="utf-8"
    )
    keys = KeyFile(tmp_path / "data" / "keys.json")
    made = [keys.create("user", owner=name) for name in ("ann", "bob")]
    with fake_model() as model, serving(tmp_path, model, "--tools", "company.py") as (url, _):
        for key, secret in made:
            with mcp_client(url, secret) as ask:
                assert "current_user" not in str(ask("tools/list"))
                hostile = {"naru/person": made[0][0].id}
                said = ask("tools/call", name="company__me", arguments={}, _meta=hostile)
                assert said["content"][0]["text"] == key.id


@pytest.mark.slow
def test_the_documents_three_steps_bring_ones_own_function_to_a_model(tmp_path: Path) -> None:
    """Write it, serve it, ask: docs/start/tasks.md."""
    sold = PRICE.replace("in won.", "among what is sold: pen or book.").replace('"won"', '"price of a pen"')
    (tmp_path / "company.py").write_text(sold, encoding="utf-8")
    with fake_model() as model, serving(tmp_path, model, "--tools", "company.py") as (url, home):
        home |= {"NARU_SERVER__PORT": url.rpartition(":")[2]}
        until_tools_are(url, "company__price")
        told = naru(home, "chat", "What does a pen cost?", "--json")
        assert "A pen costs 1200 won." in told.stdout, told.stderr
        audited = naru(home, "audit", "show", "--json")
        assert "company" in audited.stdout
        assert "price" in audited.stdout


@pytest.mark.slow
def test_a_file_that_is_not_there_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "NARU_HUB__DATA_DIR": str(tmp_path / "data")}
    ended = naru(environment, "serve", "--port", "0", "--tools", "compnay.py")
    assert ended.returncode == 2
    assert "compnay.py is not there" in ended.stderr
    assert "Correct the path" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_the_setting_counts_for_commands_without_a_hub_too(tmp_path: Path) -> None:
    (tmp_path / "company.py").write_text(PRICE, encoding="utf-8")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "NARU_HUB__DATA_DIR": str(tmp_path / "data"),
        "NARU_TOOLS__MODULES": json.dumps([str(tmp_path / "company.py")]),
    }
    listed = naru(environment, "tools", "list", "--json")
    assert [one["name"] for one in json.loads(listed.stdout)] == ["company__price"], listed.stderr
