"""Behind a real nginx with TLS, by the files of the how-to: keys are asked for, streams come through (N22)."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.certificates import make_certificates
from tests.docs.fake_model import MODEL, fake_model
from tests.journeys.test_hr import free_port, wait_until_ready

ROOT = Path(__file__).parents[2]
NAME = "naru.example.com"
pytestmark = pytest.mark.slow


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is missing: apt-get install {name}")
    return found


@pytest.fixture(scope="module")
def behind_nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, str]]:
    """A hub as the how-to starts it behind nginx with our file: a client that comes by the name, and the first key."""
    nginx, folder = program("nginx"), tmp_path_factory.mktemp("proxy")
    certificates = make_certificates(folder)
    hub_port, port = free_port(), free_port()
    page = (ROOT / "docs" / "how-to" / "proxy.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert block is not None
    settings = folder / "naru.yaml"
    settings.write_text(re.sub(r"^   ", "", block[1], flags=re.MULTILINE))
    settings.chmod(0o600)
    site = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    site = site.replace("127.0.0.1:20006", f"127.0.0.1:{hub_port}").replace("listen 443", f"listen 127.0.0.1:{port}")
    site = re.sub(r"(ssl_certificate\s+)\S+;", rf"\g<1>{certificates.certificate};", site)
    site = re.sub(r"(ssl_certificate_key\s+)\S+;", rf"\g<1>{certificates.key};", site)
    config = folder / "nginx.conf"
    temporary = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config.write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log stderr; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary}\n{site}\n}}\n"
    )
    with fake_model() as model_url:
        environment = {
            **os.environ,
            "NARU_HUB__DATA_DIR": str(folder / "data"),
            "NARU_MODEL__BASE_URL": model_url,
            "NARU_MODEL__MODEL": MODEL,
        }
        serve = [sys.executable, "-m", "naru.cli.main", "serve", "--port", str(hub_port), "--config", str(settings)]
        hub = subprocess.Popen(serve, env=environment)
        proxy = subprocess.Popen([nginx, "-c", str(config), "-p", str(folder)])
        try:
            wait_until_ready(f"http://127.0.0.1:{hub_port}", hub)
            wait_for(port, proxy)
            trusted = ssl.create_default_context(cafile=str(certificates.authority))
            key = (folder / "data" / "admin.key").read_text().strip()
            with httpx.Client(
                base_url=f"https://127.0.0.1:{port}", headers={"Host": NAME}, verify=trusted, timeout=90
            ) as client:
                yield client, key
        finally:
            for process in (proxy, hub):
                process.terminate()
                process.wait(timeout=90)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens there, while the process lives."""
    for _ in range(600):
        assert process.poll() is None, "nginx has ended; its own words are above"
        with socket.socket() as tried:
            tried.settimeout(0.1)
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
    pytest.fail("nginx does not listen")


def test_n22_nobody_comes_in_without_a_key(behind_nginx: tuple[httpx.Client, str]) -> None:
    client, key = behind_nginx
    assert client.get("/v1/models").status_code == 401
    refused = client.post("/api/mcp/servers", json={"name": "x", "config": {"url": "https://h/mcp"}})
    assert refused.status_code == 401
    assert client.get("/v1/models", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert client.get("/v1/models", headers={"Host": "another.example", "X-API-Key": key}).status_code in (421, 404)


def test_n22_the_console_and_streams_come_through(behind_nginx: tuple[httpx.Client, str]) -> None:
    client, key = behind_nginx
    page = client.get("/")
    assert page.status_code == 200
    assert "<script" in page.text
    body = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    with client.stream("POST", "/v1/chat/completions", json=body, headers={"X-API-Key": key}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.iter_lines() if line]
    assert lines[-1] == "data: [DONE]"
    origin = f"https://{NAME}"
    signed_in = client.post("/api/session", headers={"Authorization": f"Bearer {key}", "Origin": origin})
    assert signed_in.status_code < 300
    client.cookies.clear()  # One key is enough.
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    accepted = {"Accept": "application/json, text/event-stream", "X-API-Key": key}
    assert client.post("/mcp", json=rpc, headers=accepted).status_code == 200


def test_caddy_takes_the_file_of_the_how_to(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "proxy.md").read_text(encoding="utf-8")
    block = re.search(r"```text file=Caddyfile\n(.*?)```", page, re.DOTALL)
    assert block is not None
    (tmp_path / "Caddyfile").write_text(block[1])
    command = [program("caddy"), "validate", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
