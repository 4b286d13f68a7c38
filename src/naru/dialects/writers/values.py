"""Argument values inside XML: raw where the schema says text, JSON elsewhere; lossless, never breaking out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_LESS_THAN = re.compile(r"&(?:amp;)*lt;")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
"""What may stand as a tag."""


def is_text(schema: Any) -> bool:
    """Tell whether a schema takes text alone."""
    if not isinstance(schema, Mapping):
        return False
    if schema.get("type") == "string":
        return True
    values = schema.get("enum")
    return "type" not in schema and isinstance(values, list) and all(isinstance(value, str) for value in values)


def value_text(value: Any, schema: Any) -> str:
    """Return a value as text between tags: a string as it is, if it is read back as that."""
    if isinstance(value, str) and value_of(value, schema) == value:
        return value
    return dumps(value)


def value_of(text: str, schema: Any) -> Any:
    """Return the value that `value_text` wrote."""
    if is_text(schema):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def dumps(value: Any) -> str:
    """Encode as JSON on one line that holds no tag, whatever the strings in it hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    for character in "<>\x7f\x85\u2028\u2029":
        if character in text:
            text = text.replace(character, f"\\u{ord(character):04x}")
    return text


class TagGuard:
    """Escapes, in a value, the tags that would end it early; other values stay as they are.

    `escape` and `unescape` are inverse: a value is changed only when it holds one of the tags in any spelling, and
    that does not depend on how often it was escaped.
    """

    def __init__(self, names: Iterable[str]) -> None:
        words = "|".join(sorted((re.escape(name) for name in set(names) if name), key=len, reverse=True)) or r"(?!)"
        self._tag = re.compile(rf"<(?=\s*/?\s*(?:{words})(?![A-Za-z0-9_.-]))", re.IGNORECASE)

    def escape(self, text: str) -> str:
        """Return the value with its dangerous tags made harmless."""
        if not self._holds_tag(text):
            return text
        return self._tag.sub("&lt;", _LESS_THAN.sub(lambda match: f"&amp;{match[0][1:]}", text))

    def unescape(self, text: str) -> str:
        """Return the value that was escaped."""
        if not self._holds_tag(text):
            return text
        return _LESS_THAN.sub(lambda match: "<" if match[0] == "&lt;" else f"&{match[0][5:]}", text)

    def _holds_tag(self, text: str) -> bool:
        return bool(self._tag.search(text)) or ("lt;" in text and bool(self._tag.search(_LESS_THAN.sub("<", text))))
