"""Ids of calls for endpoints that take not every id: Mistral wants nine letters and digits, OpenAI forty at most. Pure.

A history's ids are whosever answered then: other endpoints', clients', or Naru's own.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from naru.messages import Message

_LENGTH = 9
_SHORT = re.compile(rf"[A-Za-z0-9]{{{_LENGTH}}}")


def with_short_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return a conversation with ids that every endpoint takes; the same ones each time, for its prompt cache."""
    return tuple(
        replace(
            turn,
            tool_call_id=_short(turn.tool_call_id),
            tool_calls=tuple(replace(call, id=_short(call.id)) for call in turn.tool_calls),
        )
        if turn.tool_calls or turn.tool_call_id
        else turn
        for turn in messages
    )


def _short(call_id: str) -> str:
    if not call_id or _SHORT.fullmatch(call_id):
        return call_id
    return base64.b32encode(sha256(call_id.encode("utf-8", "surrogatepass")).digest()).decode()[:_LENGTH].lower()
