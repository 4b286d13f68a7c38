"""Several hubs as one on one machine: the data folder is common as it is, and each has sockets in another one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from naru.messages import Json
from naru.stores.files.atomic import share
from naru.stores.secrets.common_rows import FileLeases, Lease
from naru.stores.shared.commons import Hear
from naru.stores.shared.mirror import Mirror

_NOTICES, _REQUESTS = ".notices", ".http"
_MOST_BYTES = 60_000


class WorkerCommons:
    """One of the processes of `naru serve --workers`; `open` it before anything reads the folder, `close` it last."""

    def __init__(self, folder: Path, sockets: Path, *, scheme: str) -> None:
        """Share the data folder; `sockets` is a folder for this run alone, with a short path."""
        self._scheme = scheme
        self.me = f"w{secrets.token_hex(3)}"
        self._sockets = sockets
        self._names = Mirror(folder)
        self._leases = FileLeases(folder.expanduser(), self.me)
        self._hearers: dict[str, list[Hear]] = {}
        self._members: dict[str, str] = {}
        self._notices: socket.socket | None = None

    def listen(self) -> socket.socket:
        """Return the socket on which the others send requests that this one is to answer."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.bind(str(self._sockets / f"{self.me}{_REQUESTS}"))
        made.listen(1024)
        made.setblocking(False)
        return made

    async def open(self) -> None:
        """Begin to hear."""
        self._notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notices.bind(str(self._sockets / f"{self.me}{_NOTICES}"))
        self._notices.setblocking(False)
        asyncio.get_running_loop().add_reader(self._notices, self._read)
        share(self._names.folder, self)
        self._look()
        self.tell("member", None)

    async def close(self) -> None:
        """Leave; the others hear of it."""
        share(self._names.folder, None)
        for kind in (_REQUESTS, _NOTICES):
            (self._sockets / f"{self.me}{kind}").unlink(missing_ok=True)
        if self._notices is not None:
            self.tell("member", None)
            asyncio.get_running_loop().remove_reader(self._notices)
            self._notices.close()

    def members(self) -> Mapping[str, str]:
        """Return the sockets of the others that are there now, by id."""
        return self._members

    def lost(self, member: str) -> None:
        """Strike out a member that does not answer."""
        for kind in (_REQUESTS, _NOTICES):
            (self._sockets / f"{member}{kind}").unlink(missing_ok=True)
        self._look()

    def tell(self, topic: str, what: Json) -> None:
        """Tell all others; one that reads nothing misses it."""
        notice = json.dumps({"topic": topic, "what": what}).encode()
        if self._notices is None or len(notice) > _MOST_BYTES:
            return
        for path in self._sockets.glob(f"*{_NOTICES}"):
            if path.name != f"{self.me}{_NOTICES}":
                with contextlib.suppress(OSError):
                    self._notices.sendto(notice, str(path))

    def hear(self, topic: str, hear: Hear) -> None:
        """Have a function told what others tell about a topic."""
        self._hearers.setdefault(topic, []).append(hear)

    def lease(self, name: str) -> Lease:
        """Return a lease of what one member alone may hold."""
        return self._leases.lease(name)

    def holds(self, name: str) -> bool:
        """Tell whether this member has a lease now."""
        return self._leases.holds(name)

    def holder(self, name: str) -> str:
        """Return which member has a lease, or had it last."""
        return self._leases.holder(name)

    # Whole files, for `atomic_file`: they are common as they are, and the others hear that they have changed.

    def covers(self, name: str) -> bool:
        """Tell whether the others are told of this file."""
        return self._names.covers(name)

    @contextlib.contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """Hold nothing more: the file's own lock is for all processes."""
        yield

    @contextlib.contextmanager
    def change(self, name: str, content: bytes | None) -> Iterator[None]:
        """Tell the others once a file has changed."""
        yield
        self.tell("document", name)

    def _look(self) -> None:
        paths = self._sockets.glob(f"*{_REQUESTS}")
        names = {path.name.removesuffix(_REQUESTS): f"unix+{self._scheme}:{path}" for path in paths}
        self._members = {name: address for name, address in names.items() if name != self.me}

    def _read(self) -> None:
        assert self._notices is not None
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while True:
                said = json.loads(self._notices.recv(_MOST_BYTES))
                if said["topic"] == "member":
                    self._look()
                for hear in self._hearers.get(said["topic"], ()):
                    hear(said["what"])
