"""Where clients keep their settings, on each system."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.cli.clients.entries import CLIENTS
from naru.cli.clients.places import PLACES, PROJECT_PLACES, Machine, existing, place_of

HOME = Path("/home/kim")


@pytest.mark.parametrize(
    ("system", "client", "path"),
    [
        ("linux", "claude-desktop", "/home/kim/.config/Claude/claude_desktop_config.json"),
        ("darwin", "claude-desktop", "/home/kim/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "claude-desktop", "/roaming/Claude/claude_desktop_config.json"),
        ("linux", "vscode", "/home/kim/.config/Code/User/mcp.json"),
        ("darwin", "vscode", "/home/kim/Library/Application Support/Code/User/mcp.json"),
        ("win32", "vscode", "/roaming/Code/User/mcp.json"),
        ("linux", "cursor", "/home/kim/.cursor/mcp.json"),
        ("win32", "codex", "/home/kim/.codex/config.toml"),
        ("darwin", "windsurf", "/home/kim/.codeium/windsurf/mcp_config.json"),
        ("linux", "claude-code", "/home/kim/.claude.json"),
    ],
)
def test_a_client_keeps_its_settings_where_its_system_says(system: str, client: str, path: str) -> None:
    machine = Machine.of(system, HOME, {"APPDATA": "/roaming"})
    assert place_of(client).on(machine, Path("/p")) == Path(path)


def test_variables_move_the_folders() -> None:
    machine = Machine.of("linux", HOME, {"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c"})
    assert place_of("vscode").on(machine, Path()) == Path("/x/Code/User/mcp.json")
    assert place_of("codex").on(machine, Path()) == Path("/c/config.toml")


def test_files_of_the_project_are_looked_at_only_when_asked(tmp_path: Path) -> None:  # S-24
    (tmp_path / ".mcp.json").write_text("{}", encoding="utf-8")
    machine = Machine.of("linux", tmp_path / "home", {})
    assert list(existing(machine, tmp_path)) == []
    assert [path.name for _, path in existing(machine, tmp_path, project=True)] == [".mcp.json"]


def test_every_client_whose_file_is_written_has_a_place() -> None:
    assert {row.name for row in CLIENTS if row.kind} <= {place.client for place in PLACES}
    assert all(not place.path.startswith("{") for place in PROJECT_PLACES)
