"""Servers that YAML and other products' files declare (H8): they seed the store, and follow their file.

What is in the store already wins. A declared server that nobody touched since follows its declaration.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naru.config import DeclaredServer, McpSettings, check_private
from naru.errors import ConflictError, NaruError
from naru.records import ServerRecord, now_ms
from naru.stores.base import Store
from naru.stores.formats.shapes import Problem, decode_text, parse_document, read_record


@dataclass(frozen=True, slots=True)
class Declared:
    """What the files say: usable servers by name, where each stands, and what cannot be used."""

    records: Mapping[str, ServerRecord]
    origins: Mapping[str, str]
    problems: Sequence[Problem]


async def read_declared(settings: McpSettings) -> Declared:
    """Read all declared servers; the first of a name counts. Never raises for one bad entry or file."""
    return await asyncio.to_thread(_read_declared, settings)


def _read_declared(settings: McpSettings) -> Declared:
    records: dict[str, ServerRecord] = {}
    origins: dict[str, str] = {}
    problems: list[Problem] = []

    def take(name: str, place: str, origin: str, entry: object) -> None:
        if not name.strip():
            problems.append(Problem(place, f"{place}: the entry has no name and is skipped"))
            return
        outcome = read_record(name, place, entry, now_ms)
        if isinstance(outcome, Problem):
            problems.append(outcome)
        elif name in records:
            problems.append(Problem(place, f"{place}: {name!r} is declared in {origins[name]} already"))
        else:
            records[name], origins[name] = outcome, origin

    for position, server in enumerate(settings.servers):
        place = f"mcp.servers[{position}]"
        if server.fault:
            problems.append(Problem(place, f"{place} ({server.name or 'nameless'}): {server.fault}"))
        else:
            take(server.name, place, "naru.yaml", _entry(server))
    for path in settings.files:
        try:
            found = list(_read_file(path.expanduser()))
        except (OSError, ValueError, NaruError) as error:
            problems.append(Problem(str(path), f"{path} cannot be read: {error}"))
            continue
        for name, place, entry in found:
            take(name, f"{path}: {place}", str(path), entry)
    return Declared(records, origins, tuple(problems))


def _read_file(path: Path) -> list[tuple[str, str, object]]:
    check_private(path)
    document = parse_document(decode_text(path.read_bytes()), toml=path.suffix == ".toml")
    return list(document.entries())


def _entry(server: DeclaredServer) -> dict[str, Any]:
    """Return a declaration as an entry of a configuration file; SSE is the default only for a URL."""
    entry: dict[str, Any] = {"autoConnect": server.auto_connect, **(server.model_extra or {})}
    for field in ("url", "command", "cwd", "description"):
        if getattr(server, field) is not None:
            entry[field] = getattr(server, field)
    for field in ("args", "env", "headers"):
        if getattr(server, field):
            entry[field] = getattr(server, field)
    if server.lazy is not None:
        entry["lazy"] = server.lazy
    if server.idle_stop_ms is not None:
        entry["idleStopMs"] = server.idle_stop_ms
    if "transport" in server.model_fields_set or server.command is None:
        entry["transport"] = server.transport
    return entry


async def seed(store: Store, declared: Declared, own: Sequence[ServerRecord] = ()) -> list[str]:
    """Save the declared servers, and our own, whose name is not taken; return their names. Raises StoreError."""
    known = {record.name for record in await store.list()}
    added: list[str] = []
    for record in (*declared.records.values(), *own):
        if record.name not in known and record.name not in added:
            try:
                await store.save(record)
            except ConflictError:  # another process was quicker, or the store keeps an entry that cannot be used
                continue
            added.append(record.name)
    return added


async def follow(store: Store, before: Declared, after: Declared) -> bool:
    """Bring the store from one declaration to the next; tell whether anything changed. Raises StoreError.

    A server that was changed or removed otherwise since it was declared is left alone.
    """
    kept = {record.name: record for record in await store.list()}
    changed = False
    for name, new in after.records.items():
        old = before.records.get(name)
        if name not in kept:
            if old is None or not _same(old, new):
                await store.save(new)
                changed = True
        elif old is not None and not _same(old, new) and _same(kept[name], old):
            moment = max(now_ms(), kept[name].updated_at + 1)
            await store.update(new.model_copy(update={"updated_at": moment}))
            changed = True
    for name, old in before.records.items():
        if name not in after.records and name in kept and _same(kept[name], old):
            changed = await store.delete(name) or changed
    return changed


def _same(first: ServerRecord, second: ServerRecord) -> bool:
    own = {"id", "created_at", "updated_at", "version"}
    return first.model_dump(exclude=own) == second.model_dump(exclude=own)
