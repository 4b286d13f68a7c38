"""Several hubs as one on one machine: the data folder is common as it is, and each has sockets in another one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from naru.messages import Json
from naru.stores.files.atomic import share
from naru.stores.secrets.common_rows import FileLeases
from naru.stores.shared.member import Member

_NOTICES, _REQUESTS = ".notices", ".http"
_MOST_BYTES = 60_000
LOOK_SECONDS = 5.0
"""How often the members are looked at unasked: for one that is busy the kernel keeps ten notices."""


class WorkerCommons(Member):
    """One of the processes of `naru serve --workers`; `open` it before anything reads the folder, `close` it last."""

    def __init__(self, folder: Path, sockets: Path, *, scheme: str) -> None:
        """Share the data folder; `sockets` is a folder for this run alone, with a short path."""
        me = f"w{secrets.token_hex(3)}"
        super().__init__(me, folder, FileLeases(folder.expanduser(), me))
        self._scheme = scheme
        self._sockets = sockets
        self._notices: socket.socket | None = None
        self._looking: asyncio.TimerHandle | None = None

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
        share(self._mirror.folder, self)
        self._look_again()
        self.tell("member", None)

    async def close(self) -> None:
        """Leave; the others hear of it."""
        share(self._mirror.folder, None)
        if self._looking is not None:
            self._looking.cancel()
        for kind in (_REQUESTS, _NOTICES):
            (self._sockets / f"{self.me}{kind}").unlink(missing_ok=True)
        if self._notices is not None:
            self.tell("member", None)
            asyncio.get_running_loop().remove_reader(self._notices)
            self._notices.close()

    def lost(self, member: str) -> None:
        """Strike out a member that is no more; one that listens has broken off one answer, and goes on.

        Without its sockets nobody would ever find it again.
        """
        if not _listens(self._sockets / f"{member}{_REQUESTS}"):
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

    # Whole files, for `atomic_file`: they are common as they are, and the others hear that they have changed.

    @contextlib.contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """Hold nothing more: the file's own lock is for all processes."""
        yield

    @contextlib.contextmanager
    def change(self, name: str, content: bytes | None) -> Iterator[None]:
        """Tell the others once a file has changed."""
        yield
        self.tell("document", name)

    def _look_again(self) -> None:
        self._look()
        self._looking = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)

    def _look(self) -> None:
        paths = {path.name.removesuffix(_REQUESTS): path for path in self._sockets.glob(f"*{_REQUESTS}")}
        # One that was killed has left its sockets.
        others = {name: path for name, path in paths.items() if name != self.me and _listens(path)}
        self._members = {name: f"unix+{self._scheme}:{path}" for name, path in others.items()}

    def _read(self) -> None:
        assert self._notices is not None
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while True:
                said = json.loads(self._notices.recv(_MOST_BYTES))
                if said["topic"] == "member":
                    self._look()
                self._pass_on(said["topic"], said["what"])


def _listens(path: Path) -> bool:
    """Tell whether a process holds the socket; it may be too busy to take anything just now."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.setblocking(False)
        try:
            asked.connect(str(path))
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True
