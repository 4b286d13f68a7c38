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
    """A mapping that forgets: the oldest entries, and those older than `seconds`."""

    def __init__(
        self, *, seconds: float = SECONDS, entries: int = ENTRIES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._entries = entries
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, key: str, value: Value) -> None:
        """Remember a value."""
        now = self._clock()
        self._kept[key] = (now + self._seconds, value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._entries or next(iter(self._kept.values()))[0] < now:
            self._kept.popitem(last=False)

    def get(self, key: str) -> Value | None:
        """Return the value, if it is still remembered."""
        until, value = self._kept.get(key, (0.0, None))
        if value is not None and until < self._clock():
            del self._kept[key]
            return None
        return value


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
