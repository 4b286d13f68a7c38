"""What stands between client and server in `bench/gateway.py`: Naru as it is served, a raw floor, and peers.

gateway_targets.py naru [--inflight N] URL_OR_COMMAND...       with key, policy, gate and metrics; prints its port
gateway_targets.py floor URL                    parses, renumbers and forwards frames: nothing else
gateway_targets.py sdk                          a server on the MCP SDK, with sessions
gateway_targets.py fastmcp URL_OR_COMMAND       run with a Python that has fastmcp
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from pathlib import Path

KEY = "naru_b7Qx2mVe91LkTz0sRdYw8HcJ4uFaG6pN3iXo"


def bound_socket() -> socket.socket:
    bound = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(bound.getsockname()[1], flush=True)
    return bound


async def naru(upstreams: list[str]) -> None:
    import tempfile

    inflight = 1000
    if upstreams[0] == "--inflight":
        inflight = int(upstreams[1])
        del upstreams[:2]

    from naru.cli.serve.listening import serve
    from naru.config import GatewaySection, Settings
    from naru.connections.open import open_manager
    from naru.gateway.gateway import Gateway, settings_of
    from naru.records import ServerRecord, TransportType
    from naru.stores.memory import MemoryStore
    from naru.stores.secrets.keys import KeyFile
    from naru.web import mcp_faces
    from naru.web.gate.access import KeyRing, RateLimiter
    from naru.web.gate.security import guard
    from naru.web.routes import Access, Endpoint

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"hub": {"data_dir": folder}, "server": {"auth": "on", "port": 0}})
        manager = open_manager(settings, MemoryStore(), asks_for_keys=True)
        for number, upstream in enumerate(upstreams):
            is_url = upstream.startswith("http")
            command = [] if is_url else json.loads(upstream)
            config = {"url": upstream} if is_url else {"command": command[0], "args": command[1:]}
            kind = TransportType.HTTP if is_url else TransportType.STDIO
            await manager.register(ServerRecord(name=f"s{number}", transport_type=kind, config=config))
        await asyncio.gather(*(manager.connect(name) for name in manager.connections))
        for name, connection in manager.connections.items():
            assert connection.is_live, manager.explain(name)
        section = GatewaySection(flat_names=len(upstreams) == 1, max_requests=inflight)
        gateway = Gateway(manager, settings_of(section))
        keys = KeyRing(KeyFile(Path(folder) / "keys.json", fixed_admin_key=KEY))
        rows = [*mcp_faces.endpoints(gateway), Endpoint("/lag", ("GET",), lag, Access.PUBLIC, raw=True)]
        app = guard(dispatch, rows, settings.server, keys=keys, limits=RateLimiter(0))
        probe = asyncio.create_task(watch_lag())
        await serve(app, bound_socket(), gateway.end_streams)
        probe.cancel()
        await gateway.close()
        await manager.close()


LAGS: list[float] = []


async def watch_lag() -> None:
    """Note how late the loop wakes up: what blocks it shows here (R-38)."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.01)
        LAGS.append(time.perf_counter() - began - 0.01)


async def lag(scope: dict, receive: object, send: object) -> None:
    """Answer with the p50, p99 and most of the lags since the last question, in milliseconds."""
    lags = sorted(LAGS) or [0.0]
    LAGS.clear()
    found = [lags[len(lags) // 2], lags[int(len(lags) * 0.99)], lags[-1]]
    body = json.dumps([round(each * 1000, 2) for each in found]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def dispatch(scope: dict, receive: object, send: object) -> None:
    if scope["type"] == "http":
        await scope["state"]["endpoint"].handler(scope, receive, send)


async def floor(url: str) -> None:
    import aiohttp
    import orjson
    import uvicorn

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    upstream: dict[str, str] = {}
    number = 0

    async def app(scope: dict, receive: object, send: object) -> None:
        nonlocal number
        body = (await receive())["body"]
        message = orjson.loads(body)
        own, number = message.get("id"), number + 1
        message["id"] = number
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **upstream}
        for name, value in scope["headers"]:
            if name.startswith(b"mcp-") and name != b"mcp-session-id":
                headers[name.decode()] = value.decode()
        async with session.post(url, data=orjson.dumps(message), headers=headers) as response:
            if own is None:
                status, data = response.status, b""
            else:
                found = orjson.loads(await response.read())
                found["id"] = own
                status, data = 200, orjson.dumps(found)
        heads = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(data)),
            (b"mcp-session-id", b"s"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": heads})
        await send({"type": "http.response.body", "body": data})

    config = uvicorn.Config(app, http="httptools", loop="none", lifespan="off", log_level="error", access_log=False)
    await uvicorn.Server(config).serve(sockets=[bound_socket()])


async def sdk() -> None:
    import uvicorn
    from mcp.server import MCPServer

    server = MCPServer("sdk")

    @server.tool()
    async def echo(text: str) -> str:
        return text

    config = uvicorn.Config(server.streamable_http_app(), http="httptools", loop="none", log_level="error")
    await uvicorn.Server(config).serve(sockets=[bound_socket()])


def fastmcp(upstream: str) -> None:
    from fastmcp.server import create_proxy

    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    bound.close()
    command = [] if upstream.startswith("http") else json.loads(upstream)
    target = upstream if not command else {"mcpServers": {"s": {"command": command[0], "args": command[1:]}}}
    print(port, flush=True)
    create_proxy(target).run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error")


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    if name == "fastmcp":
        fastmcp(rest[0])
    else:
        import uvloop

        uvloop.run(naru(rest) if name == "naru" else sdk() if name == "sdk" else floor(rest[0]))
