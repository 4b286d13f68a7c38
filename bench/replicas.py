"""Hubs that serve as one, in one run: `python bench/replicas.py [--quick] [--only replicas,change,kill,workers]`.

Starts and stops everything on loopback: PostgreSQL, hubs, a raw MCP server, nginx before them. Ratios of one run count:
on two cores the load, the proxy and the upstream server want the same cores as the hubs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import aiohttp
import psutil
import psycopg

from gateway import ECHO, free_port, listening, program
from gateway_load import Cell, Target, load
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries

KEY = "naru_b7Qx2mVe91LkTz0sRdYw8HcJ4uFaG6pN3iXo"
HEADERS = {"Authorization": f"Bearer {KEY}"}
SITE = """
daemon off; pid {folder}/nginx.pid; error_log stderr; worker_processes 1;
events {{ worker_connections 4096; }}
http {{
    access_log off; {temporary}
    upstream hubs {{ {servers} keepalive 128; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://hubs; proxy_http_version 1.1; proxy_set_header Connection "";
            proxy_set_header Host $http_host; proxy_buffering off; proxy_connect_timeout 1s;
        }}
    }}
}}
"""


@dataclass
class Hubs:
    """What runs."""

    ports: list[int]
    processes: list[asyncio.subprocess.Process]
    proxy: int = 0
    shares: list[float] = field(default_factory=list)
    """Of the CPU of each load, what the busiest process had."""

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self.ports]


@contextlib.asynccontextmanager
async def hubs(count: int, store: str, upstream: str, *, workers: int = 1, proxied: bool = True) -> AsyncIterator[Hubs]:
    """Start hubs, with nginx before them, and wait until each offers the upstream's tool."""
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports, proxy = [free_port() for _ in range(count)], free_port()
        made = Hubs(ports, [], proxy if proxied else ports[0])
        names = json.dumps([f"127.0.0.1:{port}" for port in (proxy, *ports)])
        for number, port in enumerate(ports):
            environment = {
                **os.environ,
                "NARU_HUB__DATA_DIR": str(folder / str(number)),
                "NARU_SERVER__API_KEY": KEY,
                "NARU_SERVER__RATE_LIMIT_PER_MINUTE": "0",
                "NARU_SERVER__ALLOWED_HOSTS": names,
                "NARU_SERVER__WORKERS": str(workers),
                "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1",
                "NARU_MODEL__MODEL": "none",
                "NARU_MCP__SERVERS": json.dumps([{"name": "s0", "url": upstream, "transport": "http"}]),
                "NARU_AUDIT__ENABLED": "false",
            }
            if store:
                environment |= {"NARU_HUB__STORE": store, "NARU_HUB__REPLICA_ADDRESS": "auto"}
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "naru.cli.main", "serve", "--port", str(port)),
                env=environment,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            made.processes.append(child)
            stack.push_async_callback(end, child)
        if proxied:
            await stack.enter_async_context(nginx(folder, proxy, ports))
        async with aiohttp.ClientSession(headers=HEADERS) as http:
            for url in made.urls:
                await offered(http, url)
        yield made


async def end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        child.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(child.wait(), 20)
        except TimeoutError:
            child.kill()
            await child.wait()


@contextlib.asynccontextmanager
async def nginx(folder: Path, port: int, ports: list[int]) -> AsyncIterator[None]:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    servers = " ".join(f"server 127.0.0.1:{one} max_fails=1 fail_timeout=1s;" for one in ports)
    config = folder / "nginx.conf"
    config.write_text(SITE.format(folder=folder, temporary=temporary, servers=servers, port=port), encoding="utf-8")
    found = shutil.which("nginx") or sys.exit("bench/replicas.py needs nginx: apt-get install nginx")
    child = await asyncio.create_subprocess_exec(found, "-c", str(config), "-p", str(folder))
    try:
        await listening(port)
        yield
    finally:
        await end(child)


async def offered(http: aiohttp.ClientSession, url: str) -> None:
    """Wait until a hub offers the upstream's tool, a few times in a row: each worker may answer."""
    seen = 0
    for _ in range(1200):
        with contextlib.suppress(aiohttp.ClientError):
            async with http.get(f"{url}/api/tools", headers={"Connection": "close"}) as answer:
                text = await answer.text()
                seen = seen + 1 if '"s0__echo"' in text else 0
        if seen == 8:
            return
        await asyncio.sleep(0.05)
    raise TimeoutError(url)


async def loaded(made: Hubs, options: argparse.Namespace, *, modern: bool) -> Cell:
    """Load once; CPU is that of all hubs with their workers, and what the busiest of them had of it."""
    target = Target(made.proxy, made.processes[0].pid, key=KEY, tool="s0__echo", modern=modern)
    before = spent_by(made)
    cell = await load(target, options.sessions, options.seconds)
    spent = {pid: seconds - before.get(pid, 0.0) for pid, seconds in spent_by(made).items()}
    made.shares.append(max(spent.values()) / sum(spent.values()))
    return replace(cell, cpu_ms=sum(spent.values()) / (cell.per_second * options.seconds) * 1000)


def spent_by(made: Hubs) -> dict[int, float]:
    """Return the CPU seconds of each process that serves."""
    found: dict[int, float] = {}
    for child in made.processes:
        process = psutil.Process(child.pid)
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                found[each.pid] = each.cpu_times().user + each.cpu_times().system
    return found


async def measure(made: Hubs, options: argparse.Namespace, *, modern: bool) -> Cell:
    cells = [await loaded(made, options, modern=modern) for _ in range(options.rounds)]
    return Cell(*(statistics.median(getattr(cell, name) for cell in cells) for name in Cell.__dataclass_fields__))


def shown(name: str, cell: Cell, base: Cell) -> str:
    rate, ratio = cell.per_second, cell.per_second / base.per_second
    line = f"  {name:<38} {rate:6.0f} a second {ratio:5.2f} x   p50 {cell.p50_ms:6.2f}   p99 {cell.p99_ms:7.2f} ms"
    return f"{line}   CPU {cell.cpu_ms:6.3f} ms"


async def replicas(options: argparse.Namespace, database: EmbeddedPostgres, upstream: str) -> None:
    print(f"\n{options.sessions} clients through nginx; 1, 2 and 3 hubs on one PostgreSQL")
    for kind, modern in (("stateless clients", True), ("clients with sessions", False)):
        base: Cell | None = None
        for count in (1, 2, 3):
            async with hubs(count, fresh(database), upstream) as made:
                cell = await measure(made, options, modern=modern)
                base = base or cell
                print(shown(f"{kind}, {count} hub(s)", cell, base), flush=True)


async def change(options: argparse.Namespace, database: EmbeddedPostgres, upstream: str) -> None:
    """How long until a change at one hub is seen at the two others."""
    took: dict[str, list[float]] = {"a server": [], "a key": [], "a revoked key": []}
    async with hubs(3, fresh(database), upstream) as made, aiohttp.ClientSession(headers=HEADERS) as http:
        first, others = made.urls[0], made.urls[1:]
        for number in range(options.changes):
            entry = {"name": f"n{number}", "config": {"url": "https://far.example/mcp"}, "autoConnect": False}
            async with http.post(f"{first}/api/mcp/servers", json=entry) as answer:
                assert answer.status == 201, await answer.text()
            place = f"/api/mcp/servers/n{number}"
            took["a server"].append(await seen(http, others, place, HEADERS, {200}))
            async with http.post(f"{first}/api/keys", json={"role": "user"}) as answer:
                key = await answer.json()
            theirs = {"Authorization": f"Bearer {key['key']}"}
            took["a key"].append(await seen(http, others, "/v1/models", theirs, {200, 502}))  # there is no model
            async with http.delete(f"{first}/api/keys/{key['id']}") as answer:
                assert answer.status == 204
            took["a revoked key"].append(await seen(http, others, "/v1/models", theirs, {401, 429}))
    print(f"\nuntil a change is seen at both other hubs, {options.changes} changes of each kind")
    for what, each in took.items():
        print(f"  {what:<16} p50 {statistics.median(each) * 1000:6.0f} ms, longest {max(each) * 1000:6.0f} ms")


async def seen(
    http: aiohttp.ClientSession, urls: list[str], path: str, headers: dict[str, str], wanted: set[int]
) -> float:
    began = time.perf_counter()
    for url in urls:
        for _ in range(5000):
            async with http.get(url + path, headers=headers) as answer:
                if answer.status in wanted:
                    break
            await asyncio.sleep(0.005)
        else:
            raise TimeoutError(path)
    return time.perf_counter() - began


async def kill(options: argparse.Namespace, database: EmbeddedPostgres, upstream: str) -> None:
    """One of three is killed under load: what failed, and what that was acknowledged is missing."""
    failed: list[float] = []
    done: list[float] = []
    kept: list[str] = []
    stop = asyncio.Event()
    async with hubs(3, fresh(database), upstream) as made, aiohttp.ClientSession(headers=HEADERS) as http:
        through = f"http://127.0.0.1:{made.proxy}"
        target = Target(made.proxy, made.processes[0].pid, key=KEY, tool="s0__echo", modern=True)
        raw = target.request("tools/call", {"name": "s0__echo", "arguments": {"text": "x"}})
        head, body = raw.split(b"\r\n\r\n", 1)
        sent = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n")[1:])

        async def call() -> None:
            while not stop.is_set():
                try:
                    async with http.post(f"{through}/mcp", data=body, headers=sent) as answer:
                        is_good = answer.status == 200 and b'"result"' in await answer.read()
                except aiohttp.ClientError:
                    is_good = False
                (done if is_good else failed).append(time.perf_counter())

        async def write() -> None:
            while not stop.is_set():
                with contextlib.suppress(aiohttp.ClientError):
                    async with http.post(f"{through}/api/keys", json={"role": "read", "owner": "b"}) as answer:
                        if answer.status == 201:
                            kept.append((await answer.json())["id"])

        work = [asyncio.create_task(each()) for each in (*[call] * options.sessions, *[write] * 4)]
        await asyncio.sleep(options.seconds)
        made.processes[1].kill()
        killed = time.perf_counter()
        await asyncio.sleep(options.seconds)
        stop.set()
        await asyncio.gather(*work)
        async with http.get(f"{made.urls[0]}/api/keys") as answer:
            known = {key["id"] for key in await answer.json()}
    lost = len(set(kept) - known)
    late = [at - killed for at in failed if at > killed]
    print("\none of three hubs killed under load")
    print(
        f"  calls done {len(done)}, failed {len(failed)}; the last failure {max(late, default=0) * 1000:.0f} ms after"
    )
    print(f"  writes acknowledged {len(kept)}, lost {lost}")
    assert lost == 0


async def inspected(made: Hubs, options: argparse.Namespace) -> Cell:
    """Have 8 clients ask what a model's text of 20 kB is read as: nearly all of that is the hub's own work."""
    body = json.dumps({"text": '<tool_call>{"name": "f", "arguments": {}}</tool_call> words ' * 400}).encode()
    took: list[float] = []
    before = sum(spent_by(made).values())
    end = time.perf_counter() + options.seconds

    async def client() -> None:
        headers = {**HEADERS, "Content-Type": "application/json"}
        async with aiohttp.ClientSession(headers=headers) as http:
            while (began := time.perf_counter()) < end:
                async with http.post(f"{made.urls[0]}/api/dialects/inspect", data=body) as answer:
                    assert answer.status == 200
                    await answer.read()
                took.append(time.perf_counter() - began)

    await asyncio.gather(*(client() for _ in range(8)))
    took.sort()
    spent = sum(spent_by(made).values()) - before
    rate = len(took) / options.seconds
    return Cell(rate, statistics.median(took) * 1000, took[int(len(took) * 0.99)] * 1000, spent / len(took) * 1000)


async def workers(options: argparse.Namespace, database: EmbeddedPostgres, upstream: str) -> None:
    print("\n1 and 2 workers of one hub, in turn, without a proxy; load and upstream want the same cores")
    del database
    cells: dict[tuple[str, int], list[Cell]] = {}
    async with hubs(1, "", upstream, proxied=False) as one, hubs(1, "", upstream, workers=2, proxied=False) as two:
        for _ in range(options.rounds):
            for kind, modern in (("stateless clients", True), ("clients with sessions", False)):
                for count, made in ((1, one), (2, two)):
                    cells.setdefault((kind, count), []).append(await loaded(made, options, modern=modern))
            for count, made in ((1, one), (2, two)):
                cells.setdefault(("reading 20 kB of model text", count), []).append(await inspected(made, options))
    medians = {
        key: Cell(*(statistics.median(getattr(cell, name) for cell in each) for name in Cell.__dataclass_fields__))
        for key, each in cells.items()
    }
    for (kind, count), cell in medians.items():
        print(shown(f"{kind}, {count} worker(s)", cell, medians[kind, 1]))
    share = statistics.median(two.shares)
    print(f"  of two workers the busier one had {share:.0%} of the CPU; with cores of their own and the load elsewhere")
    for kind in ("stateless clients", "clients with sessions"):
        possible = medians[kind, 1].cpu_ms / (medians[kind, 2].cpu_ms * share)
        print(f"  they would serve {kind} {possible:.2f} x as fast as one")


def fresh(database: EmbeddedPostgres) -> str:
    name = f"b{secrets.token_hex(4)}"
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
    return database.dsn_for(name)


PARTS = {"replicas": replicas, "change": change, "kill": kill, "workers": workers}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short rounds, few of them")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run")
    parser.add_argument("--sessions", type=int, default=32)
    options = parser.parse_args()
    options.rounds, options.seconds, options.changes = (3, 2.0, 10) if options.quick else (5, 4.0, 30)
    with EmbeddedPostgres(bin_dir=find_binaries()) as database:
        async with program(sys.executable, ECHO) as (port, _):
            for name in options.only.split(","):
                await PARTS[name](options, database, f"http://127.0.0.1:{port}/mcp")


if __name__ == "__main__":
    asyncio.run(main())
