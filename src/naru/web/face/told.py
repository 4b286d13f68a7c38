"""The events of one answer on their way to the client: in its dialect, through its face's writer, in few writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from typing import cast

from naru.agent.events import CallFinished, CallStarted, RunFinished
from naru.messages import ChatEvent, Finish, Notice, Reasoning, Text
from naru.web.face.client import ChatClient
from naru.web.face.exchange import Exchange, Outgoing
from naru.web.face.seam import HUB_EVENTS, FaceEvent, Keeping, Step, StreamWriter, ToolNote, WholeWriter
from naru.web.face.steps import told


class Dialect:
    """Puts batches into what the client reads; the hub's own events pass."""

    def __init__(self, exchange: Exchange) -> None:
        self.outgoing = None if exchange.is_plain else Outgoing(exchange)
        self._minting = exchange.minting
        self._takes_extra = exchange.profile.extra_fields
        self._steps = exchange.profile.steps

    def adapt(self, batch: Sequence[FaceEvent]) -> Iterator[FaceEvent]:
        """Give a batch in the client's dialect."""
        for event in batch:
            if isinstance(event, RunFinished | Notice) and not self._takes_extra:
                continue
            if self.outgoing is None or isinstance(event, HUB_EVENTS):
                yield event
            else:
                yield from self.outgoing.feed(event)
            if self._steps and isinstance(event, CallStarted | CallFinished | ToolNote):
                yield from self._told(told(event, self._steps))

    def _told(self, steps: Iterator[FaceEvent]) -> Iterator[FaceEvent]:
        for step in steps:
            if self.outgoing is None or isinstance(step, Step):
                yield step
            elif isinstance(step, Text | Reasoning):
                yield from self.outgoing.feed(step)

    @property
    def is_behind(self) -> bool:
        """Whether the client must not be told yet what was adapted."""
        return self._minting is not None and self._minting.is_behind

    async def settle(self) -> None:
        """Keep what it is told that it may use. Raises StoreError."""
        if self._minting is not None and self._minting.is_behind:
            await asyncio.to_thread(self._minting.keep)

    def rest(self) -> list[ChatEvent]:
        """Return what was held back until the end."""
        return self.outgoing.close() if self.outgoing is not None else []


class Streamed:
    """An answer as a stream; what comes with its end goes out with its end."""

    def __init__(self, writer: StreamWriter, client: ChatClient, dialect: Dialect) -> None:
        self._client = client
        self._dialect = dialect
        self._plain = dialect.outgoing is None
        self._writer = writer
        self._unsent = writer.start()
        client.fail_with = writer.fail

    def take(self, batch: Sequence[FaceEvent]) -> Awaitable[None] | None:
        """Send what came together."""
        feed = self._writer.feed
        if self._plain and len(batch) == 1 and type(batch[0]) is Text:
            data = feed(batch[0])  # What most batches are while a model writes.
        else:
            data = b"".join(map(feed, self._dialect.adapt(batch)))
        if batch and isinstance(batch[-1], Finish | RunFinished):
            self._unsent += data
            return None
        if not data:
            return None
        if self._unsent:
            data, self._unsent = self._unsent + data, b""
        return self._settled(data) if self._dialect.is_behind else self._client.put(data)

    async def _settled(self, data: bytes) -> None:
        await self._dialect.settle()
        await self._client.write(data)

    async def end(self) -> None:
        """Send the end."""
        rest = b"".join(map(self._writer.feed, self._dialect.rest()))
        data = self._unsent + rest + self._writer.end()
        await self._dialect.settle()
        await _kept(self._writer)
        await self._client.end(data)


class Whole:
    """An answer as one object."""

    def __init__(self, writer: WholeWriter, client: ChatClient, dialect: Dialect) -> None:
        self._client = client
        self._dialect = dialect
        self._writer = writer

    def take(self, batch: Sequence[FaceEvent]) -> None:
        """Collect what came together."""
        for event in self._dialect.adapt(batch):
            self._writer.feed(event)

    async def end(self) -> None:
        """Send it."""
        for event in self._dialect.rest():
            self._writer.feed(event)
        body = self._writer.body()
        await self._dialect.settle()
        await _kept(self._writer)
        await self._client.answer(body)


async def _kept(writer: object) -> None:
    """Have an answer kept whose API keeps answers: before its client is told the end."""
    if hasattr(writer, "keep"):
        await cast("Keeping", writer).keep()
