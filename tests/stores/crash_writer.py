"""Writes to a store until it is killed; says through a pipe what it will do, and what it did."""

from __future__ import annotations

import asyncio
import random
from multiprocessing.connection import Connection

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
