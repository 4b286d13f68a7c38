"""Real PostgreSQL servers for tests: 18 from the wheel, 15 from Debian, each started once for the session.

`postgres_servers.fresh_database(18)` gives the connection string of an empty database.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from naru.errors import ConfigError
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries

VERSIONS = (18, 15)


class PostgresServers:
    """Starts a version when it is first asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._running: dict[int, EmbeddedPostgres] = {}

    def fresh_database(self, version: int) -> str:
        """Return the connection string of a new, empty database."""
        if version not in self._running:
            try:
                server = EmbeddedPostgres(bin_dir=find_binaries(version))
            except ConfigError as error:
                pytest.skip(str(error))
            self._running[version] = self._stack.enter_context(server)
        server = self._running[version]
        name = f"t{uuid.uuid4().hex[:12]}"
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())
        return server.dsn_for(name)


@pytest.fixture(scope="session")
def postgres_servers() -> Iterator[PostgresServers]:
    with ExitStack() as stack:
        yield PostgresServers(stack)
