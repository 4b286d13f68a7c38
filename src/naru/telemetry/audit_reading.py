"""The audit log from its end: the newest entries first, in pages, without reading what is older than the page."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from naru.messages import JsonObject
from naru.telemetry.audit_file import all_files, parsed

MOST_LOOKED_AT = 20_000
"""Entries that one page looks through at most, however rare what is wanted is."""
_BLOCK = 64 * 1024
_NUMBER = re.compile(rb'\{"seq":(\d+),')


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries, newest first."""

    entries: list[JsonObject]
    """A line that was changed by hand is `{"seq": …, "changed": true}` with nothing of its text."""
    goes_on: int | None
    """The next page is what stands before this number; None at the log's beginning."""


def newest(
    path: Path, is_wanted: Callable[[JsonObject], bool], *, limit: int, before: int | None = None, after: int = 0
) -> Page:
    """Return a page of the log.

    Args:
        path: of `audit.jsonl`; files put aside are found beside it.
        is_wanted: says of an entry whether it is asked for.
        limit: how many at most.
        before: only entries with a smaller number.
        after: only entries with a greater number.

    Raises:
        OSError: a file cannot be read.
    """
    found: list[JsonObject] = []
    looked_at = 0
    for line in _lines_from_the_end(path.expanduser()):
        number = _NUMBER.match(line)
        if number is None or (before is not None and int(number[1]) >= before):
            continue
        seq = int(number[1])
        if seq <= after:
            return Page(found, None)
        if len(found) == limit or looked_at == MOST_LOOKED_AT:
            return Page(found, seq + 1)
        looked_at += 1
        entry = parsed(line) or {"seq": seq, "changed": True}
        if "changed" in entry or is_wanted(entry):
            found.append(entry)
    return Page(found, None)


def _lines_from_the_end(path: Path) -> Iterator[bytes]:
    for file in reversed(all_files(path)):
        with file.open("rb") as lines:
            start = lines.seek(0, os.SEEK_END)
            rest = b""
            while start > 0:
                step = min(_BLOCK, start)
                start -= step
                lines.seek(start)
                block = lines.read(step) + rest
                rest, *whole = block.split(b"\n")
                yield from (line + b"\n" for line in reversed(whole) if line)
            if rest:
                yield rest + b"\n"
