"""Limits that several processes share, on a real Redis."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.waiting import until

from naru.errors import ModelError
from naru.messages import ChatRequest, Finish, Message, Usage
from naru.models.limits.queue import RequestQueue
from naru.models.limits.queued import QueuedBackend
from naru.models.limits.rate import RateLimits
from naru.models.limits.shared_rate import SharedRate
from naru.models.scripted import ScriptedBackend

pytestmark = pytest.mark.slow


@pytest.fixture
async def redis_url(tmp_path: Path) -> AsyncIterator[str]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is missing: apt-get install redis-server")
    socket = tmp_path / "redis.sock"
    process = await asyncio.create_subprocess_exec(
        program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(tmp_path),
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await until(lambda: socket.exists())
        yield f"unix://{socket}"
    finally:
        process.terminate()
        await process.wait()


async def test_two_processes_together_stay_within_the_limit(redis_url: str) -> None:
    limits = RateLimits(requests_per_minute=5)
    first, second = (SharedRate(redis_url, "key", limits) for _ in range(2))
    taken = [await (first, second)[number % 2].wait(0, 1) for number in range(5)]
    assert len(set(taken)) == 5
    with pytest.raises(ModelError, match="which other processes use too") as raised:
        await second.wait(0, 1)
    assert 30 < (raised.value.retry_after_seconds or 0) <= 60.25
    other = SharedRate(redis_url, "other key", limits)
    assert await other.wait(0, 1)
    for rate in (first, second, other):
        await rate.close()


async def test_a_refusal_stops_every_process_until_its_time(redis_url: str) -> None:
    first, second = (SharedRate(redis_url, "key", RateLimits(requests_per_minute=50)) for _ in range(2))
    await first.block(0.4)
    started = asyncio.get_running_loop().time()
    await second.wait(0, 5)
    assert asyncio.get_running_loop().time() - started >= 0.39
    await first.close()
    await second.close()


async def test_a_refusal_of_one_model_stops_that_model_alone_in_every_process(redis_url: str) -> None:
    first, second = (SharedRate(redis_url, "key", RateLimits(requests_per_minute=50)) for _ in range(2))
    await first.block(3600, model="m")
    with pytest.raises(ModelError, match="would wait another 3600 s"):
        await second.wait(0, 5, model="m")
    resting = asyncio.ensure_future(second.wait(0, 4000, model="m"))
    assert await asyncio.wait_for(second.wait(0, 5, model="another"), 30), "though one waits for m here as well"
    resting.cancel()
    await first.close()
    await second.close()


async def test_tokens_that_were_not_used_are_given_back(redis_url: str) -> None:
    rate = SharedRate(redis_url, "key", RateLimits(tokens_per_minute=1000))
    spent = await rate.wait(900, 1)
    with pytest.raises(ModelError, match="would wait"):
        await rate.wait(200, 1)
    await rate.used(spent, 900, 100)
    assert await rate.wait(200, 1)
    with pytest.raises(ModelError, match="more than its key may ever use"):
        await rate.wait(1001, 1)
    await rate.close()


async def test_a_backend_counts_in_redis(redis_url: str) -> None:
    limits = RateLimits(requests_per_minute=1)
    script = ScriptedBackend([[Usage(1, 1), Finish("stop")]] * 2)
    request = ChatRequest("m", [Message("user", "hi")])
    queues = [RequestQueue(limits, max_wait_seconds=1) for _ in range(2)]
    one, two = (QueuedBackend(script, queue, SharedRate(redis_url, "key", limits)) for queue in queues)
    assert [event async for event in one.stream(request)][-1] == Finish("stop")
    with pytest.raises(ModelError, match="other processes"):
        await anext(two.stream(request))
    assert queues[1].load() == (0, 0)
    await one.close()
    await two.close()


async def test_a_redis_that_is_not_there_is_told_in_one_line() -> None:
    rate = SharedRate("redis://127.0.0.1:9/0", "key", RateLimits(requests_per_minute=1))
    with pytest.raises(ModelError, match=r"shared limits in Redis cannot be read: .*redis_url"):
        await rate.wait(0, 1)
    await rate.close()
