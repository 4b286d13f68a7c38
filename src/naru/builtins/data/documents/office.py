"""Excel, Word and PDF by libraries that an extra brings, in a process of its own: `office_reader`.

Such a file says little of what it takes, so the system limits the time and the memory of what reads it.
"""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from naru.builtins.data.documents.document import UnreadableError
from naru.extras import install_command

PART_SECONDS = 30
"""Of computing, for a page of a PDF, a sheet, or a Word file; an honest page takes a part of a second."""
_READER = Path(__file__).with_name("office_reader.py")
_LIBRARIES = {".pdf": "pypdf", ".docx": "mammoth"}
_OF_BOOKS = "python_calamine"


def parts_of(raw: bytes, suffix: str) -> Iterator[Any]:
    """Yield a PDF's pages as text, a Word file as HTML, or a workbook's sheets.

    A sheet is its name and lines; an empty one has no cells. An error stands for a part that is broken. What reads it
    ends where a part takes too much computing; what comes before that is kept.

    Raises:
        UnreadableError: nothing of it can be read.
    """
    if importlib.util.find_spec(_LIBRARIES.get(suffix, _OF_BOOKS)) is None:
        raise UnreadableError(f"reading it needs an extra: {install_command('documents')}")
    command = [sys.executable, "-P", str(_READER), suffix, str(PART_SECONDS)]
    try:
        done = subprocess.run(command, input=raw, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise UnreadableError(f"no process to read it could be started: {error.strerror}") from error
    count, *parts = [json.loads(line) for line in done.stdout.split(b"\n")[:-1]] or [None]
    if isinstance(count, dict):
        raise UnreadableError(count["unreadable"])
    yield from (UnreadableError(part["broken"]) if isinstance(part, dict) else part for part in parts)
    ended = f"what reads it ended with {done.returncode}"
    if done.returncode == -getattr(signal, "SIGXCPU", 0):
        ended = f"it takes more than {PART_SECONDS} seconds of computing"
    if count is None:
        raise UnreadableError(ended)
    if left := count - len(parts):
        yield UnreadableError(f"{ended}; it and {left - 1} after it are left out")
