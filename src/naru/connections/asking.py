"""Which questions a server may ask of the hub's clients: none, unless its record says so (S-58)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from naru.messages import JsonObject

ASKABLE: Final[Mapping[str, JsonObject]] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"context": {}, "tools": {}},
    "roots": {"listChanged": True},
}
"""What a record's `config.ask` may name, and what is then declared to the server."""


def allowed_questions(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the kinds of questions that a record's config allows; unknown words allow nothing."""
    asked = config.get("ask")
    return frozenset(kind for kind in ASKABLE if isinstance(asked, list | tuple) and kind in asked)


def declared(config: Mapping[str, Any]) -> JsonObject:
    """Return the client capabilities to declare to the server of this record."""
    allowed = allowed_questions(config)
    return {kind: capability for kind, capability in ASKABLE.items() if kind in allowed}
