"""Fixtures of the data server's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from naru.errors import ConfigError
from naru.stores.embedded_postgres import EmbeddedPostgres, find_binaries
from tests.builtins.data.servers import BgaServer, load_bga
from tests.postgres_servers import VERSIONS

postgres_versions = pytest.mark.parametrize(
    "bga",
    [pytest.param(version, id=f"postgres-{version}") for version in VERSIONS],
    indirect=True,
    scope="session",
)


@pytest.fixture(scope="session")
def bga_servers() -> Iterator[Callable[[int], BgaServer]]:
    """Start a version once, with the BGA schema."""
    running: dict[int, BgaServer] = {}
    with ExitStack() as stack:

        def get(version: int) -> BgaServer:
            if version not in running:
                try:
                    server = EmbeddedPostgres(bin_dir=find_binaries(version))
                except ConfigError as error:
                    pytest.skip(str(error))
                running[version] = load_bga(version, stack.enter_context(server))
                stack.callback(running[version].admin.close)
            return running[version]

        yield get


@pytest.fixture(scope="session")
def bga(request: pytest.FixtureRequest, bga_servers: Callable[[int], BgaServer]) -> BgaServer:
    """The BGA database of one PostgreSQL version, 18 when a test does not ask for both."""
    return bga_servers(getattr(request, "param", VERSIONS[0]))
