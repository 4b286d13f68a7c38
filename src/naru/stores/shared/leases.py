"""What one process alone may hold: advisory locks of one session, which a process that dies gives back by dying."""

from __future__ import annotations

import threading

from naru.errors import StoreError
from naru.stores.secrets.common_rows import Lease
from naru.stores.shared.link import Link

_LEASES = 0x6E617273
_HOLDER = (
    "select a.application_name from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory' "
    "and l.granted and l.classid = %s and l.objid = (hashtext(%s)::bigint & 4294967295)::oid "
    "and l.database = (select oid from pg_database where datname = current_database())"
)


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

    def lease(self, name: str) -> Lease:
        """Return one to be tried for."""
        return Lease(lambda: self.take(name), lambda: self.give(name))

    def holds(self, name: str) -> bool:
        """Tell whether this process has it now. Raises StoreError."""
        with self._lock, self._link.used("Leases cannot be looked at."):
            return self._held.get(name) == self._link.times

    def holder(self, name: str) -> str:
        """Return the name of the connection that has it; empty for none. Raises StoreError."""
        with self._link.used("Leases cannot be looked at.") as link:
            row = link.execute(_HOLDER, [_LEASES, name]).fetchone()
            return "" if row is None else str(row[0])

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

    def close(self) -> None:
        """Let all of them go before this returns: the database gets to a session that only ended when it finds time."""
        for name in list(self._held):
            self.give(name)
        self._link.close()
