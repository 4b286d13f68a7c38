"""The MCP servers that a client's file names, as records of ours, whatever words it has for them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from naru.cli.clients.places import Place
from naru.config import check_private, what_failed
from naru.errors import NaruError
from naru.records import ServerRecord, now_ms
from naru.stores.formats.inputs import Input
from naru.stores.formats.inputs import wanted as wanted_inputs
from naru.stores.formats.shapes import Problem, parse_document, read_record

_OURS = ("naru", "naru.exe", "naru.cli.main")


@dataclass(frozen=True, slots=True)
class Found:
    """A server that a file names, or why its entry cannot be used."""

    name: str
    title: str
    """Of the client."""
    client: str
    file: Path
    outcome: ServerRecord | Problem
    wants: tuple[Input, ...] = ()
    """What the client would ask a person for, and has no default."""


def read_place(place: Place, path: Path, folder: Path) -> list[Found]:
    """Return the servers of a client's file; a file that cannot be read is one problem. Never raises."""
    try:
        check_private(path)
        entries, inputs = _entries(path, folder)
    except (OSError, ValueError, NaruError, yaml.YAMLError) as error:
        broken = Problem(str(path), f"it cannot be read: {what_failed(error)}")
        return [Found("", place.title, place.client, path, broken)]
    found: list[Found] = []
    for name, where, entry in entries:
        wanted = legal_name(name) or name  # of a name with no letter of ours it is told that, and which
        outcome = read_record(wanted, where, entry, now_ms)
        asked = {one.identifier: one for one in wanted_inputs(entry, inputs)}
        found.append(Found(wanted, place.title, place.client, path, outcome, tuple(asked.values())))
    return found


def _entries(path: Path, folder: Path) -> tuple[list[tuple[str, str, Any]], dict[str, Input]]:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix in (".yaml", ".yml"):
        # The same shapes as in JSON, and plain data either way.
        text = json.dumps(yaml.safe_load(text) or {}, default=str)
    document = parse_document(text, toml=path.suffix == ".toml")
    entries = list(document.entries())
    projects = document.root.get("projects") if isinstance(document.root, dict) else None
    here = projects.get(str(folder)) if isinstance(projects, dict) else None  # Claude Code's servers for one folder
    servers = here.get("mcpServers") if isinstance(here, dict) else None
    for name, entry in servers.items() if isinstance(servers, dict) else ():
        entries.append((name, f"projects.{folder}.mcpServers.{name}", entry))
    return entries, document.inputs


def legal_name(name: str) -> str:
    """Return the name as one that a server may have: `My Server` is `My-Server`."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:64]


def is_naru(record: ServerRecord, hub_urls: Sequence[str]) -> bool:
    """Tell whether an entry is Naru itself, which must not be its own server."""
    words = [str(record.config.get("command", "")), *map(str, record.config.get("args") or ())]
    if "serve" in words and any(re.split(r"[/\\]", word)[-1].lower() in _OURS for word in words):
        return True
    ours = {_place(url) for url in hub_urls}
    return any(_place(word) in ours for word in (*words, str(record.config.get("url", ""))) if "://" in word)


def _place(url: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return ("127.0.0.1" if host in ("localhost", "::1") else host, parts.port)
    except ValueError:
        return ("", None)
