"""The section `mcp.guests`: MCP servers that a request names by URL, registered nowhere."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel

from naru.config.section import DASHED

ADDRESS = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9*._-]+)(?::(?P<port>\d{1,5}|\*))?(?P<path>/[^\s?#]*)?"
)
"""`[http://]host[:port][/path]`; a host may hold `*`."""


def _addresses(values: list[str]) -> list[str]:
    for value in values:
        if not ADDRESS.fullmatch(value):
            raise ValueError(f"{value!r} is no address such as mcp.example.com, *.example.com/mcp or http://tools:8000")
    return values


class GuestSettings(BaseModel):
    """Servers that a request names by URL; keys may be written with `-` or `_`."""

    model_config = DASHED

    addresses: Annotated[list[str], AfterValidator(_addresses)] = []
    """Addresses that a request may name: `mcp.example.com`, `*.example.com/mcp`, `http://tools.lan:8000`, `*`; none by
    default. Without `http://` only https is meant. What a `*` stands for must be a public address; a host that
    is written out may be a private one."""
    access: Literal["user", "operator", "admin"] = "admin"
    """The least role that may name one."""
