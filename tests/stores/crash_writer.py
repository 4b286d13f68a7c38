"""Processes that write to a store: one until it is killed, and one of many that count together."""

from __future__ import annotations

import asyncio
import random
from multiprocessing.connection import Connection

from naru.errors import ConflictError
from naru.records import ServerRecord
from naru.stores.open import open_store


def write_until_killed(url: str, seed: int, pipe: Connection) -> None:
    """The whole process."""
    asyncio.run(_write(url, seed, pipe))


async def _write(url: str, seed: int, pipe: Connection) -> None:
    chance = random.Random(seed)
    store = open_store(url)
    await store.open()
    mine: list[str] = []
    pipe.send("up")
    for number in range(10_000):
        if mine and chance.random() < 0.4:
            name = mine.pop(chance.randrange(len(mine)))
            pipe.send(f"delete {name}")
            await store.delete(name)
            pipe.send(f"deleted {name}")
        else:
            name = f"s{seed}-{number}"
            config = {"url": "http://h/", "pad": "가" * chance.randrange(2_000)}
            pipe.send(f"save {name}")
            await store.save(ServerRecord(name=name, config=config))
            mine.append(name)
            pipe.send(f"saved {name}")


def count_up(url: str, number: int, operations: int, pipe: Connection) -> None:
    """Add to the record `counter` by compare-and-set, and keep every other record of one's own."""
    asyncio.run(_count_up(url, number, operations, pipe))


async def _count_up(url: str, number: int, operations: int, pipe: Connection) -> None:
    store = open_store(url)
    await store.open()
    retried = 0
    for turn in range(operations):
        while True:
            kept = await store.find_by_name("counter")
            assert kept is not None
            change = {"version": str(int(kept.version or 0) + 1), "updated_at": kept.updated_at + 1}
            try:
                await store.update(kept.model_copy(update=change), expected_updated_at=kept.updated_at)
                break
            except ConflictError:
                retried += 1
        name = f"w{number}-{turn}"
        await store.save(ServerRecord(name=name, config={"url": "http://h/"}))
        if turn % 2:
            await store.delete(name)
    await store.close()
    pipe.send(retried)
