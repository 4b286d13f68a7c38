"""The overview: requests, times, tokens and tool calls over an hour, a day or a week, from the kept figures (N24)."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.errors import UserError
from naru.hub import Hub
from naru.messages import JsonObject
from naru.persons import Reach, reach
from naru.stores.kept.history import VIEWS, Point
from naru.telemetry.figures import CALLS, FIRST_CHUNK, OPERATIONS, REQUESTS, TOKENS, WAITS
from naru.web.admin.approvals import seen_calls
from naru.web.routes import Access, Endpoint

RANGES = dict(zip(("hour", "day", "week"), VIEWS, strict=True))
"""Range → seconds of one step."""
_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_MOST_ROWS = 20
Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class Sum:
    """What several points come to."""

    count: int = 0
    total: float = 0.0
    buckets: Sequence[int] = ()

    def add(self, point: Point) -> None:
        """Take one more point in."""
        self.count += point.count
        self.total += point.total
        # Added some ten thousand times for a week of many tools: no loop of Python's own.
        self.buckets = list(map(add, self.buckets, point.buckets)) if self.buckets else point.buckets

    def quantile(self, share: float, bounds: Sequence[float]) -> float | None:
        """Return the value below which that share lies, by interpolation within a bucket; None without observations."""
        wanted, below, lower = share * sum(self.buckets), 0, 0.0
        if not wanted:
            return None
        for number, upper in zip(self.buckets, bounds, strict=False):
            if number and below + number >= wanted:
                return round(lower + (upper - lower) * (wanted - below) / number, 6)
            below, lower = below + number, upper
        return bounds[-1]


class Overview:
    """The handler."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._bounds = hub.figures.bounds()

    async def show(self, request: Request) -> Response:
        """Show figures over time: `range` is hour, day or week."""
        name = request.query_params.get("range", "hour")
        if name not in RANGES:
            raise UserError(f"There is no range {name[:40]!r}.", remedy=f"Say one of {', '.join(RANGES)}.")
        step = RANGES[name]
        now = int(time.time())
        begin = now - now % step - VIEWS[step] + step
        await self._hub.recorder.write()
        times = range(begin, now + 1, step)
        history, seen = self._hub.recorder.history, reach()
        named = _named(await history.read_sums(step, begin), seen)
        # What a limited person sees of a step is known by its series alone.
        steps = _named(await (history.read_together if seen.is_whole else history.read)(step, begin), seen)
        return JSONResponse(
            {
                "range": name,
                "step": step,
                "times": list(times),
                "requests": self._over_time(steps[REQUESTS], times),
                "tokens": _tokens(steps[TOKENS], times),
                "calls": self._over_time(steps[CALLS], times),
                "models": self._models(named),
                "tools": self._rows(named[CALLS], ("server", "tool"), 2),
                "routes": self._rows(named[REQUESTS], ("route",), 1),
                "now": self._now(),
            }
        )

    def _over_time(self, points: Sequence[Point], times: Sequence[int]) -> JsonObject:
        found = _summed(points, lambda one: one.at)
        bad = _summed((one for one in points if not _is_good(one)), lambda one: one.at)
        bounds = self._bounds[REQUESTS]
        sums = [found.get(at, Sum()) for at in times]
        return {
            "count": [one.count for one in sums],
            "failed": [bad.get(at, Sum()).count for at in times],
            **{name: [one.quantile(share, bounds) for one in sums] for name, share in _QUANTILES.items()},
        }

    def _rows(self, points: Sequence[Point], names: tuple[str, ...], width: int) -> list[JsonObject]:
        """Return a row for each group of points, the busiest first."""
        bad = _summed((one for one in points if not _is_good(one)), lambda one: one.labels[:width])
        rows = _summed(points, lambda one: one.labels[:width])
        busiest = sorted(rows.items(), key=lambda row: -row[1].count)[:_MOST_ROWS]
        return [
            {
                **dict(zip(names, labels, strict=True)),
                **self._told(one, REQUESTS),
                "failed": bad.get(labels, Sum()).count,
            }
            for labels, one in busiest
        ]

    def _models(self, named: Mapping[str, Sequence[Point]]) -> list[JsonObject]:
        rows = _summed(named.get(OPERATIONS, ()), lambda one: one.labels[0])
        bad = _summed((one for one in named.get(OPERATIONS, ()) if one.labels[1]), lambda one: one.labels[0])
        kinds = _summed((one for one in named.get(OPERATIONS, ()) if one.labels[1]), lambda one: one.labels)
        first = _summed(named.get(FIRST_CHUNK, ()), lambda one: one.labels[0])
        waits = _summed(named.get(WAITS, ()), lambda one: one.labels[0])
        tokens = _summed(named.get(TOKENS, ()), lambda one: one.labels)
        return [
            {
                "model": model,
                **self._told(one, OPERATIONS),
                "failed": bad.get(model, Sum()).count,
                "errors": {labels[1]: kind.count for labels, kind in kinds.items() if labels[0] == model},
                "first_p50": first.get(model, Sum()).quantile(0.5, self._bounds[FIRST_CHUNK]),
                "waited_p95": waits.get(model, Sum()).quantile(0.95, self._bounds[WAITS]),
                "input_tokens": int(tokens.get((model, "input"), Sum()).total),
                "output_tokens": int(tokens.get((model, "output"), Sum()).total),
            }
            for model, one in sorted(rows.items(), key=lambda row: -row[1].count)[:_MOST_ROWS]
        ]

    def _told(self, one: Sum, name: str) -> JsonObject:
        bounds = self._bounds[name]
        return {"count": one.count, **{key: one.quantile(share, bounds) for key, share in _QUANTILES.items()}}

    def _now(self) -> JsonObject:
        hub = self._hub
        states: dict[str, int] = defaultdict(int)
        for connection in hub.manager.connections.values():
            states[connection.status] += 1
        queues = [load() for load in hub.figures.queues.values()]
        return {
            "servers": states,
            "waiting_approvals": len(seen_calls(hub.approvals.waiting)) if hub.approvals is not None else 0,
            "queued": sum(waiting for waiting, _ in queues),
            "running": sum(running for _, running in queues),
        }


def endpoints(hub: Hub) -> list[Endpoint]:
    """Return the row."""
    return [Endpoint("/api/overview", ("GET",), Overview(hub).show, Access.READ)]


def _named(points: Iterable[Point], seen: Reach) -> dict[str, list[Point]]:
    """Return by name the points that this person may see."""
    named: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        if seen.is_whole or _is_seen(point, seen):
            named[point.name].append(point)
    return named


def _is_seen(point: Point, seen: Reach) -> bool:
    """Tell whether a limited person may see a figure: of calls by their tool, of models by their name."""
    if point.name == CALLS:
        return seen.tool(point.labels[0], point.labels[1], None)
    return point.name == REQUESTS or seen.model(point.labels[0])


def _is_good(point: Point) -> bool:
    return point.labels[-1] in ("ok", "cancelled")


def _summed(points: Iterable[Point], key: Callable[[Point], Key]) -> dict[Key, Sum]:
    sums: dict[Key, Sum] = defaultdict(Sum)
    for point in points:
        sums[key(point)].add(point)
    return sums


def _tokens(points: Iterable[Point], times: Sequence[int]) -> JsonObject:
    sums = _summed(points, lambda one: (one.at, one.labels[-1]))
    return {
        kind: [int(sums[at, kind].total) if (at, kind) in sums else 0 for at in times] for kind in ("input", "output")
    }
