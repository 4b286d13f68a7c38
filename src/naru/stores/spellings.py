"""The keys of a server's entry as other products spell them, turned into ours; what is unknown stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naru.config.mcp import as_text

_SAME = {
    "url": ("serverUrl", "httpUrl", "server_url", "uri"),
    "command": ("cmd",),
    "env": ("environment", "envs"),
    "headers": ("http_headers", "httpHeaders"),
    "disabledTools": ("excludeTools",),
    "allowedTools": ("includeTools", "enabled_tools"),
}
"""Our key, and what it is called elsewhere: Windsurf, Gemini CLI, Goose, opencode, Codex."""


def understood(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with our keys, texts where texts are meant, and a command that is one program."""
    known = dict(entry)
    for ours, others in _SAME.items():
        for other in others:
            if other in known:
                value = known.pop(other)
                known.setdefault(ours, value)
    _flatten_transport(known)
    _split_command(known)
    for field in ("args", "env", "headers"):
        if field in known:
            known[field] = _texts(known[field])
    _take_codex_secrets(known)
    return known


def _flatten_transport(known: dict[str, Any]) -> None:
    """Read `"transport": {"type": "sse", …}` of registries, and `"requestInit": {"headers": …}` of Node clients."""
    request = known.get("requestInit")
    if isinstance(request, dict) and isinstance(request.get("headers"), dict):
        known["headers"] = {**request["headers"], **(known.get("headers") or {})}
        del known["requestInit"]
    transport = known.get("transport")
    if isinstance(transport, dict):
        del known["transport"]
        for key, value in transport.items():
            known.setdefault(key, value)


def _split_command(known: dict[str, Any]) -> None:
    """Read a command given as a list (opencode), or as `{path, args, env}` (Zed)."""
    command = known.get("command")
    if isinstance(command, dict) and isinstance(command.get("path"), str):
        known["command"] = command["path"]
        for key in ("args", "env"):
            if command.get(key) is not None:
                known.setdefault(key, command[key])
    elif isinstance(command, list) and command and all(isinstance(part, str) for part in command):
        rest = known.get("args")
        known["command"], known["args"] = command[0], [*command[1:], *(rest if isinstance(rest, list) else [])]


def _texts(value: Any) -> Any:
    """Turn numbers and booleans into the text they stand for: YAML and hand-written JSON leave out quotes."""
    if isinstance(value, list):
        return [as_text(item) for item in value]
    if isinstance(value, dict):
        return {key: as_text(item) for key, item in value.items() if item is not None}
    return value


def _take_codex_secrets(known: dict[str, Any]) -> None:
    """Read Codex's names of variables that hold secrets as placeholders."""
    headers = known.get("headers") or {}
    named = known.pop("env_http_headers", None)
    if isinstance(named, dict):
        headers = {**headers, **{header: f"${{{variable}}}" for header, variable in named.items()}}
    variable = known.pop("bearer_token_env_var", None)
    if isinstance(variable, str) and variable:
        headers = {**headers, "Authorization": f"Bearer ${{{variable}}}"}
    if headers:
        known["headers"] = headers
