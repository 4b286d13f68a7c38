"""Ports for programs that are started with one."""

from __future__ import annotations

import contextlib
import secrets
import socket


def free_port() -> int:
    """Return a free port below those that the kernel gives away: between here and its use no other test gets it."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
