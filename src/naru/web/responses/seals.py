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
_ALONE = frozenset({"type", "data"})


def sealed_in(event: Extra) -> Iterator[str]:
    """Give what is sealed of an endpoint's thoughts."""
    details = event.fields.get("reasoning_details") if event.place == "message" else None
    for one in details if isinstance(details, list) else ():
        if isinstance(one, dict) and one.get("type") == "reasoning.encrypted" and isinstance(one.get("data"), str):
            whole = base64.b64encode(encode(one)).decode()
            yield one["data"] if one.keys() <= _ALONE else f"{_MARK}{whole}"


def opened(content: str, item_id: object) -> JsonObject:
    """Return sealed thoughts as their endpoint gave them; those of another server stand under their item's id."""
    if content.startswith(_MARK):
        try:
            found = orjson.loads(base64.b64decode(content.removeprefix(_MARK), validate=True))
        except ValueError:
            found = None
        if isinstance(found, dict) and found.get("type") == "reasoning.encrypted":
            return found
    return {"type": "reasoning.encrypted", "data": content, "id": item_id}
