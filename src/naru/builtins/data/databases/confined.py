"""What the process that runs an engine may take and touch: so much memory, and no file to write but in one folder.

Linux forbids the writing (Landlock, from 5.13 on, which a process asks for itself); other systems do not know how.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

MEMORY_BYTES = 3 * 2**29
"""Of the process; DuckDB allows itself 512 MB of what it counts."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""Landlock's system calls, the same on every machine."""
_ASK_VERSION, _BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_WRITES = {1: 1 << 1 | sum(1 << bit for bit in range(4, 13)), 2: 1 << 13, 3: 1 << 14}
"""By the version that knows them first: write, remove, make of any kind; move; truncate."""


def limit_memory() -> None:
    """Let the system refuse this process more memory."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  # which Windows lacks

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def write_only_in(folder: Path) -> None:
    """Let the system refuse this process to change any file outside of a folder, for good; where it knows how.

    It holds for this thread and those that it starts: call it before there are others.
    """
    if sys.platform != "linux":
        return
    system = ctypes.CDLL(None).syscall
    version = system(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION)
    rights = sum(bits for since, bits in _WRITES.items() if since <= version)
    rules = system(_CREATE, struct.pack("Q", rights), ctypes.c_size_t(8), 0) if rights else -1
    if rules < 0:
        return
    place = os.open(folder, os.O_PATH)
    system(_ADD, rules, _BENEATH, struct.pack("=Qi", rights, place), 0)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    system(_RESTRICT, rules, 0)
    os.close(place)
    os.close(rules)
