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
LIST_KEYS = ("documents", "cols", "columns", "items", "data")


def read_documents(path: Path) -> dict[str, str]:
    """Read a file; an id that is not an own word of the text is put before it, as `id: text`.

    Raises:
        ConfigError: it cannot be read, or holds no documents; says which forms there are.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {path}: {error}.") from error
    try:
        documents = dict(_pairs(path.suffix.lower(), text))
    except (ValueError, csv.Error) as error:
        raise ConfigError(f"{path} is not what its name says: {error}.") from error
    if not documents:
        raise ConfigError(
            f"{path} holds no documents.",
            remedy='Write a JSON object {"id": "text"}, a list of {"id": …, "text": …} (also one a line, .jsonl), '
            "a CSV with the columns id and text, or one document a line (.txt).",
        )
    return documents


def _pairs(suffix: str, text: str) -> Iterable[tuple[str, str]]:
    if suffix == ".json":
        return _of_json(json.loads(text))
    if suffix in (".jsonl", ".ndjson"):
        return _of_items([json.loads(line) for line in text.splitlines() if line.strip()])
    if suffix in (".csv", ".tsv"):
        return _of_items(list(csv.DictReader(text.splitlines(), delimiter="\t" if suffix == ".tsv" else ",")))
    lines = (line.strip() for line in text.splitlines())
    return ((f"line-{number}", line) for number, line in enumerate(lines, 1) if line)


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
            yield f"item-{number}", item.strip()
        elif isinstance(item, Mapping):
            found = {str(key).lower(): value for key, value in item.items() if key is not None}
            text = next((found[key] for key in TEXT_KEYS if isinstance(found.get(key), str) and found[key].strip()), "")
            id_ = next((str(found[key]) for key in ID_KEYS if found.get(key)), "")
            if text:
                yield _document(id_, text) if id_ else (f"item-{number}", text.strip())


def _document(id_: str, text: str) -> tuple[str, str]:
    plain = text.strip()
    return id_, plain if plain.startswith(id_) or id_.isdigit() else f"{id_}: {plain}"
