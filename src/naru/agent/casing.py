"""Names of tools, parameters and keys as words, however they are written."""

from __future__ import annotations

import re

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    """Return a name with `_` where camel case begins a word; its letters stay as they are."""
    return _HUMP.sub("_", name)


def latin_words(tool_name: str) -> list[str]:
    """Return the Latin words of a tool's name, in small letters, without its server."""
    return re.findall(r"[a-z]+", snake(tool_name.rsplit("__", 1)[-1]).lower())
