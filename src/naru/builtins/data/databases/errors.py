"""What can go wrong between a question in SQL and its rows."""

from __future__ import annotations

from naru.errors import PolicyError, ToolError, UpstreamError


class RefusedStatementError(PolicyError):
    """The statement is not one that this tool runs."""

    code = "statement_refused"


class QueryError(ToolError):
    """The server refused or broke off the query; the model can write a better one."""

    code = "query_failed"


def stopped(seconds: float) -> QueryError:
    """Return what is said of a query whose time was over."""
    return QueryError(
        f"The query was stopped after {seconds:g} seconds.", remedy="Filter earlier, aggregate, or ask for less."
    )


class DatabaseUnavailableError(UpstreamError):
    """The database cannot be reached, went away or is busy."""

    code = "database_unavailable"


class UnsafeDatabaseError(PolicyError):
    """The start-up self-test found that this connection could do more than read."""

    code = "unsafe_database"
