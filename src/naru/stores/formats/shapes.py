"""Every shape of an MCP configuration file (R4): read into entries, written back with what is unknown.

An array of `{name, url}`, `mcpServers` (Claude Desktop, Cursor), `servers` (VS Code), `[mcp_servers.x]` (Codex), the
tables of Zed and opencode, or the inside of such a table alone.
"""

from __future__ import annotations

import codecs
import copy
import re
import tomllib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from naru.records import SERVER_NAME, ServerRecord, describe, guess_transport, parse_transport
from naru.stores.formats import tolerant_json
from naru.stores.formats.inputs import read_inputs, with_defaults
from naru.stores.formats.spellings import key_meant, plain_key, understood

META = "naru"
"""The key of an entry that keeps what other products have no key for: id, times, version, autoConnect."""
_PATHS = (
    ("mcpServers",),
    ("servers",),
    ("mcp", "servers"),  # VS Code's settings.json
    ("mcp", "mcpServers"),
    ("context_servers",),  # Zed
    ("amp.mcpServers",),
)
"""Where products keep their servers, in the order in which they are looked for; `mcp_servers` of Codex is the first."""
URL_KEYS = ("url", "serverUrl", "httpUrl", "server_url", "uri")
TYPE_KEYS = ("type", "transport", "transportType")
_OWN_KEYS = (META, "name", "description", "autoConnect", *TYPE_KEYS)
_NAMESPACE = uuid.UUID("6f0a1f0e-6a0f-5c0e-9d63-6e6172750001")


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry that cannot be used, and why; the others are not touched by it."""

    place: str
    """Where it stands, such as `mcpServers.a`."""
    reason: str


class Document:
    """A decoded configuration file: its servers in one table or array, everything else kept as it is."""

    def __init__(self, root: Any, path: tuple[str, ...] | None) -> None:
        self.root = root
        self.path = path
        """The keys that lead to the table of servers; None for the array form."""
        self.inputs = read_inputs(root)
        """What VS Code would ask a person for."""

    @property
    def _table(self) -> dict[str, Any]:
        table = self.root
        for key in self.path or ():
            table = table[key]
        assert isinstance(table, dict)
        return table

    def entries(self) -> Iterator[tuple[str, str, Any]]:
        """Yield name, place and entry of each server, in the file's order; `${input:id}` with its default."""
        for name, place, entry in self._written():
            yield name, place, with_defaults(entry, self.inputs) if self.inputs else entry

    def _written(self) -> Iterator[tuple[str, str, Any]]:
        if self.path is None:
            for position, entry in enumerate(self.root):
                name = entry.get("name") if isinstance(entry, dict) else None
                yield (name if isinstance(name, str) else "", f"[{position}]", entry)
            return
        for name, entry in self._table.items():
            yield name, ".".join((*self.path[-1:], name)), entry

    def find(self, name: str) -> dict[str, Any] | None:
        """Return the entry of that name as it is written, when it is an object."""
        return next((entry for known, _, entry in self._written() if known == name and isinstance(entry, dict)), None)

    def put(self, name: str, entry: dict[str, Any]) -> None:
        """Add or replace an entry, keeping its place, and `${input:id}` where it was."""
        if self.inputs and (kept := self.find(name)):
            entry = {
                key: kept[key] if key in kept and with_defaults(kept[key], self.inputs) == value else value
                for key, value in entry.items()
            }
        if self.path is not None:
            self._table[name] = entry
            return
        entry = {"name": name, **entry}
        for position, (known, _, _) in enumerate(self._written()):
            if known == name:
                self.root[position] = entry
                return
        self.root.append(entry)

    def remove(self, name: str) -> bool:
        """Take an entry out; tell whether there was one."""
        if self.path is not None:
            return self._table.pop(name, None) is not None
        kept = [entry for known, _, entry in self.entries() if known != name]
        found = len(kept) < len(self.root)
        self.root[:] = kept
        return found

    def copy(self) -> Document:
        """Return an independent copy."""
        return Document(copy.deepcopy(self.root), self.path)


def decode_text(content: bytes) -> str:
    """Decode a file in UTF-8, or in UTF-16 as Windows' PowerShell writes it. Raises ValueError."""
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return content.decode(encoding)


def parse_document(text: str, *, toml: bool = False) -> Document:
    """Read a configuration file of any known shape; an empty file has no servers.

    Raises:
        ValueError: it is no such file; says line and column, or the key that has the wrong type.
    """
    if toml:
        root: Any = tomllib.loads(text)
    else:
        stripped = text.removeprefix("\ufeff").strip()
        root = tolerant_json.loads(text) if stripped else []
    if isinstance(root, list):
        return Document(root, None)
    if not isinstance(root, dict):
        raise ValueError(f"expected an object or an array at the top, found {type(root).__name__}")
    path = _path_of_servers(root)
    if path is None:
        root["mcpServers"] = {}
        path = ("mcpServers",)
    return Document(root, path)


def _path_of_servers(root: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the keys that lead to the table of servers, which is made one; None when there is none. Raises ValueError.

    They count whatever their case, dashes and underscores; failing these, what looks like a table of servers does.
    """
    found: list[tuple[str, ...]] = []
    for wanted in _PATHS:
        holder: Any = root
        keys: list[str] = []
        for word in wanted:
            near = (key for key in holder if plain_key(key) == plain_key(word)) if isinstance(holder, dict) else ()
            key = word if isinstance(holder, dict) and word in holder else next(iter(near), None)
            if key is None:
                break
            keys.append(key)
            holder = holder[key]
        else:
            found.append(tuple(keys))
    for path in found:
        holder = root
        for key in path[:-1]:
            holder = holder[key]
        _make_table(holder, path[-1])
        if holder[path[-1]] or path == found[-1]:
            return path
    if any(_is_server(entry) for entry in root.values()):
        return ()  # the inside of `mcpServers`, as people paste it
    for key, table in root.items():
        is_named = any(word in plain_key(key) for word in ("mcp", "server"))
        if is_named and isinstance(table, dict) and any(_is_server(entry) for entry in table.values()):
            return (key,)  # `mcp` of opencode, and whatever others call it
    if _is_server(root):
        raise ValueError('it is one server without a name: write {"mcpServers": {"NAME": …}} around it')
    return None


def _make_table(holder: dict[str, Any], key: str) -> None:
    """Make the servers under a key a table: of a list of named ones, and of nothing. Raises ValueError."""
    servers = holder[key]
    if servers is None:
        holder[key] = {}
    elif isinstance(servers, list) and (not servers or any(isinstance(entry, dict) for entry in servers)):
        holder[key] = {
            str(entry.pop("name", position)) if isinstance(entry, dict) else str(position): entry
            for position, entry in enumerate(servers)
        }
    elif not isinstance(servers, dict):
        raise ValueError(f"{key} must be an object of servers, found {type(servers).__name__}")


def _is_server(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    return any(isinstance(value, str | list) and key_meant(key) in ("command", "url") for key, value in entry.items())


def read_record(name: str, place: str, entry: Any, seen_ms: Callable[[], int]) -> ServerRecord | Problem:
    """Turn an entry into a record; `seen_ms` gives the times of one that carries none."""
    if not isinstance(entry, dict):
        return Problem(place, f"{place} must be an object, found {type(entry).__name__}")
    meta = entry.get(META)
    meta = meta if isinstance(meta, dict) else {}
    entry = understood(entry)
    config = {key: value for key, value in entry.items() if key not in _OWN_KEYS}
    declared = next((entry[key] for key in TYPE_KEYS if entry.get(key)), None)
    try:
        if declared is not None and not isinstance(declared, str):
            raise ValueError(f"transport must be a string, found {type(declared).__name__}")
        transport = parse_transport(declared) if declared else guess_transport(config)
        seen = seen_ms()
        return ServerRecord(
            id=str(meta.get("id") or uuid.uuid5(_NAMESPACE, name)),
            name=name,
            description=entry.get("description"),
            transport_type=transport,
            config=config,
            version=meta.get("version"),
            auto_connect=entry.get("autoConnect", meta.get("autoConnect", True)),
            created_at=meta.get("createdAt", seen),
            updated_at=meta.get("updatedAt", seen),
        )
    except ValidationError as error:
        return Problem(place, f"{place}: {'; '.join(describe(error))}{_other_name(name)}")
    except ValueError as error:
        return Problem(place, f"{place}: {error}")


def _other_name(name: str) -> str:
    """Suggest a name for a server whose own is not allowed, such as `github.com/owner/server` or `My server`."""
    if SERVER_NAME.fullmatch(name):
        return ""
    usable = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[-64:].strip("-._")
    return f"; call it {usable!r}, for instance" if usable else ""


def write_entry(record: ServerRecord, kept: dict[str, Any] | None) -> dict[str, Any]:
    """Return the entry for a record: keys spelt as the file had them; what is unknown is in the record's config."""
    kept = kept or {}
    config = dict(record.config)
    url_key = next((key for key in URL_KEYS if key in kept), "url")
    entry: dict[str, Any] = {}
    if record.description is not None:
        entry["description"] = record.description
    spelling = _spelling(record, kept)
    if spelling:
        entry[spelling[0]] = spelling[1]
    for key, value in config.items():
        entry[url_key if key == "url" else key] = value
    if "autoConnect" in kept:
        entry["autoConnect"] = record.auto_connect
    old_meta = kept.get(META)
    meta = {
        **(old_meta if isinstance(old_meta, dict) else {}),
        "id": record.id,
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
        "version": record.version,
        "autoConnect": None if record.auto_connect else False,
    }
    entry[META] = {key: value for key, value in meta.items() if value is not None}
    return {key: entry[key] for key in kept if key in entry} | entry


def _spelling(record: ServerRecord, kept: dict[str, Any]) -> tuple[str, str] | None:
    for key in TYPE_KEYS:
        value = kept.get(key)
        if isinstance(value, str) and value:
            try:
                if parse_transport(value) is record.transport_type:
                    return key, value
            except ValueError:
                continue
    if record.transport_type is None or guess_transport(record.config) is record.transport_type:
        return None
    return "type", record.transport_type.value.lower()
