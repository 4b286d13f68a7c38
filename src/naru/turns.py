"""Time in which this process had no turn, since the machine slept or others had it: that is nobody's silence."""

from __future__ import annotations

_AWAY_SECONDS = 1.0
"""By how much a deadline is seen too late where nothing ran here."""
_MOST_SECONDS = 60.0


def owed(late_seconds: float) -> float:
    """Return how long the other side still has, once, where a deadline is seen so late; 0 where it is over."""
    return min(late_seconds, _MOST_SECONDS) if late_seconds >= _AWAY_SECONDS else 0.0
