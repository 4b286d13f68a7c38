"""Issue 20, lines 3 and 6, on a real MariaDB: `reader-sql` makes a role that reads, and who can do more is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from naru.builtins.data.databases.errors import RefusedStatementError, UnsafeDatabaseError
from naru.builtins.data.databases.open import open_database
from naru.cli.data.command import app
from naru.config import DataSettings
from tests.builtins.data.mariadb import mariadb

pytestmark = pytest.mark.slow
STRONG = {
    "files": "GRANT SELECT ON bga.* TO {user}; GRANT FILE ON *.* TO {user};",
    "super": "GRANT SELECT, SUPER ON *.* TO {user};",
    "processes": "GRANT PROCESS ON *.* TO {user}; GRANT SELECT ON bga.* TO {user};",
    "files_by_role": "CREATE ROLE filer; GRANT FILE ON *.* TO filer; CREATE ROLE above; GRANT filer TO above; "
    "GRANT SELECT ON bga.* TO {user}; GRANT above TO {user};",
    "everything": "GRANT ALL PRIVILEGES ON *.* TO {user};",
}
RIGHTS = {
    "files_by_role": "FILE",
    "files": "FILE",
    "super": "SUPER",
    "processes": "PROCESS",
    "everything": "FILE, PROCESS, SUPER",
}

WRITERS = {
    "writer": "GRANT INSERT ON bga.* TO writer;",
    "by_column": "GRANT UPDATE (id, qty) ON bga.lot TO by_column;",
    "by_role": "CREATE ROLE `writ``es`; GRANT DELETE ON bga.lot TO `writ``es`; GRANT `writ``es` TO by_role;",
    "by_default": "CREATE ROLE alters; GRANT ALTER ON bga.* TO alters; GRANT alters TO by_default;"
    " SET DEFAULT ROLE alters FOR by_default;",
    "by_a_role_of_a_role": "CREATE ROLE inner_role; GRANT INSERT ON bga.* TO inner_role; CREATE ROLE outer_role;"
    " GRANT inner_role TO outer_role; GRANT outer_role TO by_a_role_of_a_role;",
}

READER = (
    "CREATE ROLE readers; GRANT SELECT ON bga.* TO readers; CREATE USER reader_by_role IDENTIFIED BY 'r';"
    " GRANT readers TO reader_by_role; SET DEFAULT ROLE readers FOR reader_by_role;"
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Give the URL of the ordinary reader; the other users are made by the printed SQL and by `STRONG`."""
    pytest.importorskip("pymysql", reason="install the extra `mysql`")
    printed = CliRunner().invoke(app, ["reader-sql", "--engine", "mysql", "--database", "bga", "--role", "printed`er"])
    assert printed.exit_code == 0
    users = [f"CREATE USER {name} IDENTIFIED BY 'r'; {grants.format(user=name)}" for name, grants in STRONG.items()]
    writers = [
        f"CREATE USER {name} IDENTIFIED BY 'r'; GRANT SELECT ON bga.* TO {name}; {grants}"
        for name, grants in WRITERS.items()
    ]
    with mariadb("\n".join(["CREATE TABLE lot (id INT, qty INT);", printed.stdout, *users, *writers, READER])) as url:
        yield url


def settings(url: str, user: str, password: str = "r", **more: object) -> DataSettings:
    return DataSettings(naru_database_url=url.replace("reader:r@", f"{user}:{password}@"), _env_file=None, **more)  # type: ignore[arg-type]


async def test_the_printed_role_reads_tables_of_today_and_tomorrow_and_writes_nothing(server: str):
    database = open_database(settings(server, "printed%60er", "change-me"))
    assert (await database.query("SELECT count(*) AS n FROM lot")).records == [{"n": 0}]
    checked = await database.check()
    assert checked.warnings == [], "a role that may write would be told"
    with pytest.raises(RefusedStatementError):
        await database.query("SELECT 1 INTO OUTFILE '/tmp/naru_printed'")
    await database.close()


@pytest.mark.parametrize("user", STRONG)
async def test_a_user_who_can_do_more_than_read_is_refused_with_the_way_out(server: str, user: str):
    database = open_database(settings(server, user))
    with pytest.raises(UnsafeDatabaseError) as refused:
        await database.query("SELECT 1")
    assert RIGHTS[user] in str(refused.value)
    assert "`naru data reader-sql --engine mysql` prints how" in refused.value.remedy
    assert "\n" not in refused.value.remedy
    await database.close()


async def test_who_allows_a_superuser_by_setting_is_served(server: str):
    allowed = open_database(settings(server, "files", postgresql_db_allow_superuser=True))
    assert (await allowed.query("SELECT 1 AS n")).records == [{"n": 1}]
    await allowed.close()


@pytest.mark.parametrize("user", WRITERS)
async def test_who_may_write_is_warned_whether_by_itself_or_by_a_role(server: str, user: str):
    writer = open_database(settings(server, user))
    assert ["may write" in warning for warning in (await writer.check()).warnings] == [True]
    with pytest.raises(RefusedStatementError):
        await writer.query("SET ROLE NONE")
    await writer.close()


async def test_a_role_that_only_reads_is_no_warning(server: str):
    reader = open_database(settings(server, "reader_by_role"))
    assert (await reader.query("SELECT count(*) AS n FROM lot")).records == [{"n": 0}]
    assert (await reader.check()).warnings == []
    await reader.close()
