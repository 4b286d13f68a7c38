"""Reads one PDF, as a program of its own, whose time and memory the system limits: `pdf_reader.py SECONDS < x.pdf`.

Lines of JSON come out: how many pages there are, then each page's text, or what is wrong with it under `broken`. Or, of
a file that cannot be read at all, the reason under `unreadable`. Run by `office.pdf_pages`, without what Naru imports.
"""

from __future__ import annotations

import io
import json
import math
import sys
import time
from collections.abc import Iterator

import pypdf

MEMORY_BYTES = 3 * 2**29


def answers(raw: bytes, seconds: int) -> Iterator[object]:
    """Yield what there is to tell; each page, and the file before them, has so many seconds of computing."""
    _allow(seconds)
    try:
        reader = pypdf.PdfReader(io.BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            yield {"unreadable": "it is protected with a password; save it without"}
            return
        pages = list(reader.pages)
    except Exception as error:  # noqa: BLE001  # whatever the library meets in a broken file
        yield {"unreadable": f"it is not what its name says: {str(error) or type(error).__name__}"}
        return
    yield len(pages)
    for page in pages:
        _allow(seconds)
        try:
            yield str(page.extract_text())
        except Exception as error:  # noqa: BLE001  # and in a broken page
            yield {"broken": str(error) or type(error).__name__}


def _allow(seconds: int) -> None:
    """Let the system end this process after so much more computing; a regular expression hears of nothing else."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  # which Windows lacks

        soft, (_, hard) = math.ceil(time.process_time()) + seconds, resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _limit() -> None:
    if sys.platform != "win32":
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _limit()
    for answer in answers(sys.stdin.buffer.read(), int(sys.argv[1])):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
