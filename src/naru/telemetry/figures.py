"""What a hub measures of itself: requests, model calls, tokens, waits, tool calls, as Prometheus' histograms.

Names follow OpenTelemetry's GenAI conventions where those have one. Labels that come from outside (names of models and
tools) are bounded: past a number of different ones the rest counts as `other`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Histogram

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


class _Measured:
    """A histogram whose series are looked up once and bounded in number."""

    def __init__(
        self, registry: CollectorRegistry, name: str, help_: str, labels: tuple[str, ...], bounds: tuple[float, ...]
    ) -> None:
        self.name = name
        self.bounds = bounds
        self._labels = labels
        self.histogram = Histogram(name, help_, labels, buckets=bounds, registry=registry)
        self._children: dict[tuple[str, ...], Histogram] = {}

    def observe(self, value: float, *labels: str) -> None:
        child = self._children.get(labels)
        if child is None:
            if len(self._children) >= _MOST_SERIES:
                labels = (OTHER,) * len(labels)
            child = self._children.setdefault(labels, self.histogram.labels(*labels))
        child.observe(value)

    def series(self) -> Iterator[Series]:
        counts: dict[tuple[str, ...], list[float]] = {}
        totals: dict[tuple[str, ...], float] = {}
        for family in self.histogram.collect():
            for sample in family.samples:
                labels = tuple(sample.labels[name] for name in self._labels)
                if sample.name.endswith("_bucket"):
                    counts.setdefault(labels, []).append(sample.value)
                elif sample.name.endswith("_sum"):
                    totals[labels] = sample.value
        for labels, below in counts.items():
            apart = tuple(int(now - before) for now, before in zip(below, [0.0, *below], strict=False))
            yield Series(self.name, labels, sum(apart), totals[labels], apart)


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
        return _Measured(self.registry, name, help_, labels, bounds)
