"""One key's windows in Redis, for several Naru processes that share it (`naru[redis]`).

The log is the same as in `rate.py`, kept in sorted sets; one script checks every window and writes in one step, by
Redis's own clock. Turns are taken within each process; across processes it is first come, first served.
"""

from __future__ import annotations

import asyncio
import importlib
import random
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from naru.deadlines import bound
from naru.errors import ConfigError, ModelError
from naru.extras import install_command
from naru.models.limits.rate import DAY_SECONDS, MARGIN_SECONDS, MINUTE_SECONDS, RateLimits

_LONGEST_SLEEP_SECONDS = 5.0
_TAKE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(redis.call('GET', KEYS[2]) or '0'))
local windows = (#ARGV - 1) / 3
for w = 0, windows - 1 do
  local key, limit = KEYS[w + 3], tonumber(ARGV[w * 3 + 2])
  local span, amount = tonumber(ARGV[w * 3 + 3]), tonumber(ARGV[w * 3 + 4])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - span)
  local log = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  local excess = amount - limit
  for i = 1, #log, 2 do excess = excess + tonumber(string.match(log[i], '|(%d+)$')) end
  for i = 1, #log, 2 do
    if excess <= 0 then break end
    excess = excess - tonumber(string.match(log[i], '|(%d+)$'))
    at = math.max(at, tonumber(log[i + 1]) + span)
  end
  if excess > 0 then return -1 end
end
if at > now then return at - now end
for w = 0, windows - 1 do
  redis.call('ZADD', KEYS[w + 3], now, ARGV[1] .. '|' .. ARGV[w * 3 + 4])
  redis.call('PEXPIRE', KEYS[w + 3], ARGV[w * 3 + 3] + 1000)
end
return 0
"""
_AMEND = """
for i, key in ipairs(KEYS) do
  local score = redis.call('ZSCORE', key, ARGV[1] .. '|' .. ARGV[2])
  if score then
    redis.call('ZREM', key, ARGV[1] .. '|' .. ARGV[2])
    redis.call('ZADD', key, score, ARGV[1] .. '|' .. ARGV[3])
  end
end
"""
_BLOCK = """
local time = redis.call('TIME')
local over = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[1])
if over > tonumber(redis.call('GET', KEYS[1]) or '0') then
  redis.call('SET', KEYS[1], string.format('%.0f', over), 'PX', ARGV[1] + 1000)
end
"""


@dataclass(frozen=True, slots=True)
class _SharedWindow:
    key: str
    limit: int
    span_milliseconds: int
    of_tokens: bool


class SharedRate:
    """The allowance of one key, shared through Redis."""

    def __init__(
        self, url: str, name: str, limits: RateLimits, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Take where and what; nothing is connected yet.

        Args:
            url: `redis://host:6379/0`.
            name: what the processes that share the key call it.
            limits: the key's limits; `max_concurrent` stays each process's own.
            sleep: waits.

        Raises:
            ConfigError: the extra is not installed.
        """
        try:
            module: Any = importlib.import_module("redis.asyncio")
        except ImportError as error:
            raise ConfigError(
                "Limits shared through Redis need the extra.", remedy=f"Install it: {install_command('redis')}"
            ) from error
        self._redis = module.from_url(url, socket_timeout=5.0, socket_connect_timeout=5.0)
        self._failures: tuple[type[Exception], ...] = (module.RedisError, OSError)
        self._prefix = f"naru:{{{name}}}"  # The braces keep one key's sets in one slot of a cluster.
        self._windows = [
            _SharedWindow(f"{self._prefix}:{label}", limit, int((seconds + MARGIN_SECONDS) * 1000), of_tokens)
            for label, limit, seconds, of_tokens in (
                ("rpm", limits.requests_per_minute, MINUTE_SECONDS, False),
                ("rpd", limits.requests_per_day, DAY_SECONDS, False),
                ("tpm", limits.tokens_per_minute, MINUTE_SECONDS, True),
                ("tpd", limits.tokens_per_day, DAY_SECONDS, True),
            )
            if limit
        ]
        self._take = self._redis.register_script(_TAKE)
        self._amend = self._redis.register_script(_AMEND)
        self._block = self._redis.register_script(_BLOCK)
        self._sleep = sleep
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Of each model that is waited for: one that rests holds up nobody who asks another."""

    async def wait(self, tokens: int, longest_seconds: float, *, model: str = "") -> str:
        """Wait until a request of so many tokens may be sent to a model, write it down, return its id.

        Raises:
            ModelError: it would wait longer, it never fits, or Redis cannot be reached.
        """
        spent = secrets.token_hex(8)
        began = asyncio.get_running_loop().time()
        turn = self._turns.setdefault(model, asyncio.Lock())
        try:
            with bound(longest_seconds):
                await turn.acquire()  # First in this process, first asked: the queue's order holds.
        except TimeoutError:
            raise _too_long(None) from None
        try:
            waited = asyncio.get_running_loop().time() - began
            while True:
                seconds = await self._ask(spent, tokens, model)
                if seconds == 0:
                    return spent
                if waited + seconds > longest_seconds:
                    raise _too_long(seconds)
                pause = min(seconds, _LONGEST_SLEEP_SECONDS) + random.uniform(0, 0.02)  # noqa: S311 - no secret
                waited += pause
                await self._sleep(pause)
        finally:
            turn.release()

    async def used(self, spent: str, estimate: int, tokens: int) -> None:
        """Put the tokens that were really used in place of the estimate."""
        keys = [window.key for window in self._windows if window.of_tokens]
        if keys and tokens != estimate:
            await self._run(self._amend(keys=keys, args=[spent, estimate, tokens]))

    async def block(self, seconds: float, *, model: str | None = None) -> None:
        """Let no process through for so many seconds, to one model or (None) to any."""
        await self._run(self._block(keys=[self._blocked(model)], args=[int(seconds * 1000)]))

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    def _blocked(self, model: str | None) -> str:
        return f"{self._prefix}:blocked" if model is None else f"{self._prefix}:blocked:{model}"

    async def _ask(self, spent: str, tokens: int, model: str) -> float:
        args: list[str | int] = [spent]
        for window in self._windows:
            args += [window.limit, window.span_milliseconds, tokens if window.of_tokens else 1]
        keys = [self._blocked(None), self._blocked(model), *(window.key for window in self._windows)]
        milliseconds = int(await self._run(self._take(keys=keys, args=args)))
        if milliseconds < 0:
            raise ModelError(
                f"The request needs about {tokens} tokens, more than its key may ever use at once.",
                remedy="Shorten the conversation or offer fewer tools.",
                status=413,
            )
        return milliseconds / 1000

    async def _run(self, work: Awaitable[Any]) -> Any:
        try:
            return await work
        except self._failures as error:
            raise ModelError(
                f"The shared limits in Redis cannot be read: {error}.",
                remedy="Check model.limits.redis_url, or empty it to count in this process alone.",
                retryable=True,
            ) from error


def _too_long(seconds: float | None) -> ModelError:
    wait = "longer than it may" if seconds is None else f"another {seconds:.0f} s"
    error = ModelError(
        f"The request would wait {wait} for its key, which other processes use too.",
        remedy="Try again later.",
        status=429,
        retryable=True,
        retry_after_seconds=seconds,
    )
    error.code = "queue_full"
    return error
