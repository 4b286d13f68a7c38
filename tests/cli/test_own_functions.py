"""Issue 22 line 3, issue 19 line 10: one's own functions in one line, in the hub and as a server of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from tests.docs.fake_model import MODEL, fake_model

pytestmark = pytest.mark.slow
WAIT_SECONDS = 90
COMPANY = '''
"""Tools of our company."""

from naru.tools import register_tool


@register_tool
def price(product: str) -> dict[str, int]:
    """Return the price of a product.

    Args:
        product: pen or book.
    """
    return {"won": 1200}


@register_tool
def weight(product: str) -> dict[str, int]:
    """Return the weight of a product."""
    return {"grams": "a few"}


@register_tool(annotations={"destructiveHint": True})
def wipe() -> str:
    """Wipe everything."""
    return "wiped"
'''


@dataclass
class Served:
    address: str
    said: list[str] = field(default_factory=list)
    more: threading.Condition = field(default_factory=threading.Condition)

    def waits_for(self, words: str) -> None:
        """Wait until it says so."""
        with self.more:
            assert self.more.wait_for(lambda: words in "".join(self.said), WAIT_SECONDS), "".join(self.said)


@contextlib.contextmanager
def serving(words: list[str], folder: Path, **environment: str) -> Iterator[Served]:
    """Run a command that serves in a folder; what it says on stderr is kept."""
    known = {"NARU_HUB__DATA_DIR": str(folder / "data"), "NARU_HUB__STORE": "memory:", "HOME": str(folder)}
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **known, "NARU_SERVER__PORT": "0", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    served = Served("")

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            with served.more:
                served.said.append(line)
                served.more.notify_all()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        served.waits_for("Naru serves")
        found = re.search(r"Naru serves.* on (http://[^/\s]+)", "".join(served.said))
        assert found is not None
        served.address = found[1]
        yield served
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=WAIT_SECONDS)
        reader.join()


def fetched(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
        return json.load(answer)


async def test_functions_of_a_file_are_a_server_of_the_hub_and_follow_its_edits(tmp_path: Path) -> None:
    file = tmp_path / "company.py"
    file.write_text(COMPANY, encoding="utf-8")
    changes: asyncio.Queue[str] = asyncio.Queue()

    async def heard(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changes.put_nowait("tools")

    hub = ["-m", "naru.cli.main", "serve", "--tools", "company.py"]
    deny = {"NARU_APPROVALS__DENY": '["company/wipe"]'}
    with (
        fake_model() as model,
        serving(hub, tmp_path, NARU_MODEL__BASE_URL=model, NARU_MODEL__MODEL=MODEL, **deny) as on,
    ):
        asked = {"model": f"{MODEL}+tools", "messages": [{"role": "user", "content": "What is the price of a pen?"}]}
        answered = fetched(f"{on.address}/v1/chat/completions", asked)
        assert answered["choices"][0]["message"]["content"] == "A pen costs 1200 won."
        servers = fetched(f"{on.address}/api/mcp/servers")
        assert '"company"' in json.dumps(servers)
        listed = subprocess.run(
            [sys.executable, "-m", "naru.cli.main", "tools", "list"],
            env={**os.environ, "NARU_SERVER__PORT": on.address.rpartition(":")[2], "HOME": str(tmp_path)},
            capture_output=True, text=True, timeout=WAIT_SECONDS, check=False,
        )  # fmt: skip
        assert "company__price" in listed.stdout, listed.stderr
        async with (
            asyncio.timeout(WAIT_SECONDS),
            streamable_http_client(f"{on.address}/mcp") as (incoming, outgoing, *_),
            ClientSession(incoming, outgoing, message_handler=heard) as client,
        ):
            await client.initialize()
            assert (await client.call_tool("company__price", {"product": "pen"})).structured_content == {"won": 1200}
            denied = await client.call_tool("company__wipe", {})
            assert denied.is_error
            assert "wiped" not in str(denied)
            file.write_text(COMPANY + "\n\n@register_tool\ndef stock() -> int:\n    return 5\n", encoding="utf-8")
            await changes.get()
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "company__stock" in names
            file.write_text("def broken(:\n", encoding="utf-8")
            await asyncio.to_thread(on.waits_for, "The tools that there were stay")
            assert "SyntaxError" in "".join(on.said)
            assert (await client.call_tool("company__stock", {})).content[0].text == "5"
            assert [tool.name for tool in (await client.list_tools()).tools] == names
    audit = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "data").rglob("audit.jsonl"))
    assert '"price"' in audit
    assert '"wipe"' in audit


@pytest.mark.parametrize("way", ["command", "python"])
async def test_own_functions_answer_over_sse(way: str, tmp_path: Path) -> None:
    (tmp_path / "company.py").write_text(COMPANY, encoding="utf-8")
    (tmp_path / "server.py").write_text(
        "import company\nfrom naru.serve import serve\n"
        "serve([company.price, company.weight, company.wipe], name='company', transport='sse', deny=['wipe'])\n",
        encoding="utf-8",
    )
    command = ["-m", "naru.cli.main", "tool", "serve", "-m", "company", "--transport", "sse", "--deny", "wipe"]
    with serving(command if way == "command" else ["server.py"], tmp_path) as on:
        assert "/sse" in "".join(on.said)
        async with (
            asyncio.timeout(WAIT_SECONDS),
            sse_client(f"{on.address}/sse") as (incoming, outgoing),
            ClientSession(incoming, outgoing) as client,
        ):
            await client.initialize()
            assert [tool.name for tool in (await client.list_tools()).tools] == ["price", "weight"]
            assert (await client.call_tool("price", {"product": "pen"})).structured_content == {"won": 1200}
            weighed = await client.call_tool("weight", {"product": "pen"})
            assert weighed.is_error  # without structured content anything else is refused by the SDK
            assert "a few" in weighed.content[0].text
