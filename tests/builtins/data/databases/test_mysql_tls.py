"""TLS of a MySQL URL on real servers, with it and without: what is asked for is had, or there is no connection."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.errors import DatabaseUnavailableError
from naru.builtins.data.databases.open import open_database
from naru.config import DataSettings
from naru.errors import ConfigError
from tests.builtins.data.mariadb import mariadb
from tests.certificates import Certificates, make_certificates

SEALED = "CREATE USER sealed IDENTIFIED BY 'r' REQUIRE SSL; GRANT SELECT ON bga.* TO sealed;"
"""Whom the server takes over TLS alone."""

Open = Callable[[str, str], Database]
"""Opens the server `tls` or `plain` with more options in its URL, behind `user@host ` where that is another."""


def opened(url: str) -> Database:
    pytest.importorskip("pymysql", reason="install the extra `mysql`")
    return open_database(DataSettings(naru_database_url=url, _env_file=None))


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certificates]:
    with tempfile.TemporaryDirectory(prefix="naru-maria-tls-") as name:
        Path(name).chmod(0o755)  # the server is another user
        make_certificates(Path(name) / "stranger")
        yield make_certificates(Path(name))


@pytest.fixture(scope="module")
def connect(certificates: Certificates) -> Iterator[Open]:
    urls: dict[str, str] = {}
    options = {
        "tls": [f"--ssl-cert={certificates.certificate}", f"--ssl-key={certificates.key}"],
        "plain": ["--skip-ssl"],
    }
    with ExitStack() as servers:

        def get(server: str, more: str) -> Database:
            if server not in urls:
                urls[server] = servers.enter_context(mariadb(SEALED, *options[server]))
            who, _, rest = more.rpartition(" ")
            user, _, host = (who or "reader@localhost").partition("@")
            rest = rest.replace("CA", str(certificates.authority)).replace(
                "STRANGER", str(certificates.authority.parent / "stranger" / "authority.pem")
            )
            return opened(urls[server].replace("reader:r@localhost", f"{user}:r@{host}") + rest)

        yield get


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "more"),
    [
        ("tls", "sealed@localhost "),
        ("tls", "sealed@localhost &ssl-mode=REQUIRED"),
        ("tls", "sealed@localhost &sslMode=verify_ca&ssl_ca=CA"),
        ("tls", "sealed@localhost &ssl-ca=CA&ssl_verify_identity=true"),
        ("tls", "sealed@other.test &ssl-ca=CA"),
        ("tls", "reader@localhost &ssl_mode=disabled"),
        ("plain", ""),
    ],
)
async def test_what_is_asked_for_is_had(connect: Open, server: str, more: str):
    database = connect(server, more)
    assert (await database.query("SELECT 1 AS n")).records == [{"n": 1}]
    await database.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "more", "told"),
    [
        ("plain", "&ssl-mode=REQUIRED", "SSL is required"),
        ("plain", "&ssl=true", "SSL is required"),
        ("plain", "&ssl-mode=PREFERRED&ssl-ca=CA", "SSL is required"),
        ("tls", "sealed@localhost &ssl-mode=DISABLED", "Access denied"),
        ("tls", "&ssl-mode=REQUIRED&ssl_ca=STRANGER", "CERTIFICATE_VERIFY_FAILED"),
        ("tls", "&ssl_verify_cert=true", "CERTIFICATE_VERIFY_FAILED"),
        ("tls", "reader@other.test &ssl-mode=VERIFY_IDENTITY&ssl-ca=CA", "Hostname mismatch"),
    ],
)
async def test_what_cannot_be_had_is_no_connection(connect: Open, server: str, more: str, told: str):
    database = connect(server, more)
    with pytest.raises(DatabaseUnavailableError, match=told):
        await database.query("SELECT 1")
    await database.close()


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("read_timeout=5", "'read_timeout', which is not known for MySQL.*ssl-mode"),
        ("ssl-mode=require", "has ssl-mode=require, which is not known.*REQUIRED, VERIFY_CA"),
        ("ssl=%7B%7D", r"ssl=\{\}, which is not known\. Write true or false"),
        ("charset=latin1", r"charset=latin1, which is not known\. Write utf8mb4"),
        ("half%a-secret@host/bga", "has an @ after its [?].*%3F for"),
        ("ssl-ca=/no/such.pem", r"\(ssl-ca\): .*No such file"),
    ],
)
def test_an_option_that_is_not_known_is_refused_by_name(query: str, told: str):
    with pytest.raises(ConfigError, match=told) as refused:
        opened(f"mysql://reader:secret@localhost/bga?{query}")
    assert "secret" not in str(refused.value)
    opened("mysql+pymysql://reader:r@localhost/bga?charset=utf8mb4&unix_socket=/run/s")


@pytest.mark.parametrize("name", ["information_schema", "INFORMATION_SCHEMA", "mysql", "performance_schema", "sys"])
def test_a_url_that_names_a_schema_of_the_servers_own_is_refused(name: str):
    with pytest.raises(ConfigError, match=f"names {name}, which is the server's own"):
        opened(f"mysql://reader:secret@localhost/{name}")
