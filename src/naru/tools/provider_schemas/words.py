"""What a provider's form cannot say, in words for the description."""

from __future__ import annotations

import json

from naru.messages import Json, JsonObject
from naru.tools.provider_schemas.plain_text import type_text

LONGEST_NOTE = 200
WORDS = {
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches {}",
    "format": "format {}",
    "default": "default {}",
}


def brief(part: JsonObject, description: str) -> str:
    """Return what a schema allows in a few words, and what else is told of it."""
    kind = type_text(part)
    return f"{kind} ({description})" if description else kind


def shown(value: Json) -> str:
    """Return a value as JSON, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = str(value)
    return text if len(text) <= LONGEST_NOTE else f"{text[: LONGEST_NOTE - 1]}…"
