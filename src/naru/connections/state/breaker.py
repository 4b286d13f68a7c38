"""When a server that keeps failing is left alone, and for how long (R-12, R-34). No clock, no I/O."""

from __future__ import annotations


class Breaker:
    """Opens after some failures in a row or at the server's own word, lets one probe through, closes on success.

    The first opening is short, since most outages are, and each probe that fails doubles it.
    """

    def __init__(self, *, failures: int = 5, first_seconds: float = 1.0, longest_seconds: float = 30.0) -> None:
        self.failures = failures
        self.first_seconds = first_seconds
        self.longest_seconds = longest_seconds
        self._in_a_row = 0
        self._open_until = 0.0
        self._open_seconds = 0.0
        self._probe_until = 0.0

    @property
    def is_open(self) -> bool:
        """Requests are being held back, or a probe is out."""
        return self._open_seconds > 0 or self._open_until > 0

    def wait_seconds(self, now: float) -> float:
        """Return 0 when a request may go out now, else how long to leave the server alone.

        When the time is up, the one who asks first is the probe; others wait for its outcome, for 10 seconds at most.
        """
        if not self.is_open:
            return 0.0
        if now < self._open_until:
            return self._open_until - now
        if now < self._probe_until:
            return self._probe_until - now
        self._probe_until = now + 10.0
        return 0.0

    def succeeded(self) -> bool:
        """A request was answered; tell whether that closed the breaker."""
        was_open = self.is_open
        self._in_a_row = 0
        self._open_until = self._open_seconds = self._probe_until = 0.0
        return was_open

    def failed(self, now: float) -> bool:
        """The server failed; tell whether that opened the breaker."""
        self._in_a_row += 1
        if self._in_a_row < self.failures or now < self._open_until:
            return False  # those under way when it opened say nothing new
        self._probe_until = 0.0
        was_open = self.is_open
        self._open_seconds = min(max(self._open_seconds * 2, self.first_seconds), self.longest_seconds)
        self._open_until = now + self._open_seconds
        return not was_open

    def told(self, now: float, seconds: float) -> None:
        """The server asked to be left alone (Retry-After)."""
        self._probe_until = 0.0
        self._open_until = max(self._open_until, now + seconds)
