"""Addresses: how they are shown, and where credentials may go."""

from __future__ import annotations

from yarl import URL


def shown(url: URL) -> str:
    """Return a URL fit for messages: no user, password or query, which may hold secrets."""
    return str(url.with_user(None).with_query(None).with_fragment(None))


def is_same_origin(one: URL, other: URL) -> bool:
    """Tell whether credentials for one may be sent to the other (S-12)."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def may_carry_secrets(address: str) -> bool:
    """Tell whether credentials may be sent there: https, or this very machine."""
    try:
        url = URL(address)
    except ValueError:
        return False
    is_own = url.host in ("127.0.0.1", "::1", "localhost")
    return bool(url.host) and (url.scheme == "https" or (url.scheme == "http" and is_own))
