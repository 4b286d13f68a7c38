"""Behind a real nginx with TLS, by the files of the how-to: keys are asked for, streams come through (N22)."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.certificates import Certificates, make_certificates
from tests.docs.fake_model import MODEL, fake_model
from tests.journeys.browser import open_browser
from tests.journeys.test_hr import wait_until_ready
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
NAME = "naru.example.com"
pytestmark = pytest.mark.slow


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is missing: apt-get install {name}")
    return found


PAGE = (ROOT / "docs" / "how-to" / "proxy.md").read_text(encoding="utf-8")


def block(info: str, number: int = 0) -> str:
    """Return a block of the how-to, without the indent of its list."""
    found = re.findall(rf"^ *```{re.escape(info)}\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(found[number])


def nginx_command(folder: Path, site: str) -> list[str]:
    temporary = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log stderr; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary}\n{site}\n}}\n",
        encoding="utf-8",
    )
    return [program("nginx"), "-c", str(config), "-p", str(folder)]


def nginx_site(hub_port: int, port: int, certificates: Certificates) -> str:
    """Return our file for nginx with this machine's ports and certificate."""
    site = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    site = site.replace("127.0.0.1:20006", f"127.0.0.1:{hub_port}").replace("listen 443", f"listen 127.0.0.1:{port}")
    site = re.sub(r"(ssl_certificate\s+)\S+;", rf"\g<1>{certificates.certificate};", site)
    return re.sub(r"(ssl_certificate_key\s+)\S+;", rf"\g<1>{certificates.key};", site)


def caddy_command(folder: Path, site: str, port: int, certificates: Certificates) -> list[str]:
    """Write a Caddyfile of the how-to with this machine's port and certificate."""
    site = site.replace("{\n", f"{{\n    tls {certificates.certificate} {certificates.key}\n    bind 127.0.0.1\n", 1)
    options = f"{{\n    admin off\n    auto_https disable_redirects\n    https_port {port}\n}}\n"
    (folder / "Caddyfile").write_text(options + site, encoding="utf-8")
    return [program("caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


@contextmanager
def hub_behind(
    folder: Path, settings_text: str, name: str, before: Callable[[int, int, Certificates], list[str]]
) -> Iterator[tuple[httpx.Client, str, int]]:
    """Start a hub and a proxy before it: a client that comes by the name, the first key, the proxy's port."""
    certificates = make_certificates(folder / "certificates")
    hub_port, port = free_port(), free_port()
    settings = folder / "naru.yaml"
    settings.write_text(settings_text, encoding="utf-8")
    settings.chmod(0o600)
    with fake_model() as model_url:
        environment = {
            **os.environ,
            "NARU_HUB__DATA_DIR": str(folder / "data"),
            "NARU_MODEL__BASE_URL": model_url,
            "NARU_MODEL__MODEL": MODEL,
        }
        serve = [sys.executable, "-m", "naru.cli.main", "serve", "--port", str(hub_port), "--config", str(settings)]
        command = before(hub_port, port, certificates)
        hub = subprocess.Popen(serve, env=environment)
        homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
        proxy = subprocess.Popen(command, env={**os.environ, **homes})
        try:
            wait_until_ready(f"http://127.0.0.1:{hub_port}", hub)
            wait_for(port, proxy)
            trusted = ssl.create_default_context(cafile=str(certificates.authority))
            key = (folder / "data" / "admin.key").read_text(encoding="utf-8").strip()
            with httpx.Client(
                base_url=f"https://127.0.0.1:{port}", headers={"Host": name}, verify=trusted, timeout=90
            ) as client:
                yield client, key, port
        finally:
            for process in (proxy, hub):
                process.terminate()
                process.wait(timeout=90)


@pytest.fixture(scope="module")
def behind_nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, str]]:
    """A hub as the how-to starts it behind nginx with our file."""
    folder = tmp_path_factory.mktemp("proxy")

    def before(hub_port: int, port: int, certificates: Certificates) -> list[str]:
        return nginx_command(folder, nginx_site(hub_port, port, certificates))

    with hub_behind(folder, block("yaml"), NAME, before) as (client, key, _):
        yield client, key


@pytest.fixture(scope="module", params=["nginx", "nginx cutting the path off", "caddy"])
def below_a_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx.Client, str, int]]:
    """A hub below `/naru/` of another site, by the blocks of the how-to."""
    folder = tmp_path_factory.mktemp("below")

    def before(hub_port: int, port: int, certificates: Certificates) -> list[str]:
        if request.param == "caddy":
            site = block("text file=Caddyfile.below").replace("20006", str(hub_port))
            return caddy_command(folder, site, port, certificates)
        site = nginx_site(hub_port, port, certificates).replace(NAME, "example.com")
        below = block("text file=below.conf")
        if request.param != "nginx":
            below = below.replace("proxy_pass http://naru;", "proxy_pass http://naru/;", 1)
        site = re.sub(r"    location / \{.*?\n    \}", lambda _: below, site, flags=re.DOTALL)
        return nginx_command(folder, site)

    with hub_behind(folder, block("yaml", 1), "example.com", before) as opened:
        yield opened


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens there, while the process lives."""
    for _ in range(600):
        assert process.poll() is None, "the proxy has ended; its own words are above"
        with socket.socket() as tried:
            tried.settimeout(0.1)
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
    pytest.fail("the proxy does not listen")


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
    accepted = {"Accept": "application/json, text/event-stream", "X-API-Key": key}
    assert client.post("/mcp", json=rpc("initialize", **HELLO), headers=accepted).status_code == 200


def rpc(method: str, number: int = 1, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def test_line4_every_link_counts_from_the_path_below_which_it_is_served(
    below_a_path: tuple[httpx.Client, str, int],
) -> None:
    client, key, _ = below_a_path
    assert client.get("/naru/v1/models").status_code == 401
    with_key = {"X-API-Key": key}
    assert client.get("/naru/v1/models", headers=with_key).status_code == 200
    page = client.get("/naru/")
    for link in re.findall(r'(?:src|href)="([^"#]+)"', page.text):
        assert client.get(page.url.join(link)).status_code == 200, link
    assert client.get("/naru/openapi.json", headers=with_key).json()["servers"] == [{"url": "/naru"}]
    made = client.post("/naru/api/keys", json={"role": "read"}, headers=with_key)
    assert made.headers["location"].startswith("/naru/api/keys/")
    session = client.post("/naru/api/session", headers={**with_key, "Origin": "https://example.com"})
    assert "Path=/naru/;" in session.headers["set-cookie"]
    client.cookies.clear()


def test_line4_the_event_stream_of_old_clients_names_its_address_below_the_path(
    below_a_path: tuple[httpx.Client, str, int],
) -> None:
    client, key, _ = below_a_path
    with_key = {"X-API-Key": key}
    with client.stream("GET", "/naru/sse", headers=with_key) as stream:
        lines = stream.iter_lines()
        address = next(line.removeprefix("data: ") for line in lines if line.startswith("data: "))
        assert address.startswith("/naru/sse/message?session_id=")
        assert client.post(address, json=rpc("initialize", **HELLO), headers=with_key).status_code == 202
        assert '"serverInfo"' in next(line for line in lines if line.startswith("data: "))
    answered = client.post("/naru/mcp", json=rpc("initialize", **HELLO), headers=with_key)
    assert answered.status_code == 200
    assert answered.headers["mcp-session-id"]


def test_line4_the_console_signs_in_and_follows_changes_below_the_path(
    below_a_path: tuple[httpx.Client, str, int], tmp_path: Path
) -> None:
    _, key, port = below_a_path
    flags = ("--ignore-certificate-errors", f"--host-resolver-rules=MAP example.com:443 127.0.0.1:{port}")
    with open_browser("https://example.com/naru", tmp_path, *flags) as browser:
        browser.driver.get("https://example.com/naru/")
        browser.find("input[type=password]").send_keys(key)
        browser.driver.switch_to.active_element.submit()
        browser.wait(lambda: browser.driver.find_elements("css selector", "#foot .who"))
        browser.open("clients")
        browser.sees("https://example.com/naru/v1", "https://example.com/naru/mcp")
        browser.open("servers")
        entry = {"name": "far", "config": {"url": "https://far.example/mcp"}, "autoConnect": False}
        browser.fetch("./api/mcp/servers", "POST", json.dumps(entry))
        browser.sees("far")
        assert browser.complaints() == []


def test_line4_who_guesses_keys_is_told_to_wait_and_nobody_else_behind_the_proxy(
    behind_nginx: tuple[httpx.Client, str],
) -> None:
    client, key = behind_nginx
    for _ in range(7):
        guessed = client.get("/v1/models", headers={"X-API-Key": "naru_wrong"})
    assert guessed.status_code == 429
    assert client.get("/v1/models", headers={"X-API-Key": key}).status_code == 200


def test_caddy_takes_the_file_of_the_how_to(tmp_path: Path) -> None:
    (tmp_path / "Caddyfile").write_text(block("text file=Caddyfile"), encoding="utf-8")
    command = [program("caddy"), "validate", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
