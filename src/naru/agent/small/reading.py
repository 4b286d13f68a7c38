"""Results as lines that a small model reads well and a person can be shown; and whether they hold anything at all."""

from __future__ import annotations

from typing import Any

from naru.agent.execute import Outcome
from naru.agent.prompts import cut
from naru.messages import TextPart, ToolCall
from naru.tools.lines import decoded, readable, scalar
from naru.tools.names import own_name

_EMPTY: tuple[Any, ...] = (None, "", [], {})


def call_line(call: ToolCall) -> str:
    """Return a call as a person reads it: `member_loans(card=M-0012)`."""
    given = ", ".join(f"{key}={scalar(value)}" for key, value in call.arguments.items())
    return f"{own_name(call.name)}({given})"


def told(one: Outcome) -> str:
    """Return what a model is told of a call and what it gave."""
    return f"{call_line(one.call)}:\n{lines_of(one)}"


def lines_of(one: Outcome) -> str:
    """Return what a call gave, as lines, cut to what a small model can read."""
    return cut(readable(one.result.text) or one.shown, 4000)


def is_nothing(one: Outcome) -> bool:
    """Tell whether a call failed or found nothing: an error, no row, nothing beside what the call itself gave."""
    if one.failed or not one.ran:
        return True
    text = one.result.text.strip()
    if not text:
        return all(isinstance(part, TextPart) for part in one.result.content)
    if text[:1] not in "{[n":
        return False
    value = decoded(text)
    if isinstance(value, dict) and value:
        if value.get("error") or value.get("errors"):
            return True
        given = [str(argument) for argument in one.call.arguments.values()]
        said = [inner for inner in value.values() if str(inner) not in given]
        # `{"found": false}`, `{"items": [], "total": 0}`: a lone 0 may be what was asked for.
        return any(inner in _EMPTY or inner is False for inner in said) and not any(said)
    return value in _EMPTY
