"""Task ids of the tasks extension: sealed, so that each leads back to its server and only its own caller may use it."""

from __future__ import annotations

import hmac
from urllib.parse import quote, unquote

from naru.gateway.wire.protocol import INVALID_PARAMS, RpcError
from naru.gateway.wire.seal import Sealer


class TaskIds:
    """Turns (server, task id) into an id for a client and back; keeps nothing."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer

    def seal(self, server: str, task_id: str, caller: str) -> str:
        """Return the id that the client sees."""
        plain = f"{quote(server, safe='')}:{quote(task_id, safe='')}"
        return f"{plain}:{self._sealer.mark(plain, caller=caller)}"

    def open(self, sealed: object, caller: str) -> tuple[str, str]:
        """Return server and its own id.

        Raises:
            RpcError: -32602, unknown or another caller's.
        """
        plain, _, mark = str(sealed).rpartition(":")
        if not str(sealed).isascii():  # none of ours, and beyond what can be compared
            mark = ""
        server, _, task_id = plain.partition(":")
        if not mark or not hmac.compare_digest(mark, self._sealer.mark(plain, caller=caller)):
            raise RpcError(INVALID_PARAMS, "Unknown task.")
        return unquote(server), unquote(task_id)
