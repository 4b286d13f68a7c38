"""A PostgreSQL of our own with the demo data, started at first use and gone with its owner (D7)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from importlib import resources

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from naru.builtins.data.demo.columns import COLUMNS, TABLES
from naru.builtins.data.demo.reader import READER, reader_sql
from naru.errors import NaruError
from naru.stores.embedded_postgres import EmbeddedPostgres

START_SECONDS = 60.0


class DemoPostgres:
    """Owns the server: the thread that starts it lives as long as it does, for the server dies with its thread."""

    def __init__(self) -> None:
        self._starting = asyncio.Lock()
        self._parameters: Mapping[str, str] = {}
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    async def parameters(self) -> Mapping[str, str]:
        """Return the reader's connection parameters; the first call starts the server and loads the data.

        Raises:
            ConfigError: there is no PostgreSQL to start; says what to install.
            StoreError: it did not start.
        """
        async with self._starting:
            if not self._parameters:
                started: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
                self._thread = threading.Thread(
                    target=self._run, args=(asyncio.get_running_loop(), started), name="demo PostgreSQL", daemon=True
                )
                self._thread.start()
                self._parameters = await asyncio.wait_for(started, START_SECONDS)
        return self._parameters

    async def close(self) -> None:
        """Stop the server."""
        self._stop.set()
        if self._thread:
            await asyncio.to_thread(self._thread.join)
            self._thread = None

    def _run(self, loop: asyncio.AbstractEventLoop, started: asyncio.Future[Mapping[str, str]]) -> None:
        try:
            with EmbeddedPostgres() as server:
                load_demo(server.dsn)
                found = conninfo_to_dict(server.dsn_for("postgres", user=READER))
                parameters = {key: str(value) for key, value in found.items()}
                loop.call_soon_threadsafe(_settle, started, parameters, None)
                self._stop.wait()
        except (NaruError, psycopg.Error, OSError) as error:
            loop.call_soon_threadsafe(_settle, started, {}, error)


def load_demo(dsn: str) -> None:
    """Create the demo schema, its rows, comments and reading role. `dsn` is a superuser's."""
    schema = resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
    with psycopg.connect(dsn) as connection:
        connection.execute(schema.encode())
        for name, text in TABLES.items():
            connection.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(name), text))
        for name, text in COLUMNS.items():
            column = sql.Identifier(*name.split("."))
            connection.execute(sql.SQL("COMMENT ON COLUMN {} IS {}").format(column, text))
        connection.execute(reader_sql(connection.info.dbname).encode())


def _settle(future: asyncio.Future[Mapping[str, str]], parameters: Mapping[str, str], error: Exception | None) -> None:
    if future.done():
        return
    if error:
        future.set_exception(error)
    else:
        future.set_result(parameters)
