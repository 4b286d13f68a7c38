"""Problems of an MCP configuration file and of single server records, found without starting anything."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from naru.cli.checks.addresses import is_http
from naru.cli.checks.problem import Level, Problem, meant, unreadable
from naru.cli.clients.json_edit import position_of
from naru.config import check_private, environment
from naru.connections.rules.launch_policy import package_warnings
from naru.connections.state.faults import LinkError
from naru.connections.transports.http.headers import headers_of
from naru.connections.transports.launch import find_command
from naru.errors import NaruError
from naru.records import TRANSPORT_SPELLINGS, ServerRecord, TransportType, now_ms
from naru.stores.formats import shapes as formats
from naru.stores.formats.expand import MissingVariableError, expand
from naru.stores.formats.spellings import COMMON_KEYS, PROGRAM_KEYS, URL_KEYS
from naru.stores.unused_keys import unused_keys

_KNOWN = PROGRAM_KEYS | URL_KEYS | COMMON_KEYS
_POSITION = re.compile(r"at line (\d+)")
_MISSING = re.compile(r"(?P<what>.+) \((?P<field>[^)]+)\)(?P<rest>.*)")


def check_servers_file(path: Path) -> list[Problem]:
    """Return what is wrong with `mcp.json`, another client's file of servers, or Codex' `config.toml`."""
    try:
        check_private(path)
        text = path.read_text(encoding="utf-8-sig")
        document = formats.parse_document(text, toml=path.suffix == ".toml")
    except (OSError, UnicodeDecodeError) as error:
        return [unreadable(path, error)]
    except NaruError as error:
        return [Problem(Level.ERROR, str(path), "", error.message, error.remedy)]
    except (ValueError, tomllib.TOMLDecodeError) as error:
        at, kind = _POSITION.search(str(error)), "TOML" if path.suffix == ".toml" else "JSON"
        return [
            Problem(
                Level.ERROR, str(path), "", f"It cannot be read as {kind}: {error}.",
                "Servers stand under mcpServers (or servers, mcp_servers), each with command or url.",
                int(at[1]) if at else None,
            )
        ]  # fmt: skip
    found: list[Problem] = []
    seen: set[str] = set()
    for name, place, entry in document.entries():
        line = _line(text, place.split(".", 1)[0], name) if path.suffix != ".toml" else None
        found += [replace(one, file=str(path), line=line) for one in _entry(name, place, entry)]
        if name and name in seen:
            found.append(Problem(Level.ERROR, str(path), place, f"The name {name} is used twice.", line=line))
        seen.add(name)
    return found


def _entry(name: str, place: str, entry: Any) -> Iterator[Problem]:
    if not name.strip():
        yield Problem(Level.WARNING, "", place, "The entry has no name and is skipped.", 'Give it a "name".')
        return
    outcome = formats.read_record(name, place, entry, now_ms)
    if isinstance(outcome, formats.Problem):
        reason = outcome.reason.removeprefix(f"{place}: ").removeprefix(f"{place} ")
        yield Problem(Level.ERROR, "", place, f"{reason[:1].upper()}{reason[1:]}.", _remedy(entry))
        return
    yield from check_record(outcome, place)


def check_record(record: ServerRecord, place: str) -> Iterator[Problem]:
    """Yield what is wrong with a server that could be read; fields are named below `place`."""
    try:
        config = expand(record.config, server=record.name)
    except MissingVariableError as error:
        for said in error.message.rstrip(".").split("; "):
            parts = _MISSING.fullmatch(said)
            field = parts["field"].removeprefix(f"mcpServers.{record.name}") if parts else ""
            message = f"{parts['what']}{parts['rest']}." if parts else f"{said}."
            yield Problem(Level.ERROR, "", f"{place}{field}", f"Variable {message}", error.remedy)
        config = dict(record.config)
    except NaruError as error:
        yield Problem(Level.ERROR, "", place, error.message, error.remedy)
        config = dict(record.config)
    if record.transport_type is TransportType.STDIO:
        yield from _program(config, place)
    else:
        yield from _url(config, place)
    for warning in package_warnings(str(record.config.get("command", "")), record.config.get("args") or ()):
        yield Problem(Level.WARNING, "", f"{place}.args", f"{warning.rstrip('.')}.")
    for one in unused_keys(record):
        yield Problem(Level.WARNING if one.remedy else Level.NOTE, "", f"{place}.{one.key}", one.message, one.remedy)


def _program(config: dict[str, Any], place: str) -> Iterator[Problem]:
    command = str(config["command"])
    folder = Path(str(config.get("cwd") or ".")).expanduser()
    path = (config.get("env") or {}).get("PATH") or environment().get("PATH") or ""
    if not _is_there(command, path, folder):
        yield Problem(
            Level.ERROR, "", f"{place}.command", f"There is no program {command}.",
            "Install it, or give its whole path." + (" Arguments belong in args." if " " in command else ""),
        )  # fmt: skip
    if config.get("cwd") and not folder.is_dir():
        yield Problem(Level.ERROR, "", f"{place}.cwd", f"There is no folder {folder}.")


def _is_there(command: str, path: str, folder: Path) -> bool:
    try:
        return bool(find_command(command, path, cwd=str(folder)))
    except LinkError:
        return (folder / command).is_file()


def _url(config: dict[str, Any], place: str) -> Iterator[Problem]:
    url = str(config["url"])
    if not is_http(url) and "$" not in url:
        yield Problem(Level.ERROR, "", f"{place}.url", "It is no http or https URL.", "Such as https://host/mcp.")
    try:
        headers_of(config)
    except LinkError as error:
        said = error.failure.message
        yield Problem(Level.ERROR, "", f"{place}.headers", f"{said[:1].upper()}{said[1:]}", "Correct or remove it.")


def _remedy(entry: Any) -> str:
    if not isinstance(entry, dict):
        return 'Write {"command": …, "args": […]} or {"url": …}.'
    wrong = next((key for key in entry if key not in _KNOWN and meant(key, _KNOWN).startswith("Did")), "")
    if wrong:
        return f"{wrong}: {meant(wrong, _KNOWN)}"
    declared = str(entry.get("type") or entry.get("transport") or "")
    if declared and declared.lower().replace("-", "").replace("_", "") not in TRANSPORT_SPELLINGS:
        return "Write stdio, sse or http."
    return "Give it command and args, or url."


def _line(text: str, key: str, name: str) -> int | None:
    try:
        at = position_of(text, (key, name))
    except (ValueError, IndexError):
        return None
    return None if at is None else text.count("\n", 0, at) + 1
