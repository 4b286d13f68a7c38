"""What one process alone may hold: advisory locks of one session, which a process that dies gives back by dying."""

from __future__ import annotations

import threading

from naru.errors import StoreError
from naru.stores.shared.link import Link

_LEASES = 0x6E617273


class Leases:
    """The leases of this process. For several threads."""

    def __init__(self, link: Link) -> None:
        """Hold them in the session of `link`."""
        self._link = link
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}
        """Name → the session that holds it."""

    def take(self, name: str) -> bool:
        """Take a lease unless anybody has it, this process included. Raises StoreError."""
        with self._lock, self._link.used("A lease cannot be taken.") as link:
            if self._held.get(name) == self._link.times:
                return False
            row = link.execute("select pg_try_advisory_lock(%s, hashtext(%s))", [_LEASES, name]).fetchone()
            if row is None or not row[0]:
                return False
            self._held[name] = self._link.times
            return True

    def give(self, name: str) -> None:
        """Let others have a lease; one whose session is gone is theirs already."""
        with self._lock:
            session = self._held.pop(name, None)
            if session is None:
                return
            try:
                with self._link.used("A lease cannot be given back.") as link:
                    if session == self._link.times:
                        link.execute("select pg_advisory_unlock(%s, hashtext(%s))", [_LEASES, name])
            except StoreError:
                self._link.close()  # which ends the session
