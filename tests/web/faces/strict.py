"""Official packages' types as strict references: nothing missing, nothing unknown, at any depth."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

import aiohttp
from pydantic import BaseModel, TypeAdapter

_TYPED_NOWHERE = {"store"}
"""OpenAI answers with it and the Open Responses specification wants it; the package has no type for it."""
adapter_of = functools.cache(TypeAdapter)
"""Made once for each type: those of answers and of requests take a second of CPU to make."""


def strictly(kind: Any, value: Any) -> Any:
    """Validate against a package's type, which by itself lets unknown fields pass."""
    made = adapter_of(kind).validate_python(value)
    extras = list(_extras(made, "$"))
    assert not extras, f"fields that {kind} does not have: {extras}"
    return made


def _extras(value: Any, where: str) -> Iterator[str]:
    if isinstance(value, BaseModel):
        yield from (f"{where}.{name}" for name in (value.model_extra or {}).keys() - _TYPED_NOWHERE)
        for name in type(value).model_fields:
            yield from _extras(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from _extras(item, f"{where}[{position}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _extras(item, f"{where}.{name}")


async def post(url: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as response:
        return response.status, await response.json(content_type=None)


async def events(url: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> list[tuple[str, Any]]:
    """POST and return the names and data of a stream's events."""
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as response:
        text = await response.text()
        assert response.status == 200, text
        assert response.headers["content-type"].startswith("text/event-stream")
    found: list[tuple[str, Any]] = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in lines:
            data = lines["data"]
            found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found
