"""Sealed thoughts as `encrypted_content`: whoever sealed them wants them back as they were, with their own id.

An item's id is Naru's, and the API has one field for what is sealed: what stood beside the seal goes into it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

import orjson

from naru.messages import Extra, JsonObject
from naru.models.transport.json_text import encode

_MARK = "naru."
"""No base64 has a dot."""
_SUMMARY = "naru.summary"
_ALONE = frozenset({"type", "data"})


def sealed_in(event: Extra) -> Iterator[str]:
    """Give what is sealed of an endpoint's thoughts."""
    details = event.fields.get("reasoning_details") if event.place == "message" else None
    for one in details if isinstance(details, list) else ():
        if isinstance(one, dict) and one.get("type") == "reasoning.encrypted" and isinstance(one.get("data"), str):
            whole = base64.b64encode(encode(one)).decode()
            yield one["data"] if one.keys() <= _ALONE else f"{_MARK}{whole}"


def sealed_summary(text: str) -> str:
    """Return a summary of ours as `encrypted_content`."""
    return _MARK + base64.b64encode(encode({"type": _SUMMARY, "text": text})).decode()


def opened_summary(content: str) -> str:
    """Return the summary; empty for what another server has sealed."""
    found = _opened(content)
    return str(found.get("text") or "") if found.get("type") == _SUMMARY else ""


def opened(content: str, item_id: object) -> JsonObject:
    """Return sealed thoughts as their endpoint gave them; those of another server stand under their item's id."""
    found = _opened(content)
    if found.get("type") == "reasoning.encrypted":
        return found
    return {"type": "reasoning.encrypted", "data": content, "id": item_id}


def _opened(content: str) -> JsonObject:
    if not content.startswith(_MARK):
        return {}
    try:
        found = orjson.loads(base64.b64decode(content.removeprefix(_MARK), validate=True))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
