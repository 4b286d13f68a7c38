"""Which addresses may be gone to (S-11): what a name leads to is looked up once, judged, and connected to as judged."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

from aiohttp.abc import AbstractResolver, ResolveResult

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gets host and port; returns its addresses. Raises OSError."""


async def look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system for a name's addresses."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


class CheckedResolver(AbstractResolver):
    """Resolves for aiohttp by a lookup that judges; an address in a URL never comes here, and is checked before."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_UNSPEC) -> list[ResolveResult]:
        """Return what may be connected to."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await self._lookup(host, port)
        ]

    async def close(self) -> None:
        """Do nothing."""


def is_address(host: str) -> bool:
    """Tell whether a host is an address rather than a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def plain(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address without what wraps it: IPv4 in IPv6 in its three forms."""
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        return inner or found
    return found


def is_public(address: str) -> bool:
    """Tell whether an address is one of the internet's."""
    found = plain(address)
    return found.is_global and not found.is_multicast


def is_forbidden(address: str) -> bool:
    """Tell whether an address is nobody's: a cloud's metadata service, a group, no address at all."""
    found = plain(address)
    return found.is_link_local or found.is_multicast or found.is_unspecified
