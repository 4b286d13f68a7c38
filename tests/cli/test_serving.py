"""TLS for `naru serve` and towards upstream servers (A-07)."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import httpx2 as httpx
import pytest
from aiohttp import web
from tests.certificates import Certificates, make_certificates
from tests.connections.conftest import http, managed
from tests.connections.fake_http import FakeHttpServer
from tests.loopback import listening

from naru.cli.serve.listening import tls_of
from naru.config import ServerSettings
from naru.errors import ConfigError
from naru.web.gate.hosts import HostRules


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("tls"))


@pytest.mark.slow
@pytest.mark.parametrize("what", [[], ["hr"]], ids=["hub", "hr"])
def test_json_logs_are_json_from_the_first_line(tmp_path: Path, what: list[str]) -> None:
    command = [sys.executable, "-m", "naru.cli.main", "serve", *what, "--port", "0", "--host", "0.0.0.0"]
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(tmp_path),
        "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1",
        "NARU_LOG_FORMAT": "json",
    }
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = []
        for line in process.stderr:
            told.append(json.loads(line))
            if "Naru serves" in told[-1]["message"]:
                process.send_signal(signal.SIGINT)
        assert process.wait(timeout=90) == 0
    assert any("admin key" in one["message"] for one in told)
    (serves,) = [one["message"] for one in told if "Naru serves" in one["message"]]
    assert " on http://127.0.0.1:" in serves, "an address that answers under its own name"


@pytest.mark.slow
def test_programs_that_know_ollamas_port_alone_find_naru_there_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--port", "0", "--store", "memory:"]
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(tmp_path),
        "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1",
        "NARU_SERVER__OLLAMA_PORT": str(port),
    }
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            while "Naru serves" not in (line := process.stderr.readline()):
                assert line, "it ended before it served"
            # Both sockets listen already; what is asked now is answered once the server takes connections.
            for host in (f"localhost:{port}", f"127.0.0.1:{port}"):
                assert "version" in httpx.get(f"http://{host}/api/version", timeout=60).json()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=90) == 0


@pytest.mark.slow
def test_a_connection_that_was_idle_takes_the_next_request(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--port", "0", "--store", "memory:"]
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(tmp_path),
        "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1",
    }
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            while not (
                served := re.search(r"Naru serves.*http://127\.0\.0\.1:(\d+)", line := process.stderr.readline())
            ):
                assert line, "it ended before it served"
            connection = HTTPConnection("127.0.0.1", int(served[1]), timeout=60)
            connection.connect()
            first = connection.sock
            for idle in (0, 7):  # proxies keep connections for a minute; uvicorn's own default is 5 seconds
                time.sleep(idle)
                connection.request("GET", "/healthz")
                assert connection.getresponse().read()
            assert connection.sock is first
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=90) == 0


@pytest.mark.slow
def test_a07_naru_serves_https_with_hsts_and_its_own_pages_alone(certificates: Certificates, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--port", "0", "--store", "memory:"]
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(tmp_path),
        "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1",
        "NARU_SERVER__TLS_CERTIFICATE": str(certificates.certificate),
        "NARU_SERVER__TLS_KEY": str(certificates.key),
    }
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        address = next(line for line in process.stderr if "Naru serves" in line).split()[-1]
        assert address.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(certificates.authority))
        with httpx.Client(verify=trusted, base_url=address, timeout=60) as client:
            answer = client.get("/healthz")
            assert answer.json() == {"status": "ok"}
            assert answer.headers["strict-transport-security"].startswith("max-age=")
            assert client.get("/api/mcp/servers", headers={"Origin": address}).status_code == 200
            plain = address.replace("https", "http")
            assert client.get("/api/mcp/servers", headers={"Origin": plain}).status_code == 403
            with pytest.raises(httpx.TransportError):
                httpx.get(f"{plain}/healthz", timeout=60)
        with pytest.raises(httpx.TransportError, match=r"(?i)certificate"):
            httpx.get(f"{address}/healthz", timeout=60)
        environment["NARU_SERVER__PORT"] = address.rpartition(":")[2]
        asked = subprocess.run(
            [sys.executable, "-m", "naru.cli.main", "approvals", "list"],
            env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (asked.returncode, asked.stderr) == (0, "No call waits.\n"), "commands reach a hub behind TLS"
    finally:
        process.kill()
        process.communicate()


def test_a07_a_certificate_that_cannot_be_used_says_why(certificates: Certificates, tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("no certificate", encoding="utf-8")
    for given, says in (
        ({"tls_certificate": certificates.certificate}, "go together"),
        ({"tls_key": certificates.key}, "go together"),
        ({"tls_certificate": tmp_path / "absent.pem", "tls_key": certificates.key}, "No such file"),
        ({"tls_certificate": tmp_path / "none.pem", "tls_key": certificates.key}, "PEM"),
        ({"tls_certificate": certificates.authority, "tls_key": certificates.key}, "belong together"),
    ):
        with pytest.raises(ConfigError, match=says):
            tls_of(ServerSettings(**given))
    assert tls_of(ServerSettings()) is None


def test_s02_a07_with_tls_the_default_port_is_443(certificates: Certificates) -> None:
    rules = HostRules(ServerSettings(port=443, tls_certificate=certificates.certificate))
    assert rules.allows_host(b"localhost", ("127.0.0.1", 443))
    assert rules.allows_origin(b"https://localhost", ("127.0.0.1", 443))
    assert not rules.allows_origin(b"http://localhost", ("127.0.0.1", 443))


async def test_a07_an_upstream_is_trusted_by_its_own_ca_file_and_never_unchecked(
    certificates: Certificates, tmp_path: Path
) -> None:
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(certificates.certificate, certificates.key)
    fake = FakeHttpServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", fake._serve)
    runner, port = await listening(app, tls=served)
    url = f"https://127.0.0.1:{port}/mcp"
    (tmp_path / "none.pem").write_text("no certificate", encoding="utf-8")
    async with managed() as manager:
        await manager.register(http("unknown", url))
        assert not await manager.connect("unknown")
        told = manager.explain("unknown")
        assert told.failure is not None
        assert told.failure.code == "tls"
        assert "caFile" in told.remedy
        assert fake.seen.total() == 0
        await manager.register(http("known", url, caFile=str(certificates.authority)))
        assert await manager.connect("known"), manager.explain("known").summary
        assert (await manager.call_tool("known", "echo", {"text": "x"})).text == "x"
        for name, path in (("absent", tmp_path / "absent.pem"), ("none", tmp_path / "none.pem")):
            await manager.register(http(name, url, caFile=str(path)))
            assert not await manager.connect(name)
            assert path.name in manager.explain(name).summary
    await runner.cleanup()
