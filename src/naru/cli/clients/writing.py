"""Put an entry into a client's settings file: a copy is kept, nothing else in it changes, and that is proven first."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from naru.cli.clients.entries import ClientRow, snippet, toml_table, yaml_item
from naru.cli.clients.json_edit import put
from naru.config import what_failed
from naru.errors import ConfigError, StoreError
from naru.stores.files.atomic import replace_file


def changed_text(text: str, row: ClientRow, name: str, entry: dict[str, Any]) -> str:
    """Return the file's text with the entry in it; everything else stays character for character.

    Raises:
        ValueError: the text is not what such a file holds, or the entry does not fit into it.
    """
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):  # as Windows writes it
        return changed_text(text.replace("\r\n", "\n"), row, name, entry).replace("\n", "\r\n")
    match row.kind:
        case "toml":
            return _put_toml(text, row, name, entry)
        case "yaml":
            return _put_yaml(text, row, entry)
        case _:
            return put(text, (*row.path, name), entry)


def write_entry(path: Path, row: ClientRow, name: str, entry: dict[str, Any]) -> Path | None:
    """Write the entry; return where the old file was copied to, or None when there was none.

    Raises:
        ConfigError: the file cannot be changed without harm; it is left as it was.
        StoreError: it cannot be written; it is left as it was.
    """
    real = path.resolve()  # many keep their settings elsewhere and link to them
    with _turn(real.parent):
        return _write(path, real, row, name, entry)


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Hold a folder against other commands like this one, without leaving a lock file in it."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # its file system has no locks; what forbids to write is told at the writing
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _write(path: Path, real: Path, row: ClientRow, name: str, entry: dict[str, Any]) -> Path | None:
    try:
        if real.exists() and not real.is_file():
            raise ValueError("it is no file")
        if real.exists() and not real.stat().st_mode & stat.S_IWUSR:
            raise ValueError("it is marked as one that nobody may write")
        old = real.read_bytes().decode() if real.exists() else ""
        new = changed_text(old, row, name, entry)
    except (ValueError, OSError, yaml.YAMLError) as error:
        raise ConfigError(
            f"{path} was left as it is: {what_failed(error)}.",
            remedy=f"Mend it, or put this in by hand:\n{snippet(row, name, entry)}",
        ) from error
    if new == old:
        return None
    kept = None
    try:
        if real.exists():
            kept = real.with_name(f"{real.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
            if not kept.exists():  # else of this same second: what was there before both changes
                shutil.copy2(real, kept)
    except OSError as error:
        raise StoreError(
            f"Cannot keep a copy beside {real}: {error.strerror}. Nothing was changed.",
            remedy=f"Let this user write in {real.parent}, or name another file: --file",
        ) from error
    replace_file(real, new.encode(), backup=False)
    if kept is not None:
        shutil.copymode(kept, real)
    return kept


def _put_toml(text: str, row: ClientRow, name: str, entry: dict[str, Any]) -> str:
    before = tomllib.loads(text)
    beside = before.get(row.path[0], {})
    if not isinstance(beside, dict):
        raise ValueError(f"{row.path[0]} is no table")
    header = re.escape(toml_table(row, name))
    # The old table, with those below it, ends with its last key: a comment after that is about what follows.
    key = r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*[^\s\[#][^\n]*\n?"
    kept = re.sub(rf"^\[{header}(?:\.[^\]]*)?\][^\n]*\n(?:{key})*(?:[ \t]*\n)*", "", text, flags=re.MULTILINE)
    changed = f"{kept.rstrip()}\n\n{snippet(row, name, entry)}\n".lstrip("\n")
    wanted = {**before, row.path[0]: {**beside, name: entry}}
    if tomllib.loads(changed) != wanted:
        raise ValueError("the change could not be made without touching the rest")
    return text if tomllib.loads(text) == wanted else changed


def _put_yaml(text: str, row: ClientRow, entry: dict[str, Any]) -> str:
    key = row.path[0]
    data = yaml.safe_load(text) or {}
    if not isinstance(data, dict):
        raise ValueError("it holds no settings")
    items = data.get(key) or []
    if not isinstance(items, list):
        raise ValueError(f"{key} is no list")
    if entry in items:
        return text
    if any(isinstance(item, dict) and item.get("name") == entry["name"] for item in items):
        raise ValueError(f"it has another entry named {entry['name']} under {key}")
    if not text.strip():
        text = "name: My settings\nversion: 0.0.1\nschema: v1\n"
        data = yaml.safe_load(text)
    heading = re.search(rf"^{re.escape(key)}:[ \t]*(?:\[\s*\]|null|~)?[ \t]*(#[^\n]*)?$", text, re.MULTILINE)
    if heading is None:
        changed = f"{text.rstrip()}\n{key}:\n{yaml_item(entry)}\n"
    else:
        first = re.match(r"\n(?:[ \t]*(?:#[^\n]*)?\n)*(?P<indent>[ \t]*)- ", text[heading.end() :])
        item = yaml_item(entry, first["indent"] if first else "  ")
        changed = (
            f"{text[: heading.start()]}{key}:{f' {heading[1]}' if heading[1] else ''}\n{item}{text[heading.end() :]}"
        )
    if yaml.safe_load(changed) != {**data, key: [entry, *items]}:
        raise ValueError("the change could not be made without touching the rest")
    return changed
