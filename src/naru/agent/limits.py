"""Budgets of one run, and the guard against repeated calls (R9, R10, SECURITY S-55)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from naru.agent.events import EndReason
from naru.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one run may use. Nested runs share their parent's."""

    max_rounds: int = 5
    """Model calls with tools; one more, without tools, gives the answer."""
    max_calls: int = 50
    max_parallel_calls: int = 10
    wall_seconds: float = 300.0
    tool_timeout_seconds: float = 30.0
    model_timeout_seconds: float = 120.0
    max_tokens: int = 200_000
    """Prompt and completion tokens over all model calls of the run."""
    max_result_characters: int = 50_000
    """One budget over all tool results of the run (H12)."""
    fruitless_rounds: int = 3
    """Rounds in a row in which no call gave anything before the search ends."""
    max_tools: int = 0
    """Tools that a request may offer, the most relevant ones; 0 is no limit (H13)."""
    page_characters: int = 0
    """Longer text results come page by page, with a tool to read on (N12); 0 leaves them whole."""
    fails_with_model: bool = False
    """A model that fails in a later round fails the run; else what the tools gave is told, and marked."""


def canonical(call: ToolCall) -> str:
    """Return one text for all spellings of the same call."""
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, ensure_ascii=False, default=str)}"


@dataclass(slots=True)
class Budget:
    """What a run has used, and which limit is reached."""

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    rounds: int = 0
    calls: int = 0
    tokens: int = 0
    _started: float = field(init=False)
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def seconds_left(self) -> float:
        """Wall time until the run must end, in seconds."""
        return self.limits.wall_seconds - (self.clock() - self._started)

    def forgive(self, seconds: float) -> None:
        """Take time in which a person was waited for off the run's wall time."""
        self._started += seconds

    def reached(self) -> EndReason | None:
        """Name the limit that forbids another round with tools, if any."""
        if self.seconds_left <= 0:
            return "wall_time"
        if self.tokens >= self.limits.max_tokens:
            return "token_budget"
        if self.calls >= self.limits.max_calls:
            return "max_calls"
        if self.rounds >= self.limits.max_rounds:
            return "max_iterations"
        return None

    def is_repeat(self, call: ToolCall) -> bool:
        """Tell whether the same call (name and canonical arguments) has run."""
        return canonical(call) in self._seen

    def count(self, call: ToolCall) -> None:
        """Note that a call runs."""
        self.calls += 1
        self._seen.add(canonical(call))
