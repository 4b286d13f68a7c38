"""The rows of a list of models, in every form that endpoints give it. Pure."""

from __future__ import annotations

from typing import Any

from naru.messages import JsonObject


def rows_of(listed: Any) -> list[JsonObject] | None:
    """Return the rows of an answer to `GET /v1/models`: in `data` or `models`, or bare, as Together gives them.

    None where it is no list.
    """
    rows = listed.get("data") or listed.get("models") or [] if isinstance(listed, dict) else listed
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None


def name_of(row: JsonObject) -> str:
    """Return the name that requests for a model say; empty where a row has none."""
    return str(row.get("id") or row.get("name") or "")
