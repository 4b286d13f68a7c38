"""Signs of life on a terminal: what goes on and for how long, once it takes more than a second; nothing in a pipe."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from naru.cli.terminal.output import console, plain
from naru.records import ServerStatus

if TYPE_CHECKING:  # heavy, and there already where it is passed
    from naru.connections.manager import Manager

_PATIENCE_SECONDS = 1.0
_LOOK_SECONDS = 0.3


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show what goes on; the function that it gives changes the words."""
    out = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    shown = Progress(*columns, console=out, transient=True, disable=not out.is_terminal)
    task = shown.add_task(what)
    timer = threading.Timer(_PATIENCE_SECONDS, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda words: shown.update(task, description=escape(plain(words)))
    finally:
        timer.cancel()
        timer.join()
        shown.stop()


async def connected(manager: Manager, seconds: float = 30.0) -> bool:
    """Wait until every server has come to a result, as `Manager.started` does; show which are awaited."""
    with working("connecting servers") as tell:
        waiting = asyncio.ensure_future(manager.started(seconds))
        try:
            while not waiting.done():
                states = {name: one.status for name, one in manager.connections.items()}
                left = [name for name, state in states.items() if state is ServerStatus.CONNECTING]
                tell(f"connecting servers: {len(states) - len(left)} of {len(states)}, waiting for {', '.join(left)}")
                await asyncio.wait({waiting}, timeout=_LOOK_SECONDS)
            return await waiting
        finally:
            waiting.cancel()
