"""What the chat face remembers between two requests of one conversation: little, bounded, and never needed."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
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
    digest = sha256(caller.encode("utf-8", "surrogatepass"))
    for message in messages:
        if message.role == "system":
            continue
        calls = "".join(canonical(one) for one in message.tool_calls)
        digest.update(f"\0{message.role}\0{message.text.strip()}\0{calls}".encode("utf-8", "surrogatepass"))
    digest.update(f"\0{canonical(call)}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
