"""Opening connections: all addresses of a name (RFC 8305), TLS against what the system trusts."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeVar

import aiohappyeyeballs

from naru.deadlines import owed
from naru.http1.faults import DialError
from naru.http1.head import Address

_OTHER_ADDRESS_SECONDS = 0.25
"""After which the next address of the host is tried beside the first."""
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""Seconds of silence before the first question and between others, and how many; systems have some of these."""
P = TypeVar("P", bound=asyncio.Protocol)
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gets host and port; returns the addresses that may be connected to. Raises OSError."""


async def dial(
    protocol: Callable[[], P],
    address: Address,
    *,
    authorities: ssl.SSLContext | None,
    timeout_seconds: float,
    resolve: Resolve | None = None,
) -> P:
    """Open a connection.

    `authorities` takes the place of what the system trusts, `resolve` of its name service: of addresses, too.
    Time in which nothing ran here is not held against the other side: it is asked once more.

    Raises:
        DialError: none came about; `__cause__` says why.
    """
    loop = asyncio.get_running_loop()
    is_last = False
    while True:
        due = loop.time() + timeout_seconds
        try:
            async with asyncio.timeout_at(due):
                return await _open(protocol, address, authorities, resolve)
        except TimeoutError as error:
            if is_last or not owed(loop.time() - due):
                raise DialError(f"cannot be reached: no answer in {timeout_seconds:g} s") from error
            is_last = True
        except OSError as error:
            raise DialError(f"cannot be reached: {reason_of(error)}") from error
        except UnicodeError as error:  # of the name service, for a name with an empty part or one that is too long
            raise DialError(f"cannot be reached: {address.host[:100]!r} is no name of a host") from error


async def _open(
    protocol: Callable[[], P], address: Address, authorities: ssl.SSLContext | None, resolve: Resolve | None
) -> P:
    loop = asyncio.get_running_loop()
    tls = authorities or await asyncio.to_thread(system_trust) if address.tls else None
    name = address.host if address.tls else None
    if resolve is None and is_numeric(address.host):  # Nothing to look up, nothing to choose from.
        transport, made = await loop.create_connection(
            protocol, address.host, address.port, ssl=tls, server_hostname=name
        )
        keep_alive(transport.get_extra_info("socket"))
        return made
    hosts = [address.host] if resolve is None else await resolve(address.host, address.port)
    found = [await loop.getaddrinfo(host, address.port, type=socket.SOCK_STREAM) for host in hosts]
    addresses = list(chain.from_iterable(found))
    opened = await aiohappyeyeballs.start_connection(addresses, happy_eyeballs_delay=_OTHER_ADDRESS_SECONDS, loop=loop)
    try:
        keep_alive(opened)
        _, made = await loop.create_connection(protocol, sock=opened, ssl=tls, server_hostname=name)
    except BaseException:
        opened.close()
        raise
    return made


def keep_alive(opened: socket.socket) -> None:
    """Have the system ask whether the other side is still there.

    Networks drop a connection on which nothing was said for some minutes, without a word to either side: that of a call
    that takes long, or on which a server would tell of changes.
    """
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            with contextlib.suppress(OSError):  # named, and not known to every kernel
                opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@lru_cache(maxsize=1)
def system_trust() -> ssl.SSLContext:
    """Make the one context of the process: reading the certificates takes tens of milliseconds."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


@lru_cache(maxsize=1024)
def is_numeric(host: str) -> bool:
    """Tell whether a host is an address rather than a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def reason_of(error: OSError) -> str:
    """Return what the system calls the fault, without the address that asyncio adds."""
    if isinstance(error, ssl.SSLError | socket.gaierror) or not error.errno:
        return error.strerror or str(error) or type(error).__name__
    return os.strerror(error.errno)
