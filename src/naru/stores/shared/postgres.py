"""Several hubs as one over PostgreSQL: documents in a table, LISTEN/NOTIFY for signals, an advisory lock for each life.

A member that dies takes its connection along, and the database frees its lock: nobody beats a heart. A database that is
away stops changes, which say so, and nothing else: each folder still holds what was common last (R-22).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from naru.errors import StoreError
from naru.messages import Json
from naru.stores.files.atomic import share
from naru.stores.postgres import failure, place_of
from naru.stores.shared.leases import Leases
from naru.stores.shared.link import Connection, Link, connect
from naru.stores.shared.member import Member

logger = logging.getLogger(__name__)

AUTO = "auto"
START_SECONDS = 3.0
"""How long the start waits for the database before it goes on with what this folder holds."""
AGAIN_SECONDS = 0.5
_LOOK_SECONDS = 5.0
"""How often the members are looked at even if nobody said anything."""
_LIVES, _TURNS = 0x6E617275, 0x6E617274
_MOST_BYTES = 7_500
"""PostgreSQL carries less than 8,000 bytes in one notice."""
_ALIVE = (
    "select id, address, exists (select 1 from pg_locks where locktype = 'advisory' and granted and classid = %s "
    "and objid = lock::bigint::oid and database = (select oid from pg_database where datname = current_database())) "
    "from naru_members"
)
_KEEP = (
    "insert into naru_documents values (%s, nextval('naru_document_versions'), %s) on conflict (name) "
    "do update set version = excluded.version, content = excluded.content returning version"
)
_KEEP_FIRST = (
    "insert into naru_documents values (%s, nextval('naru_document_versions'), %s) on conflict (name) "
    "do nothing returning version"
)


class PostgresCommons(Member):
    """A member of those that share one database; `open` it before anything reads the folder, `close` it last."""

    def __init__(self, url: str, folder: Path, address: str, port: int) -> None:
        """Share `folder` by the database at `url`; the others reach this one at `address`, or at `auto` and `port`."""
        me = secrets.token_hex(4)
        self._leases = Leases(Link(url, me))
        super().__init__(me, folder, self._leases)
        self._url, self._port = url, port
        self._address = address
        self._place = place_of(url)
        self._busy = threading.RLock()
        """Held while documents are read or written, so that an older one never follows a newer."""
        self._writer = Link(url)
        self._life = secrets.randbelow(2**31)
        self._outbox = ThreadPoolExecutor(1, thread_name_prefix="naru-tells")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_linked = threading.Event()
        self._is_closing = False
        self._thread = threading.Thread(target=self._listen, name="naru-hears", daemon=True)

    async def open(self) -> None:
        """Take up what is common; a database that is away delays nothing but that."""
        self._loop = asyncio.get_running_loop()
        share(self._mirror.folder, self)
        self._thread.start()
        if not await asyncio.to_thread(self._is_linked.wait, START_SECONDS):
            logger.error("The %s does not answer: this hub goes on with what its folder holds.", self._place)

    async def close(self) -> None:
        """Leave; the others hear of it."""
        self._is_closing = True
        self._loop = None
        share(self._mirror.folder, None)
        self.tell("member", None)
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._outbox.shutdown()
        self._thread.join(AGAIN_SECONDS * 4)
        self._writer.close()
        self._leases.close()

    # What others hear and say.

    def lost(self, member: str) -> None:
        """Note that a member did not answer, and look who is there."""
        self._members = {name: address for name, address in self._members.items() if name != member}
        self._outbox.submit(self._quietly, self._look)

    def tell(self, topic: str, what: Json) -> None:
        """Tell all others, soon."""
        notice = json.dumps({"from": self.me, "topic": topic, "what": what}, ensure_ascii=False)
        if len(notice.encode("utf-8", "replace")) > _MOST_BYTES:
            logger.warning("what is told about %s is too long and stays here", topic)
            return
        with contextlib.suppress(RuntimeError):  # the outbox was closed meanwhile
            self._outbox.submit(self._quietly, lambda writer: writer.execute("select pg_notify('naru', %s)", [notice]))

    # Whole files, for `atomic_file`.

    @contextlib.contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """Hold a document against all members, as it is now. Raises StoreError."""
        with self._writing(name) as writer:
            writer.execute("select pg_advisory_lock(%s, hashtext(%s))", [_TURNS, name])
            try:
                self._pull(writer, name)
                yield
            finally:
                with contextlib.suppress(psycopg.Error):
                    writer.execute("select pg_advisory_unlock(%s, hashtext(%s))", [_TURNS, name])

    @contextlib.contextmanager
    def change(self, name: str, content: bytes | None) -> Iterator[None]:
        """Keep a document, or remove it; what is done meanwhile is done with it or not at all. Raises StoreError."""
        with self._writing(name) as writer:
            self._mirror.versions.pop(name, 0)
            with writer.transaction():
                version = _write(writer, name, content)
                _notify(writer, self.me, "document", name)
                yield
            if version:
                self._mirror.versions[name] = version

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[Connection]:
        with self._busy, self._writer.used(f"{name} could not be changed.") as writer:
            yield writer

    def _quietly(self, work: Callable[[Connection], object]) -> None:
        """Do something that is no loss if it fails."""
        try:
            with self._busy, self._writer.used("Nothing can be told.") as writer:
                work(writer)
        except StoreError as error:
            logger.debug("a notice was lost: %s", error)

    # The thread that hears.

    def _listen(self) -> None:
        told = ""
        while not self._is_closing:
            try:
                with connect(self._url) as link:
                    self._arrive(link)
                    self._is_linked.set()
                    told = ""
                    self._follow(link)
            except (psycopg.Error, StoreError, OSError) as error:
                self._is_linked.clear()
                why = failure(self._place, error) if isinstance(error, psycopg.Error) else error
                if str(why) != told and not self._is_closing:
                    logger.error("nothing is heard of the other hubs: %s", why)
                told = str(why)
                threading.Event().wait(AGAIN_SECONDS)

    def _arrive(self, link: Connection) -> None:
        link.execute("listen naru")
        link.execute("select pg_advisory_lock(%s, %s)", [_LIVES, self._life])
        statement = (
            "insert into naru_members values (%s, %s, %s) on conflict (id) do update set address = excluded.address"
        )
        link.execute(statement, [self.me, self._reached_at(link), self._life])
        with self._busy:
            documents = link.execute("select name, version, content from naru_documents").fetchall()
            for name in self._mirror.take(documents):
                with link.transaction():
                    content = self._mirror.read(name)
                    self._mirror.versions[name] = _write(link, name, content, is_first=True)
                    _notify(link, self.me, "document", name)
                self._pull(link, name)
        self._look(link)
        _notify(link, self.me, "member", None)
        self._dispatch("linked", None)

    def _reached_at(self, link: Connection) -> str:
        if self._address != AUTO:
            return self._address.rstrip("/")
        with socket.socket(fileno=os.dup(link.fileno())) as own:
            name = own.getsockname()
        host = name[0] if isinstance(name, tuple) else "127.0.0.1"
        return f"http://[{host}]:{self._port}" if ":" in host else f"http://{host}:{self._port}"

    def _follow(self, link: Connection) -> None:
        while not self._is_closing:
            notices = list(link.notifies(timeout=_LOOK_SECONDS, stop_after=1))
            for notice in notices:
                self._heard(link, notice.payload)
            if not notices:
                self._look(link)

    def _heard(self, link: Connection, payload: str) -> None:
        try:
            said = json.loads(payload)
            sender, topic, what = said["from"], str(said["topic"]), said["what"]
        except (ValueError, TypeError, KeyError):
            return  # somebody else's
        if topic == "member":
            self._look(link)
        if sender == self.me:
            return
        if topic == "document":
            with self._busy:
                self._pull(link, str(what))
        self._dispatch(topic, what)

    def _dispatch(self, topic: str, what: Json) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._pass_on, topic, what)

    def _pull(self, link: Connection, name: str) -> None:
        if not self._mirror.covers(name):
            return
        row = link.execute("select version, content from naru_documents where name = %s", [name]).fetchone()
        self._mirror.put(name, *(row or (0, None)))

    def _look(self, link: Connection) -> None:
        """Learn who is there, and strike out who is not."""
        found = link.execute(_ALIVE, [_LIVES]).fetchall()
        gone = [name for name, _, lives in found if not lives]
        if gone:
            link.execute("delete from naru_members where id = any(%s)", [gone])
        self._members = {name: address for name, address, lives in found if lives and name != self.me}


def _write(link: Connection, name: str, content: bytes | None, *, is_first: bool = False) -> int:
    """Write or remove a document; return its version, 0 for none. `is_first` leaves one that is there alone."""
    if content is None:
        link.execute("delete from naru_documents where name = %s", [name])
        return 0
    row = link.execute(_KEEP_FIRST if is_first else _KEEP, [name, content]).fetchone()
    return int(row[0]) if row else 0


def _notify(link: Connection, me: str, topic: str, what: Json) -> None:
    link.execute("select pg_notify('naru', %s)", [json.dumps({"from": me, "topic": topic, "what": what})])
