"""Stored functions under names that are harmless elsewhere: `any_value` is MySQL's own, and nobody's in MariaDB."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import pymysql
from pymysql.constants import ER

from naru.builtins.data.databases.errors import RefusedStatementError

_STORED = (
    "SELECT LOWER(routine_name) FROM information_schema.routines "
    "WHERE routine_schema = DATABASE() AND routine_type = 'FUNCTION' AND routine_name IN %s"
)
_TOO_MANY = ", ".join("1" * 64)
"""Arguments; no stored function has so many."""


def refuse_stored(connection: Any, called: Set[str]) -> None:
    """See to it that the server runs functions of its own under these names; its own come before stored ones.

    Raises:
        RefusedStatementError: one of them is a stored function.
        pymysql.Error: the server does not tell.
    """
    if not called:
        return
    with connection.cursor() as cursor:
        cursor.execute(_STORED, [sorted(called)])
        for (name,) in cursor.fetchall():
            try:
                cursor.execute(f"SELECT {name}({_TOO_MANY})")  # noqa: S608  # a name of our own list
                cursor.fetchall()
            except pymysql.Error as error:
                if error.args[0] == ER.SP_WRONG_NO_OF_ARGS:
                    raise RefusedStatementError(
                        f"This tool only reads: function {name} is a stored one.",
                        remedy="Write the query without it.",
                    ) from error
