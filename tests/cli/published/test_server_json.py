"""The registry's `server.json`: npm, PyPI, OCI, remotes, their inputs, and what must not pass (issue 22, line 10)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import QuietHandler, answering

from naru.cli.published.inputs import answer
from naru.cli.published.server_json import read_server_json
from naru.errors import ConfigError

SECRET = "Zq7xW2pLm9vRt4sB8nKc3Jd6"
NPM = {
    "registryType": "npm", "identifier": "@kim/weather", "version": "1.0.2", "transport": {"type": "stdio"},
    "runtimeArguments": [{"type": "named", "name": "--registry", "value": "https://npm.example"}],
    "packageArguments": [
        {"type": "positional", "valueHint": "city", "isRequired": True},
        {"type": "named", "name": "--units", "default": "metric", "choices": ["metric", "imperial"]},
        {"type": "named", "name": "--tag", "isRepeated": True},
        {"type": "named", "name": "--db", "value": "file:{path}/w.db", "variables": {"path": {"default": "/tmp"}}},
    ],
    "environmentVariables": [
        {"name": "WEATHER_KEY", "isRequired": True, "isSecret": True, "description": "Your key"},
        {"name": "DEBUG", "format": "boolean"},
    ],
}  # fmt: skip
PYPI = {"registry_type": "pypi", "identifier": "weather-server", "version": "0.3", "transport": {"type": "stdio"}}
OCI = {
    "registryType": "oci", "identifier": "docker.io/kim/weather", "version": "1.2",
    "environmentVariables": [{"name": "KEY", "isRequired": True}],
    "packageArguments": [{"type": "positional", "value": "serve"}],
}  # fmt: skip
REMOTE = {
    "type": "streamable-http", "url": "https://{tenant}.example.com/mcp",
    "variables": {"tenant": {"isRequired": True, "description": "Your tenant"}},
    "headers": [
        {
            "name": "Authorization", "value": "Bearer {token}",
            "variables": {"token": {"isRequired": True, "isSecret": True}},
        },
    ],
}  # fmt: skip


def document(*packages: Any, remotes: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    told = {"name": "io.github.kim/weather", "description": "Weather.", "version": "1.0.2", **more}
    return {**told, "packages": list(packages), "remotes": remotes or []}


def entry(document: dict[str, Any], *given: str, way: str = "") -> dict[str, Any]:
    chosen = read_server_json(document, "it").choose(way)
    return chosen.make(answer(chosen.inputs, given))


def test_an_npm_package_gets_its_arguments_in_their_places() -> None:
    made = entry(document(NPM), "city=Busan", f"WEATHER_KEY={SECRET}", "tag=a", "tag=b c")
    assert made == {
        "command": "npx",
        "args": [
            "-y", "--registry", "https://npm.example", "@kim/weather@1.0.2",
            "Busan", "--units", "metric", "--tag", "a", "--tag", "b c", "--db", "file:/tmp/w.db",
        ],
        "env": {"WEATHER_KEY": SECRET},
    }  # fmt: skip


def test_pypi_oci_and_remotes_are_read_in_old_and_new_spelling() -> None:
    assert entry(document(PYPI)) == {"command": "uvx", "args": ["weather-server@0.3"]}
    assert entry(document(OCI), "KEY=k") == {
        "command": "docker",
        "args": ["run", "-i", "--rm", "-e", "KEY", "docker.io/kim/weather:1.2", "serve"],
        "env": {"KEY": "k"},
    }
    assert entry(document(remotes=[REMOTE]), "tenant=kim", f"token={SECRET}") == {
        "type": "http",
        "url": "https://kim.example.com/mcp",
        "headers": {"Authorization": f"Bearer {SECRET}"},
    }
    old = {"name": "x", "version_detail": {"version": "2"}, "packages": [{"registry_name": "npm", "name": "weather"}]}
    assert entry(old) == {"command": "npx", "args": ["-y", "weather@2"]}
    around = {"server": document(PYPI), "_meta": {}}
    assert entry(around)["command"] == "uvx"


def test_a_way_is_chosen_and_what_cannot_be_used_is_named() -> None:
    both = document({"registryType": "nuget", "identifier": "W"}, PYPI, remotes=[REMOTE])
    assert entry(both, "tenant=t", "token=s", way="remote")["type"] == "http"
    with pytest.raises(ConfigError, match=r"offers nothing that is run here .nuget is not started here"):
        entry(document({"registryType": "nuget", "identifier": "W"}))
    with pytest.raises(ConfigError, match="offers pypi, remote"):
        entry(both, way="oci")


@pytest.mark.parametrize(
    "package",
    [
        {**NPM, "identifier": "--eval=process.exit()"},
        {**NPM, "identifier": "a b"},
        {**NPM, "identifier": "x; rm -rf /"},
        {**NPM, "version": "--yes"},
        {**PYPI, "identifier": "--from=evil"},
        {**PYPI, "identifier": "git+https://x/y"},
        {**PYPI, "identifier": ""},
        {**OCI, "identifier": "--privileged"},
        {**OCI, "identifier": "-v/:/host"},
    ],
    ids=lambda one: f"{one['identifier']} {one['version']}",
)  # fmt: skip
def test_a_name_that_is_an_option_or_a_command_is_refused(package: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="is no package of"):
        read_server_json(document(package), "it")


@pytest.mark.parametrize(
    "package",
    [
        {**PYPI, "environmentVariables": [{"name": "X", "value": "${AWS_SECRET_ACCESS_KEY}"}]},
        {**PYPI, "environmentVariables": [{"name": "X", "default": "$AWS_SECRET_ACCESS_KEY"}]},
        {**PYPI, "packageArguments": [{"type": "positional", "value": "{env:HOME}"}]},
        {
            **PYPI,
            "packageArguments": [{"type": "positional", "value": "${x}", "variables": {"x": {"default": "{HOME}"}}}],
        },
    ],
    ids=range(4),
)
def test_a_document_reads_no_variable_of_this_machine(package: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="reads a variable of this machine"):
        entry(document(package))


@pytest.mark.parametrize(
    "odd",
    [
        None,
        [],
        "x",
        3,
        {},
        {"name": 3},
        {"name": "x", "packages": {"a": 1}, "remotes": [3]},
        {"name": "x", "remotes": [{"type": "sse", "url": "http://[x"}]},
    ],
)
def test_an_odd_document_is_told(odd: Any) -> None:
    with pytest.raises(ConfigError):
        read_server_json(odd, "it").choose("")


def test_a_server_json_is_shown_with_its_secret_hidden_then_added(naru: Any, tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text(json.dumps(document(NPM)), encoding="utf-8")
    given = ["--set", "city=Busan", "--set", f"WEATHER_KEY={SECRET}"]
    twice = naru("servers", "add", "weather", "server.json", *given, "--set", "city=Seoul", code=2)
    assert "--set city was given more than once" in twice.stderr
    shown = naru("servers", "add", "weather", "server.json", *given, code=1)
    assert "npx -y" in shown.stderr
    assert "with WEATHER_KEY=••••" in shown.stderr
    assert SECRET not in shown.stderr
    naru("servers", "add", "weather", "server.json", *given, "--yes")
    kept = json.loads(naru("servers", "export", "--with-secrets").stdout)["mcpServers"]["weather"]
    assert kept["env"] == {"WEATHER_KEY": SECRET}
    lists = tmp_path / "mcp.json"
    lists.write_text('{"mcpServers": {}}', encoding="utf-8")
    assert "naru import" in naru("servers", "add", "x", "mcp.json", code=2).stderr


class Registry(QuietHandler):
    """Knows one server."""

    asked: list[str] = []  # noqa: RUF012 - of the class, for the test to read

    def do_GET(self) -> None:
        self.asked.append(self.path)
        known = self.path == "/v0.1/servers/io.github.kim%2Fweather/versions/latest"
        self.send_json({"server": document(PYPI)} if known else {}, 200 if known else 404)


@pytest.fixture
def registry() -> Iterator[str]:
    Registry.asked.clear()
    with answering(Registry) as url:
        yield url


def test_a_registry_is_asked_only_where_one_is_set(naru: Any, registry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = naru("servers", "add", "weather", "registry:io.github.kim/weather", "--yes", code=2)
    assert "none was asked" in refused.stderr
    assert "mcp.registry_url" in refused.stderr
    assert Registry.asked == []
    monkeypatch.setenv("NARU_MCP__REGISTRY_URL", registry)
    naru("servers", "add", "weather", "registry:io.github.kim/weather", "--yes")
    assert json.loads(naru("servers", "export").stdout)["mcpServers"]["weather"]["args"] == ["weather-server@0.3"]
    assert "has no server" in naru("servers", "add", "x", "registry:io.github.kim/nothing", "--yes", code=3).stderr
    monkeypatch.setenv("NARU_MCP__REGISTRY_URL", "http://[::1")
    assert "is no http" in naru("servers", "add", "x", "registry:io.github.kim/weather", "--yes", code=2).stderr
    monkeypatch.setenv("NARU_MCP__REGISTRY_URL", "http://127.0.0.1:9")
    assert (
        "No registry answers" in naru("servers", "add", "x", "registry:io.github.kim/weather", "--yes", code=5).stderr
    )
