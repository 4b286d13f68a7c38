"""What the chat face remembers between two requests of one conversation: little, bounded, and never needed."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Generic, TypeVar

from naru.agent.limits import canonical
from naru.messages import Message, ToolCall

Value = TypeVar("Value")
SECONDS = 900.0
ENTRIES = 2_000


class Recent(Generic[Value]):
    """A mapping that forgets: the oldest entries, and those older than `seconds`.

    Where `size` tells what an entry takes, all of them together take no more than `most`.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        entries: int = ENTRIES,
        clock: Callable[[], float] = time.monotonic,
        size: Callable[[Value], int] = lambda value: 0,
        most: int = 0,
    ) -> None:
        self._seconds = seconds
        self._entries = entries
        self._clock = clock
        self._size = size
        self._most = most
        self._taken = 0
        self._kept: OrderedDict[str, tuple[float, Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, key: str, value: Value) -> None:
        """Remember a value."""
        now = self._clock()
        self._forget(key)
        if (size := self._size(value)) > self._most:
            return
        self._kept[key] = (now + self._seconds, value, size)
        self._taken += size
        while True:
            oldest, (until, _, _) = next(iter(self._kept.items()))
            if len(self._kept) <= self._entries and self._taken <= self._most and until >= now:
                return
            self._forget(oldest)

    def get(self, key: str) -> Value | None:
        """Return the value, if it is still remembered."""
        until, value, _ = self._kept.get(key, (0.0, None, 0))
        if value is not None and until < self._clock():
            self._forget(key)
            return None
        return value

    def _forget(self, key: str) -> None:
        _, _, size = self._kept.pop(key, (0.0, None, 0))
        self._taken -= size


def place_of(caller: str, messages: Sequence[Message], call: ToolCall) -> str:
    """Return a key for "this call, at this point of this caller's conversation".

    System turns are left out, since clients rewrite theirs at every turn.
    """
    *_, place = places_of(caller, (*messages, Message("assistant", tool_calls=(call,))))
    return place


def places_of(caller: str, messages: Sequence[Message]) -> Iterator[str]:
    """Give for each turn `place_of` its first call, empty where it has none; each turn is read once."""
    digest = sha256(caller.encode("utf-8", "surrogatepass"))
    for message in messages:
        calls = [canonical(one) for one in message.tool_calls]
        here = digest.copy()
        here.update(f"\0{calls[0] if calls else ''}".encode("utf-8", "surrogatepass"))
        yield here.hexdigest() if calls else ""
        if message.role != "system":
            said = f"\0{message.role}\0{message.text.strip()}\0{''.join(calls)}"
            digest.update(said.encode("utf-8", "surrogatepass"))
