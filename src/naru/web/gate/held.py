"""A stream that is held open says nothing more once whoever follows it may no longer (A-02)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from naru.errors import NaruError

if TYPE_CHECKING:
    from starlette.types import Message, Send

CHECKED_SECONDS = 1.0
"""A revoked key is refused within this time; so it is here."""


class WhileGood:
    """A `send` that ends the answer in place of its next piece once `is_good` says no; asked once a second at most.

    Nothing runs while the stream is silent: thousands of them cost no timer, and one ends with its next keep-alive.
    """

    __slots__ = ("_asked_at", "_is_good", "_is_over", "_send")

    def __init__(self, send: Send, is_good: Callable[[], bool]) -> None:
        self._send, self._is_good = send, is_good
        self._asked_at, self._is_over = time.monotonic(), False

    async def __call__(self, message: Message) -> None:
        """Pass a message on, or the end."""
        if self._is_over:
            return
        now = time.monotonic()
        if message["type"] == "http.response.body" and now - self._asked_at >= CHECKED_SECONDS:
            self._asked_at = now
            self._is_over = not self._may_go_on()
        await self._send({"type": "http.response.body", "body": b""} if self._is_over else message)

    def _may_go_on(self) -> bool:
        try:
            return self._is_good()
        except NaruError:  # No key counts until the file of keys can be read again.
            return False
