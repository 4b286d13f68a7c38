"""Mixed requests of twenty persons at one hub, each with their own credentials: how many answers are somebody else's.

`python -m bench.persons --requests 1000000`. Three kinds of servers: tokens of the official SDK's authorization server,
programs with a stored secret, headers passed on. Every answer names whose credentials it was made with.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.team.authority import say_yes
from tests.team.conftest import Team, call_mcp, declared, team
from tests.team.test_own_credentials import SIGN_IN
from tests.team.test_sign_in import BACK, upstream

from naru.connections import personal

PERSONS = [f"p{number:02}" for number in range(20)]
AT_ONCE = 16


async def measure(requests: int) -> int:
    """Make the requests and print what came of them. Returns 1 when an answer was somebody else's."""
    forwards = {"forwardHeaders": {"X-Token": "Authorization"}}
    async with upstream() as (provider, signed), upstream() as (others, passed):
        servers = [
            {"name": "up", "url": signed.url, "transport": "http", "credentials": "per-user"},
            {
                "name": "on",
                "url": passed.url,
                "transport": "http",
                "credentials": "forward",
                **forwards,
            },
            declared("mine", credentials="per-user", env={"NOTED": "${input:NOTED}"}),
        ]
        with tempfile.TemporaryDirectory() as folder:
            async with team(Path(folder), servers=servers, waits=False) as hub:
                keys: dict[str, str] = {}
                given: dict[str, str] = {}
                for who in PERSONS:
                    provider.subject = others.subject = who
                    keys[who] = hub.key()
                    given[who] = others._give("c", ["read"], passed.url, who).access_token
                    async with hub.client(keys[who]) as asking:
                        await asking.put("/api/mcp/servers/mine/secrets/NOTED", json={"value": who})
                        begun = await asking.post(SIGN_IN, json={"redirectUri": BACK})
                        await asking.post(f"{SIGN_IN}/answer", json=await say_yes(begun.json()["url"]))
                counts = await _mixed(hub, keys, given, requests)
    print(", ".join(f"{what}: {count}" for what, count in sorted(counts.items())))
    return 1 if counts["foreign"] else 0


async def _mixed(hub: Team, keys: dict[str, str], given: dict[str, str], requests: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    left = iter(range(requests))
    clients = {who: hub.client(key, **{"X-Token": f"Bearer {given[who]}"}) for who, key in keys.items()}

    async def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in left:
            who, name = chance.choice(PERSONS), chance.choice(("up__whoami", "on__whoami", "mine__read"))
            answer = await call_mcp(clients[who], "tools/call", {"name": name, "arguments": {}})
            said = str(answer.get("result", {}).get("content", [{}])[0].get("text", ""))
            mark = said.split(":")[2] if said.startswith("mine:") else said
            counts["own" if mark == who else "foreign" if mark in PERSONS else "refused"] += 1

    start = time.monotonic()
    await asyncio.gather(*(work(seed) for seed in range(AT_ONCE)))
    counts["requests a second"] = round(requests / (time.monotonic() - start))
    for client in clients.values():
        await client.aclose()
    return counts


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    assert len(PERSONS) <= personal.MOST_PROCESSES
    return asyncio.run(measure(parser.parse_args().requests))


if __name__ == "__main__":
    sys.exit(main())
