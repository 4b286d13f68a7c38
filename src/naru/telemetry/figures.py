"""What a hub measures of itself: requests, model calls, tokens, waits, tool calls, as Prometheus' histograms.

Names follow OpenTelemetry's GenAI conventions where those have one. Labels that come from outside (names of models and
tools) are bounded: past a number of different ones the rest counts as `other`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

OTHER = "other"
_MOST_SERIES = 500
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_MODEL_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The boundaries that the conventions advise for `gen_ai.client.operation.duration`."""
_TOKENS = tuple(float(4**power) for power in range(11))

REQUESTS = "naru_request_duration_seconds"
OPERATIONS = "gen_ai_client_operation_duration_seconds"
FIRST_CHUNK = "gen_ai_client_operation_time_to_first_chunk_seconds"
WAITS = "naru_model_wait_seconds"
TOKENS = "gen_ai_client_token_usage"
CALLS = "naru_tool_call_duration_seconds"


@dataclass(frozen=True, slots=True)
class Series:
    """One series as it stands: how often, the sum of what was measured, and how much fell below each boundary."""

    name: str
    labels: tuple[str, ...]
    count: int
    total: float
    buckets: tuple[int, ...]
    """Observations in each bucket alone, the last above all boundaries."""


class _Measured(Collector):
    """A histogram whose series are bounded in number; what Prometheus reads is made when it asks, not on the way.

    The library's own costs three times as much, and a proxied request makes five observations.
    """

    def __init__(self, name: str, help_: str, labels: tuple[str, ...], bounds: tuple[float, ...]) -> None:
        self.name = name
        self.bounds = bounds
        self._help = help_
        self._labels = labels
        self._les = [*map(floatToGoString, bounds), "+Inf"]
        self._rows: dict[tuple[str, ...], list[float]] = {}
        """Labels → how many fell into each bucket alone, then the sum."""

    def observe(self, value: float, *labels: str) -> None:
        row = self._rows.get(labels) or self._row(labels)
        row[bisect_left(self.bounds, value)] += 1
        row[-1] += value

    def _row(self, labels: tuple[str, ...]) -> list[float]:
        if len(self._rows) >= _MOST_SERIES:
            labels = (OTHER,) * len(labels)
        return self._rows.setdefault(labels, [0] * (len(self.bounds) + 2))

    def series(self) -> Iterator[Series]:
        for labels, (*counts, total) in self._rows.items():
            apart = tuple(map(int, counts))
            yield Series(self.name, labels, sum(apart), total, apart)

    def collect(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(self.name, self._help, labels=self._labels)
        for one in self.series():
            below = zip(self._les, map(float, accumulate(one.buckets)), strict=True)
            family.add_metric(one.labels, [*below], one.total)
        yield family


class Figures:
    """All that is measured; one for each hub."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = self._made(REQUESTS, "Requests of faces until their end.", ("route", "outcome"), _SECONDS)
        self._operations = self._made(
            OPERATIONS, "Model calls until their end.", ("gen_ai_request_model", "error_type"), _MODEL_SECONDS
        )
        self._first = self._made(
            FIRST_CHUNK, "Model calls until the first piece of the answer.", ("gen_ai_request_model",), _MODEL_SECONDS
        )
        self._waits = self._made(
            WAITS, "What model calls waited for their turn.", ("gen_ai_request_model",), _MODEL_SECONDS
        )
        self._tokens = self._made(
            TOKENS, "Tokens of model calls.", ("gen_ai_request_model", "gen_ai_token_type"), _TOKENS
        )
        self._calls = self._made(CALLS, "Tool calls until their end.", ("server", "tool", "outcome"), _SECONDS)
        self.queues: dict[str, Callable[[], tuple[int, int]]] = {}
        """Endpoint → how many requests wait and run there now."""
        self.measured = (self._requests, self._operations, self._first, self._waits, self._tokens, self._calls)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count one request of a face; `status` is HTTP's, 0 for one whose client went away."""
        outcome = "ok" if 0 < status < 400 else "cancelled" if not status else "refused" if status < 500 else "failed"
        self._requests.observe(seconds, route, outcome)

    def model(
        self,
        model: str,
        seconds: float,
        *,
        waited: float,
        first: float = 0.0,
        tokens: tuple[int, int] | None = None,
        error: str = "",
    ) -> None:
        """Count one model call.

        Args:
            model: its name, as it was asked for.
            seconds: from the turn to the end.
            waited: before the turn, in seconds.
            first: seconds to the first piece; 0 when nothing came.
            tokens: read and written, where the endpoint tells.
            error: the code of a failure.
        """
        self._operations.observe(seconds, model, error)
        self._waits.observe(waited, model)
        if first:
            self._first.observe(first, model)
        if tokens is not None:
            self._tokens.observe(tokens[0], model, "input")
            self._tokens.observe(tokens[1], model, "output")

    def call(self, server: str, tool: str, outcome: str, seconds: float) -> None:
        """Count one tool call."""
        self._calls.observe(seconds, server, tool, outcome)

    def series(self) -> Iterator[Series]:
        """Yield every series as it stands now."""
        for measured in self.measured:
            yield from measured.series()

    def bounds(self) -> dict[str, tuple[float, ...]]:
        """Return the boundaries of each histogram's buckets."""
        return {measured.name: measured.bounds for measured in self.measured}

    def _made(self, name: str, help_: str, labels: tuple[str, ...], bounds: tuple[float, ...]) -> _Measured:
        made = _Measured(name, help_, labels, bounds)
        self.registry.register(made)
        return made
