"""Where MCP clients keep their settings, on Linux, macOS and Windows, as rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from naru.config import environment


@dataclass(frozen=True, slots=True)
class Machine:
    """What the paths of settings depend on."""

    home: Path
    apps: Path
    """Where applications keep settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`."""
    codex: Path

    @classmethod
    def this(cls) -> Machine:
        """Return the machine that this runs on."""
        return cls.of(sys.platform, Path.home(), environment())

    @classmethod
    def of(cls, system: str, home: Path, variables: Mapping[str, str]) -> Machine:
        """Return a machine of a system (`linux`, `darwin`, `win32`) with these environment variables."""
        codex = Path(variables.get("CODEX_HOME") or home / ".codex")
        match system:
            case "darwin":
                apps = home / "Library" / "Application Support"
            case "win32":
                apps = Path(variables.get("APPDATA") or home / "AppData" / "Roaming")
            case _:
                apps = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
        return cls(home, apps, codex)


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a client that may name MCP servers."""

    client: str
    title: str
    path: str
    """With `{home}`, `{apps}`, `{codex}`; without any of them it is below the working directory."""

    def on(self, machine: Machine, folder: Path) -> Path:
        """Return the path on a machine, for a project in `folder`."""
        # Not str.format: a home folder may hold braces.
        root, _, rest = self.path.partition("/")
        roots = {"{home}": machine.home, "{apps}": machine.apps, "{codex}": machine.codex}
        return roots[root] / rest if root in roots else folder / self.path


_CODE = "{apps}/Code/User"
PLACES = (
    Place("claude-desktop", "Claude Desktop", "{apps}/Claude/claude_desktop_config.json"),
    Place("claude-code", "Claude Code", "{home}/.claude.json"),
    Place("cursor", "Cursor", "{home}/.cursor/mcp.json"),
    Place("vscode", "VS Code", f"{_CODE}/mcp.json"),
    Place("vscode", "VS Code", f"{_CODE}/settings.json"),
    Place("vscode", "VS Code Insiders", "{apps}/Code - Insiders/User/mcp.json"),
    Place("vscode", "VSCodium", "{apps}/VSCodium/User/mcp.json"),
    Place("codex", "Codex", "{codex}/config.toml"),
    Place("windsurf", "Windsurf", "{home}/.codeium/windsurf/mcp_config.json"),
    Place("cline", "Cline", f"{_CODE}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    Place("cline", "Cline", "{home}/.cline/data/settings/cline_mcp_settings.json"),
    Place("roo", "Roo Code", f"{_CODE}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    Place("kilo", "Kilo Code", f"{_CODE}/globalStorage/kilocode.kilo-code/settings/mcp_settings.json"),
    Place("copilot", "Copilot", "{home}/.copilot/mcp-config.json"),
    Place("gemini", "Gemini CLI", "{home}/.gemini/settings.json"),
    Place("continue", "Continue", "{home}/.continue/config.yaml"),
    Place("void", "Void", "{home}/.void-editor/mcp.json"),
    Place("lm-studio", "LM Studio", "{home}/.lmstudio/mcp.json"),
    Place("kiro", "Kiro", "{home}/.kiro/settings/mcp.json"),
)
"""A person's own files; the first of a client is the one that `naru connect` writes."""
PROJECT_PLACES = (
    Place("project", ".mcp.json here", ".mcp.json"),
    Place("cursor", "Cursor, here", ".cursor/mcp.json"),
    Place("vscode", "VS Code, here", ".vscode/mcp.json"),
    Place("codex", "Codex, here", ".codex/config.toml"),
    Place("gemini", "Gemini CLI, here", ".gemini/settings.json"),
    Place("roo", "Roo Code, here", ".roo/mcp.json"),
)
"""Files of the project in the working directory: read only when asked for, since they may be anybody's (S-24)."""


def existing(machine: Machine, folder: Path, *, project: bool = False) -> Iterator[tuple[Place, Path]]:
    """Yield the places whose file is there, with its path."""
    for place in (*PLACES, *(PROJECT_PLACES if project else ())):
        path = place.on(machine, folder)
        if path.is_file():
            yield place, path


def place_of(client: str) -> Place:
    """Return the file that a client's own settings are in. Raises KeyError."""
    return {place.client: place for place in reversed(PLACES)}[client]
