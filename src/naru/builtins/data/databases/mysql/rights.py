"""What a MySQL or MariaDB user may do, by itself and by every role that it could take."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from typing import Any

import pymysql

STRONG = ("FILE", "SUPER", "PROCESS")
"""They reach out of the tables: to files, to settings, to what others ask."""
_WRITES = frozenset(
    "ALL PRIVILEGES,INSERT,UPDATE,DELETE,CREATE,DROP,ALTER,INDEX,TRIGGER,EVENT,REFERENCES,CREATE VIEW,CREATE ROUTINE,"
    "ALTER ROUTINE,DELETE HISTORY,GRANT OPTION".split(",")
)
_COLUMNS = re.compile(r"\s*\([^)]*\)")


def grants_of(connection: Any) -> list[str]:
    """Read the grants of who is connected, with those of all roles; a role that is taken is taken for this connection.

    Raises:
        pymysql.Error: the server does not tell.
    """
    with connection.cursor() as cursor:
        if "mariadb" not in connection.get_server_info().lower():
            with contextlib.suppress(pymysql.Error):  # of before roles
                cursor.execute("SET ROLE ALL")
            return _shown(cursor)
        grants = _shown(cursor)
        cursor.execute("SELECT DISTINCT role_name FROM information_schema.applicable_roles")
        for role in [str(row[0]).replace("`", "``") for row in cursor.fetchall()]:
            with contextlib.suppress(pymysql.Error):  # it comes with another role, whose grants tell it
                cursor.execute(f"SET ROLE `{role}`")
                grants += _shown(cursor)
        return grants


def strong_rights(grants: Iterable[str]) -> list[str]:
    """Return the rights that a query tool must not have."""
    found = set[str]()
    for grant in grants:
        rights, where = _parted(grant)
        found |= rights & set(STRONG)
        if "ALL PRIVILEGES" in rights and where.startswith("*.*"):
            found |= set(STRONG)
    return sorted(found)


def writes(grants: Iterable[str]) -> bool:
    """Tell whether anything may be changed by them."""
    return any(_parted(grant)[0] & _WRITES for grant in grants)


def _shown(cursor: Any) -> list[str]:
    cursor.execute("SHOW GRANTS")
    return [str(row[0]) for row in cursor.fetchall()]


def _parted(grant: str) -> tuple[set[str], str]:
    """Part a grant into its rights, without the columns that they are for, and what they are on."""
    told, _, where = grant.removeprefix("GRANT ").partition(" ON ")
    rights = {right.strip() for right in _COLUMNS.sub("", told).upper().split(",")} if where else set[str]()
    return rights | ({"GRANT OPTION"} if grant.endswith("WITH GRANT OPTION") else set()), where
