"""Functions that the tests of `naru tool` run."""

from __future__ import annotations

import asyncio

from naru.tools.functions.inject import ToolContext


def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


def colourful() -> str:
    """Try to steer the terminal."""
    return "\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07end\nline\ttab"


def fails() -> None:
    """Fail."""
    raise ValueError("\x1b[31mno such thing")


async def slow() -> None:
    """Take long."""
    await asyncio.sleep(30)


def who(ctx: ToolContext) -> str:
    """Say who calls."""
    return ctx.caller


def needs(db: object) -> None:
    """Want a database that nobody gives."""
