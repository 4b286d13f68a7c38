"""The keys of a server's entry as people and other products spell and place them, turned into ours.

What is read here is read the same by `serve`, `validate`, `import` and `servers check`. A key means ours whatever its
case, dashes and underscores; what stands in a table of options is lifted out of it. What is unknown stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from naru.config.mcp import as_table, as_text

PROGRAM_KEYS = frozenset({"command", "args", "env", "cwd", "envFile"})
URL_KEYS = frozenset({"url", "headers", "auth", "caFile", "endpointPrefix", "forwardHeaders"})
COMMON_KEYS = frozenset(
    "timeout startTimeout protocol disabled enabled allowedTools allowed_tools includedTools tools_to_execute "
    "disabledTools disabled_tools excludedTools excluded_tools toolFilter alwaysAllow autoApprove icon iconUrl limits "
    "ask lazy idleStopMs isolation credentials run tellPerson".split()
)
"""Keys of a config that go with every transport."""

_SAME = {
    "url": ("serverUrl", "httpUrl", "uri", "endpoint"),
    "command": ("cmd",),
    "env": ("environment", "envs", "environmentVariables"),
    "headers": ("header", "httpHeaders", "customHeaders", "requestHeaders"),
    "cwd": ("workingDirectory",),
    "disabledTools": ("excludeTools", "excludedTools", "disabled_tools"),
    "allowedTools": ("includeTools", "includedTools", "enabledTools", "toolsToExecute"),
    "timeout": ("toolTimeout", "requestTimeout"),
    "startTimeout": ("startupTimeout", "initTimeout", "connectTimeout", "connectionTimeout"),
}
"""Our key, and what it is called elsewhere: Windsurf, Gemini CLI, Goose, opencode, Codex, LibreChat, LiteLLM."""
_OURS = (PROGRAM_KEYS | URL_KEYS | COMMON_KEYS) - {"allowed_tools", "includedTools", "tools_to_execute"}
_OURS -= {"disabled_tools", "excludedTools", "excluded_tools"}
_UNITS = {"ms": "ms", "milliseconds": "ms", "sec": "s", "secs": "s", "seconds": "s"}
_TABLES = frozenset("options requestoptions requestinit fetchoptions config connection request http settings".split())
"""Where other products put what goes with an address, said as `plain_key` says it."""
_LIFTED = PROGRAM_KEYS | URL_KEYS | {"timeout", "startTimeout", "allowedTools", "disabledTools", "type", "transport"}


def plain_key(key: str) -> str:
    """Return a key without what people write differently: case, dashes, underscores."""
    return re.sub(r"[^a-z0-9]", "", key.lower())


_MEANT = {
    plain_key(ours): ours for ours in (*_OURS, "type", "transport", "transportType", "autoConnect", "description")
}
_MEANT |= {plain_key(word): ours for ours, others in _SAME.items() for word in others}


def key_meant(key: str) -> str:
    """Return our key for a key of an entry, or the key itself."""
    return _MEANT.get(plain_key(key), key)


def understood(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with our keys, texts where texts are meant, and a command that is one program."""
    known = _respelt(entry)
    _lift(known)
    _split_command(known)
    if "args" in known and isinstance(known["args"], list):
        known["args"] = [as_text(item) for item in known["args"]]
    for field in ("env", "headers"):
        if field in known:
            known[field] = as_table(known[field], field)
    _take_credentials(known)
    tools = known.get("tools")
    if isinstance(tools, list) and all(isinstance(name, str) for name in tools):  # Copilot, Crush
        known.setdefault("allowedTools", known.pop("tools"))
    return known


def _respelt(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with our keys; what is spelt exactly wins, and two tables of one meaning are joined."""
    known: dict[str, Any] = {}
    exact = {key for key in entry if key_meant(key) == key}
    for key, value in entry.items():
        ours, shown = key_meant(key), value
        if ours == key and (timed := _timed(key, value)):
            ours, shown = timed
        if ours not in known or key in exact:
            before = known.get(ours)
            both = isinstance(before, dict) and isinstance(shown, dict)
            known[ours] = {**before, **shown} if both and before is not None else shown
        elif isinstance(known[ours], dict) and isinstance(shown, dict):
            known[ours] = {**shown, **known[ours]}
    return known


def _timed(key: str, value: Any) -> tuple[str, str] | None:
    """Read the unit in `startup_timeout_sec` and `timeoutMs` (Codex)."""
    head, _, unit = re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", key).lower().rpartition("_")
    ours = key_meant(head) if head else ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if ours in ("timeout", "startTimeout") and unit in _UNITS and is_number:
        return ours, f"{value:g}{_UNITS[unit]}"
    return None


def _lift(known: dict[str, Any]) -> None:
    """Lift what goes with a server out of tables of options: `requestInit`, `options`, `config`, `transport`."""
    transport = known.get("transport")
    if isinstance(transport, dict):
        del known["transport"]
        for key, value in _respelt(transport).items():
            known.setdefault(key, value)
    for name in [key for key, value in known.items() if plain_key(key) in _TABLES and isinstance(value, dict)]:
        inner = _respelt(known[name])
        for key in [key for key in inner if key in _LIFTED]:
            value = inner.pop(key)
            if isinstance(value, dict) and isinstance(known.get(key), dict):
                known[key] = {**value, **known[key]}
            else:
                known.setdefault(key, value)
        if inner:
            known[name] = inner
        else:
            del known[name]


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


def _take_credentials(known: dict[str, Any]) -> None:
    """Read Codex's names of variables that hold secrets as placeholders, and an Authorization outside of headers."""
    headers = known.get("headers") or {}
    if not isinstance(headers, dict):
        return
    found: dict[str, Any] = {}
    for key in list(known):
        value = known[key]
        match plain_key(key):
            case "envhttpheaders" if isinstance(value, dict):
                found |= {header: f"${{{variable}}}" for header, variable in known.pop(key).items()}
            case "bearertokenenvvar" if isinstance(value, str) and value:
                found["Authorization"] = f"Bearer ${{{known.pop(key)}}}"
            case "authorization" if isinstance(value, str) and value:
                found["Authorization"] = known.pop(key)
    if found:
        known["headers"] = {**headers, **found}
