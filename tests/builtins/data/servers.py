"""A real PostgreSQL with the BGA schema, a fingerprint of all that a statement could change, a chaos proxy."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from naru.builtins.data.databases.postgresql.database import Database, DatabaseOptions
from naru.stores.embedded_postgres import EmbeddedPostgres

CASES = Path(__file__).parents[2] / "cases"

_STATE = """
SELECT (SELECT array_agg(concat_ws(' ', r.oid, r.relname, r.relkind, r.relowner, r.relacl, r.relpersistence,
    r.relfilenode) ORDER BY r.oid) FROM pg_class r WHERE r.relkind IN ('r', 'v', 'S', 'i', 'm')),
  (SELECT array_agg(p.oid::text || p.proname ORDER BY p.oid) FROM pg_proc p),
  (SELECT array_agg(r::text ORDER BY r.oid) FROM pg_authid r), (SELECT array_agg(s::text) FROM pg_db_role_setting s),
  (SELECT array_agg(d.datname || coalesce(d.datacl::text, '') ORDER BY d.oid) FROM pg_database d),
  (SELECT array_agg(m.oid ORDER BY m.oid) FROM pg_largeobject_metadata m), (SELECT count(*) FROM pg_largeobject),
  (SELECT array_agg(n.nspname || coalesce(n.nspacl::text, '') ORDER BY n.oid) FROM pg_namespace n),
  (SELECT array_agg(e.extname ORDER BY 1) FROM pg_extension e),
  (SELECT array_agg(t.typname ORDER BY t.oid) FROM pg_type t),
  (SELECT array_agg(d::text ORDER BY d::text) FROM pg_description d WHERE objoid >= 16384),
  (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), (SELECT count(*) FROM pg_replication_slots),
  (SELECT count(*) FROM pg_prepared_xacts), (SELECT last_value || is_called::text FROM lot_seq),
  (SELECT last_value || is_called::text FROM bga_ball_id_seq), (SELECT count(*) FROM pg_policies)
"""
_TABLES = ("bga_lot", "bga_ball", "employees", '"급여 대장"', "불량", "docs", "secret")


@dataclass
class BgaServer:
    """One server with the schema of `bga_schema.sql` in database `postgres`."""

    version: int
    server: EmbeddedPostgres
    admin: psycopg.Connection[Any]

    def parameters(self, user: str = "bga_reader") -> dict[str, str]:
        """Return libpq's parameters for a role."""
        return {key: str(value) for key, value in conninfo_to_dict(self.server.dsn_for("postgres", user=user)).items()}

    def database(self, options: DatabaseOptions | None = None, user: str = "bga_reader", **other: str) -> Database:
        """Return the tool's view of the server."""

        async def parameters() -> dict[str, str]:
            return {**self.parameters(user), **other}

        return Database(parameters, options)

    def fingerprint(self) -> str:
        """Return a hash over rows, schema, roles, settings, sequences, large objects and locks."""
        found = [str(self.admin.execute(_STATE).fetchone())]
        for table in _TABLES:
            query = f"SELECT md5(string_agg(t::text, chr(10) ORDER BY t::text)) FROM {table} t"
            found.append(str(self.admin.execute(query.encode()).fetchone()))
        return hashlib.sha256("\n".join(found).encode()).hexdigest()


def load_bga(version: int, server: EmbeddedPostgres) -> BgaServer:
    """Create the schema and the reader role."""
    admin = psycopg.connect(server.dsn, autocommit=True)
    admin.execute((CASES / "bga_schema.sql").read_text(encoding="utf-8").encode())
    return BgaServer(version, server, admin)


class ChaosProxy:
    """A TCP port before a server's socket that can be cut, or fall silent with every connection open."""

    def __init__(self, socket_path: str) -> None:
        self._socket_path = socket_path
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.port = 0

    async def start(self) -> None:
        """Listen; again on the same port after `stop`."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Refuse new connections and cut those there are."""
        if self._server:
            self._server.close()
        self.cut()
        for pump in list(self._pumps):
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    def cut(self) -> None:
        """Cut every connection."""
        for writer in list(self._writers):
            with contextlib.suppress(Exception):
                writer.transport.abort()

    def fall_silent(self) -> None:
        """Accept and hold everything, pass nothing on."""
        self._flowing.clear()

    def speak(self) -> None:
        """Pass on again."""
        self._flowing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(self._socket_path)
        self._writers |= {writer, far_writer}
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.ensure_future(self._pump(source, sink))
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65_536):
                await self._flowing.wait()
                sink.write(data)
                await sink.drain()
        self._writers.discard(sink)
        sink.close()


@contextlib.asynccontextmanager
async def chaos_proxy(server: BgaServer) -> AsyncIterator[ChaosProxy]:
    """Run a proxy before a server."""
    folder = server.parameters()["host"]
    proxy = ChaosProxy(f"{folder}/.s.PGSQL.5432")
    await proxy.start()
    try:
        yield proxy
    finally:
        proxy.speak()
        await proxy.stop()
