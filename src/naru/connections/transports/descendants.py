"""Finding and ending everything that a stdio server started, however far it wandered (R-16, R-17).

A child gets a mark in its environment, which its descendants inherit even when they change session or parent. The mark
names the Naru process by pid and start time, so that the next start can end what a killed Naru left behind. Linux only:
elsewhere the process group is all there is.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import uuid
from pathlib import Path

VARIABLE = "NARU_SUPERVISOR"
_PROC = Path("/proc")
_LOOKS = 10
"""So often what is marked is looked for: a fork bomb cannot keep us here."""
_STARTING_SECONDS = 2.0
"""How old a process is at most that has no environment because its program is still being loaded."""


def new_mark() -> str:
    """Return a mark for one launch: `pid.starttime.unique`."""
    return f"{os.getpid()}.{_start_time(os.getpid()) or 0}.{uuid.uuid4().hex}"


def end_marked(mark: str) -> int:
    """Kill every process that carries the mark, again until none is left; return how many were killed.

    Reads /proc of every process (about 20 µs each): call it in a thread.
    """
    killed: set[int] = set()
    looks, end = 0, time.monotonic() + _STARTING_SECONDS
    while looks < _LOOKS:
        marks = _marks()
        found = {pid for pid, seen in marks if seen == mark}
        for pid in found:
            _kill(pid, mark)
        killed |= found
        if found:
            looks += 1
        elif time.monotonic() < end and any(seen is None and _is_starting(pid) for pid, seen in marks):
            time.sleep(0.005)
        else:
            break
    return len(killed)


def end_orphans() -> int:
    """Kill what Naru processes that no longer live left behind; return how many were killed."""
    killed = 0
    for pid, mark in _marks():
        if not mark:
            continue
        supervisor, start, _ = mark.split(".", 2)
        if start != "0" and _start_time(int(supervisor)) != int(start):
            _kill(pid, mark)
            killed += 1
    return killed


def _marks() -> list[tuple[int, str | None]]:
    """Return each process that carries a mark, and with None each that may: it has no environment at all."""
    if sys.platform != "linux":
        return []
    needle = f"{VARIABLE}=".encode()
    pids = [int(entry) for entry in os.listdir(_PROC) if entry.isdigit()]  # noqa: PTH208 - half the time of iterdir
    return [(pid, mark) for pid in pids if (mark := _mark_of(pid, needle)) != ""]


def _is_starting(pid: int) -> bool:
    """Tell whether a process is so young that its program may still be being loaded: until then it shows no mark."""
    start = _start_time(pid)
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - (start or 0) / os.sysconf("SC_CLK_TCK")
    # The kernel's own threads have no environment either, nor a program.
    return start is not None and age < _STARTING_SECONDS and (_PROC / str(pid) / "exe").exists()


def _mark_of(pid: int, needle: bytes) -> str | None:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:  # gone, or another user's
        return ""
    if not environment:
        return None
    at = environment.find(needle)
    if at < 0 or (at > 0 and environment[at - 1] != 0):
        return ""
    mark = environment[at + len(needle) :].split(b"\0", 1)[0].decode("ascii", "replace")
    parts = mark.split(".")
    return mark if len(parts) == 3 and parts[0].isdigit() and parts[1].isdigit() else ""


def _kill(pid: int, mark: str) -> None:
    """Kill a process if it still is the one that carries the mark."""
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _mark_of(pid, f"{VARIABLE}=".encode()) == mark:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _start_time(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None when there is none, or no /proc."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in brackets may contain anything; field 22 is the 20th after it.
    fields = text.rpartition(")")[2].split()
    return int(fields[19]) if fields and fields[0] != "Z" else None
