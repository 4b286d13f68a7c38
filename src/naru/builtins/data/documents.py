"""Documents from a file to index: JSON, JSON lines, CSV or plain lines, as id → text."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from naru.errors import ConfigError

ID_KEYS = ("id", "name", "column", "key")
TEXT_KEYS = ("text", "document", "description", "content", "body")
SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".md")
"""What is read of a folder."""
_PLACE = "\0"
"""Before an id that is only a place in its file."""
LIST_KEYS = ("documents", "cols", "columns", "items", "data")


def read_documents(path: Path) -> dict[str, str]:
    """Read a file, or a folder's files; an id that is not an own word of the text is put before it, as `id: text`.

    A document without an id is called by its file and place, so that another file's does not take its place.

    Raises:
        ConfigError: it cannot be read, or holds no documents; says which forms there are.
    """
    documents: dict[str, str] = {}
    for file in _files(path):
        documents |= _read_file(file)
    if not documents:
        raise ConfigError(
            f"{path} holds no documents.",
            remedy='Write a JSON object {"id": "text"}, a list of {"id": …, "text": …} (also one a line, .jsonl), '
            "a CSV with the columns id and text, or one document a line (.txt).",
        )
    return documents


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [file for file in sorted(path.rglob("*")) if file.suffix.lower() in SUFFIXES and file.is_file()]


def _read_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror}.", remedy="Name a file or a folder.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"Cannot read {path}: {error}.", remedy="Save it as UTF-8.") from error
    try:
        found = dict(_pairs(path.suffix.lower(), text))
    except (ValueError, csv.Error) as error:
        raise ConfigError(f"{path} is not what its name says: {error}.", remedy="Mend it, or rename it.") from error
    return {f"{path.name}#{id_[1:]}" if id_.startswith(_PLACE) else id_: text for id_, text in found.items()}


def _pairs(suffix: str, text: str) -> Iterable[tuple[str, str]]:
    if suffix == ".json":
        return _of_json(json.loads(text))
    if suffix in (".jsonl", ".ndjson"):
        return _of_items([json.loads(line) for line in text.splitlines() if line.strip()])
    if suffix in (".csv", ".tsv"):
        return _of_items(list(csv.DictReader(text.splitlines(), delimiter="\t" if suffix == ".tsv" else ",")))
    lines = (line.strip() for line in text.splitlines())
    return ((f"{_PLACE}{number}", line) for number, line in enumerate(lines, 1) if line)


def _of_json(value: Any) -> Iterable[tuple[str, str]]:
    if isinstance(value, list):
        return _of_items(value)
    if not isinstance(value, dict):
        return ()
    for key in LIST_KEYS:
        if isinstance(value.get(key), list):
            return _of_items(value[key])
    return (_document(str(id_), text) for id_, text in value.items() if isinstance(text, str) and text.strip())


def _of_items(items: list[Any]) -> Iterable[tuple[str, str]]:
    for number, item in enumerate(items, 1):
        if isinstance(item, str) and item.strip():
            yield f"{_PLACE}{number}", item.strip()
        elif isinstance(item, Mapping):
            found = {str(key).lower(): value for key, value in item.items() if key is not None}
            text = next((found[key] for key in TEXT_KEYS if isinstance(found.get(key), str) and found[key].strip()), "")
            id_ = next((str(found[key]) for key in ID_KEYS if found.get(key)), "")
            if text:
                yield _document(id_, text) if id_ else (f"{_PLACE}{number}", text.strip())


def _document(id_: str, text: str) -> tuple[str, str]:
    plain = text.strip()
    return id_, plain if plain.startswith(id_) or id_.isdigit() else f"{id_}: {plain}"
