"""What a schema shows of the ids that a parameter takes: by its name, its description, a pattern or an example."""

from __future__ import annotations

import re

from naru.agent.casing import snake
from naru.messages import JsonObject

_PREFIX = re.compile(r"\b([A-Z]{1,6})[-_]?(?:\d|[nN#xX]{2,}|\\d|\[0-9\]|…|\b(?=[^.]*\bdigits?\b))")
_SHOWN_ID = re.compile(
    r"\b[A-Z]{1,6}[-_]?\d+\b|\b\d+(?:-\d+)+\b|\b\d{2,3}[가-힣]\d{4}\b|\b[a-z]+[-_]\d+\b|\b(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{6,}\b"
)
_NO_PREFIX = frozenset(
    {"ID", "URL", "URI", "JSON", "ISO", "UTC", "API", "HTTP", "UUID", "ASCII", "UTF", "SQL", "YYYY", "ISBN", "A", "I"}
)
_IDENTIFIER_NAME = re.compile(
    r"(^|_)(id|code|no|number|key|ref|reference|locator|sku|ticket|isbn|uuid|sha|hash|serial|plate|pnr|tracking)$",
    re.IGNORECASE,
)
_IDENTIFIER_SAID = re.compile(r"\b(?:id|ids|identifier|reference|number)\b|번호|아이디", re.IGNORECASE)
_NAME_SAID = re.compile(r"\b(?:name|title|text|word)s?\b|이름|명칭|제목|\bor\b|또는", re.IGNORECASE)
LOGIN_NAME = re.compile(r"(^|_)(login|username|user_name|handle|nickname)$", re.IGNORECASE)
EXAMPLES = re.compile(
    r"\be\.?g\b|\bfor example\b|\bfor instance\b|\bsuch as\b|\blike\b|예:|예를|example", re.IGNORECASE
)


def prefix_of(schema: JsonObject) -> str:
    """Return the letters that ids of this parameter begin with, where description, pattern or examples show them."""
    shown = [str(schema.get(key, "")) for key in ("pattern", "description", "examples", "title")]
    for text in shown:
        for match in _PREFIX.finditer(text):
            if match.group(1) not in _NO_PREFIX:
                return match.group(1)
    return ""


def is_identifier(name: str, schema: JsonObject) -> bool:
    """Tell whether a parameter takes an id, by its name or the shape that its schema shows."""
    plain_name = snake(name)
    is_called = _IDENTIFIER_NAME.search(plain_name) or LOGIN_NAME.search(plain_name)
    said = str(schema.get("description", ""))
    is_said = _IDENTIFIER_SAID.search(said) is not None and _NAME_SAID.search(f"{plain_name} {said}") is None
    return bool(is_called or prefix_of(schema) or schema.get("pattern") or is_said or example_of(schema))


def example_of(schema: JsonObject) -> str:
    """Return the id that a description or list of examples shows as one of many; empty when it shows a rule."""
    for text in (*(schema.get("examples") or ()), schema.get("description", "")):
        is_example = text is not schema.get("description") or EXAMPLES.search(str(text))
        shown = _SHOWN_ID.search(str(text))
        if is_example and shown:
            return shown.group(0)
    return ""


def shape_of(value: str) -> str:
    """Return the form of an id: letters as A, runs of digits as 0."""
    return re.sub(r"\d+", "0", re.sub(r"[A-Za-z]", "A", value))
