"""Commands and the port where they look for a hub: another program that has it is none, whatever it answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loopback import QuietHandler, answering

from naru.cli import running_hub
from naru.cli.running_hub import RunningHub
from naru.cli.terminal.exit_codes import Exit


class Stranger(QuietHandler):
    """A program that answers everything with JSON of its own."""

    def do_GET(self) -> None:
        self.send_json({"object": "list", "data": []})


@pytest.fixture
def stranger(naru, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with answering(Stranger) as url:
        monkeypatch.setenv("NARU_SERVER__PORT", url.rpartition(":")[2])
        yield url


def test_beside_a_stranger_a_command_goes_by_the_store_as_without_a_hub(naru, stranger: str) -> None:
    naru("servers", "add", "docs", "https://h/mcp")
    assert "docs" in naru("servers", "list").stdout
    assert "No call waits" in naru("approvals", "list").stderr


def test_what_only_a_hub_knows_is_not_asked_of_a_stranger(naru, stranger: str) -> None:
    naru("servers", "add", "docs", "https://h/mcp")
    told = naru("servers", "logs", "docs", code=Exit.UNREACHABLE).stderr
    assert f"What answers at {stranger} is no Naru hub." in told
    assert "NARU_SERVER__PORT" in told


@pytest.mark.parametrize(
    "command",
    [
        ("servers", "logs", "docs"),
        ("servers", "explain", "docs"),
        ("tools", "list"),
        ("approvals", "list"),
        ("chat", "?"),
    ],
    ids=" ".join,
)
def test_a_hub_that_is_busy_is_not_told_for_one_that_is_away(
    naru, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """N10: the port is taken, and nobody answers in time; what the hub has open is not opened a second time."""
    monkeypatch.setattr(RunningHub.__init__, "__kwdefaults__", {"timeout_seconds": 0.2})
    monkeypatch.setattr(running_hub, "_PATIENCE_SECONDS", 0.2)
    naru("servers", "add", "docs", "https://h/mcp")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("NARU_SERVER__PORT", str(listening.getsockname()[1]))
        told = naru(*command, code=Exit.UNREACHABLE).stderr
        assert "docs" in naru("servers", "list").stdout, "what is registered is in the store, whatever the hub does"
    assert "did not answer in time" in told
    assert "busy" in told
    assert "start it" not in told


def test_a_ticket_is_run_by_the_hub_of_the_settings_file(naru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text("server: {port: 10}\n", encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.delenv("NARU_SERVER__PORT")
    monkeypatch.setenv("NARU_CONFIG", str(file))
    assert "http://127.0.0.1:10" in naru("tool", "run", "--ticket", "t", code=Exit.UNREACHABLE).stderr
