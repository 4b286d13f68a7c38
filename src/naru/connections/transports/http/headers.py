"""The headers that go with each request to a server, as its entry says them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from naru.connections.state.faults import Failure, LinkError

_RESERVED = frozenset(
    "content-length content-type transfer-encoding connection accept accept-encoding "
    "mcp-session-id mcp-protocol-version mcp-method mcp-name last-event-id".split()
)
"""What HTTP and the protocol say themselves; said twice, servers refuse it."""
_BAD_HEADER = re.compile(r"[\r\n\0]")


def headers_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that go with each request. Raises LinkError when one cannot be sent."""
    headers: dict[str, tuple[str, str]] = {}
    for name, value in (config.get("headers") or {}).items():
        if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", str(name)) or _BAD_HEADER.search(str(value)):
            raise misconfigured(f"the header {str(name)!r} of config.headers cannot be sent.")
        if config.get("auth") and str(name).lower() == "authorization":
            raise misconfigured("config has both auth and an Authorization header: which one counts?")
        if str(name).lower() not in _RESERVED:
            headers[str(name).lower()] = str(name), str(value)  # of two spellings the later one counts
    return dict(headers.values())


def misconfigured(message: str) -> LinkError:
    """Return the error of an entry that can never work as it is."""
    return LinkError(Failure("config", "bad_config", message, "Correct the server's record.", retryable=False))
