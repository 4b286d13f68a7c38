"""Several real hubs on one real PostgreSQL behind a real nginx, as processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx

from tests.deploy.test_proxy import nginx_command, wait_for
from tests.docs.fake_model import MODEL, fake_model
from tests.journeys.test_hr import wait_until_ready
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
ADMIN_KEY = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"
SERVER = ROOT / "tests" / "fixtures" / "servers" / "asking_server.py"
HELLO = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "t", "version": "1"}}
MODERN = "2026-07-28"
NGINX = """
upstream hubs {{
{servers}
}}
server {{
    listen 127.0.0.1:{port};
    location / {{
        proxy_pass http://hubs;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        proxy_buffering off;
        proxy_read_timeout 1h;
        proxy_connect_timeout 1s;
    }}
}}
"""


@dataclass
class Cluster:
    """What runs, and one client for each way in; `ways[0]` leads through nginx, the others to one hub each."""

    hubs: list[subprocess.Popen[bytes]]
    urls: list[str]
    proxy: str
    folders: list[Path]
    store: str
    clients: list[httpx.Client] = field(default_factory=list)

    def way(self, number: int | None = None, key: str = ADMIN_KEY) -> httpx.Client:
        """Return a client that comes through nginx, or to one hub."""
        url = self.proxy if number is None else self.urls[number]
        client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=90)
        self.clients.append(client)
        return client

    def kill(self, number: int) -> None:
        """End a hub as a power cut does."""
        self.hubs[number].send_signal(signal.SIGKILL)
        self.hubs[number].wait(30)


def eventually(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until a condition holds, and return what it says; bounded."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds:g} s")


@contextmanager
def cluster(folder: Path, store: str, count: int = 3, *, site: str = NGINX, **environment: str) -> Iterator[Cluster]:
    """Start hubs on a store behind nginx with that site; environment variables are added to theirs."""
    ports = [free_port() for _ in range(count)]
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    servers = "\n".join(f"    server 127.0.0.1:{one} max_fails=1 fail_timeout=1s;" for one in ports)
    site = site.format(servers=servers, port=port)
    with fake_model() as model_url:
        folders = [folder / f"data{number}" for number in range(count)]
        hubs = [
            subprocess.Popen(
                [sys.executable, "-m", "naru.cli.main", "serve", "--port", str(one)],
                env={
                    **os.environ,
                    "NARU_HUB__DATA_DIR": str(data),
                    "NARU_HUB__STORE": store,
                    "NARU_HUB__REPLICA_ADDRESS": "auto",
                    "NARU_SERVER__API_KEY": ADMIN_KEY,
                    "NARU_SERVER__ALLOWED_HOSTS": json.dumps([f"127.0.0.1:{port}", *(f"127.0.0.1:{p}" for p in ports)]),
                    "NARU_SERVER__RATE_LIMIT_PER_MINUTE": "0",
                    "NARU_MODEL__BASE_URL": model_url,
                    "NARU_MODEL__MODEL": MODEL,
                    "NARU_MCP__SECURITY__ALLOW_REMOTE_EXEC": "true",
                    "NARU_MCP__SECURITY__ALLOWED_COMMANDS": json.dumps([sys.executable]),
                    **environment,
                },
            )
            for one, data in zip(ports, folders, strict=True)
        ]
        proxy = subprocess.Popen(nginx_command(folder, site))
        made = Cluster(hubs, [f"http://127.0.0.1:{one}" for one in ports], f"http://127.0.0.1:{port}", folders, store)
        try:
            for url, hub in zip(made.urls, hubs, strict=True):
                wait_until_ready(url, hub)
            wait_for(port, proxy)
            yield made
        finally:
            for client in made.clients:
                client.close()
            for process in (proxy, *hubs):
                process.terminate()
            for process in (proxy, *hubs):
                process.wait(timeout=90)


def rpc(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def open_session(way: httpx.Client, **capabilities: Any) -> dict[str, str]:
    """Open a session of an older protocol version; return the headers that go with its requests."""
    answer = way.post("/mcp", json=rpc("initialize", **HELLO, capabilities=capabilities))
    assert answer.status_code == 200, answer.text
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "Accept": "application/json, text/event-stream"}
    done = way.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
    assert done.status_code == 202, done.text
    return session


def call(way: httpx.Client, session: dict[str, str], tool: str, number: int = 2, **arguments: Any) -> dict[str, Any]:
    """Call a tool within a session; return the answer's message."""
    answer = way.post("/mcp", json=rpc("tools/call", number, name=tool, arguments=arguments), headers=session)
    return message_of(answer)


def message_of(answer: httpx.Response) -> dict[str, Any]:
    """Return the last message of a POST's answer, whichever form it has."""
    return messages_of(answer.text)[-1]


def messages_of(text: str) -> Sequence[dict[str, Any]]:
    """Return the messages of a body, JSON or events."""
    if text.lstrip().startswith("{"):
        return [json.loads(text)]
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ") and len(line) > 6]


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a tool's result."""
    return str(message["result"]["content"][0]["text"])


def register(way: httpx.Client, name: str = "asking") -> None:
    """Register our test server, as an admin does over HTTP."""
    config = {"command": sys.executable, "args": [str(SERVER)], "ask": ["elicitation"]}
    made = way.post("/api/mcp/servers", json={"name": name, "config": config, "autoConnect": True})
    assert made.status_code == 201, made.text


def offers(way: httpx.Client, tool: str) -> bool:
    """Tell whether a hub offers a tool now."""
    return any(one["name"] == tool for one in way.get("/api/tools").json()["tools"])
