"""Counts that every hub keeps by itself, and of which the others are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


class Untold:
    """What was counted here since others were told."""

    _untold: Counter[str] | None = None
    """None where there are no others."""

    def share(self) -> None:
        """Count for others, too: they are told what `unsaid` returns, and what they tell is `heard`."""
        self._untold = Counter()

    def unsaid(self) -> Mapping[str, int]:
        """Return what was counted since the last time."""
        if not self._untold:
            return {}
        told, self._untold = self._untold, Counter()
        return told

    def _tell(self, name: str, count: int) -> None:
        if self._untold is not None:
            self._untold[name] += count
