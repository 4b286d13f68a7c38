"""Which questions a server may ask of the hub's clients: none, unless its record says so (S-58); and which client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from naru.connections.transports.base import Outgoing
from naru.connections.wire.protocol import META_RELATED_TASK
from naru.messages import JsonObject

ASKABLE: Final[Mapping[str, JsonObject]] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"context": {}, "tools": {}},
    "roots": {"listChanged": True},
}
"""What a record's `config.ask` may name, and what is then declared to the server."""


def allowed_questions(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the kinds of questions that a record's config allows; unknown words allow nothing."""
    asked = config.get("ask")
    return frozenset(kind for kind in ASKABLE if isinstance(asked, list | tuple) and kind in asked)


def declared(config: Mapping[str, Any]) -> JsonObject:
    """Return the client capabilities to declare to the server of this record."""
    allowed = allowed_questions(config)
    return {kind: capability for kind, capability in ASKABLE.items() if kind in allowed}


def find_asked(running: Sequence[Outgoing], params: JsonObject) -> tuple[Outgoing | None, str]:
    """Find the request that a question belongs to, on a link where it comes beside all others (stdio, SSE).

    The server may name it by its progress token, or by the task that it works on. Else it is the newest of the one
    client that has requests under way: with several, or beside those of another caller, it could be anybody's, and
    must not reach the wrong one (S-14).

    Returns:
        The request, or None and the words for why the question is refused.
    """
    named, task = _named(params)
    calls = [call for call in running if call.context is not None]
    if of_task := [call for call in calls if task and call.context.options.task == task]:
        return of_task[0], ""
    if type(named) is int:
        for call in calls:
            if named == (call.context.options.token or call.id):
                return call, ""
    askable = [call for call in calls if call.context.options.on_request is not None]
    if not askable:
        return (
            calls[0] if len(calls) == 1 else None
        ), "is not available: no client that can be asked has a call under way"
    last = askable[-1].context.options
    clients = {id(call.context.options.client) for call in askable}
    callers = {call.context.options.caller for call in calls if call.context.options.caller}
    if len(clients) > 1 or callers - {last.caller}:
        return None, (
            "cannot be delivered: several clients have calls under way here, and the question names none of them "
            "(by the progressToken of its _meta)"
        )
    return askable[-1], ""


def _named(params: JsonObject) -> tuple[Any, Any]:
    """Return the progress token and the task that a question names."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return None, None
    related = meta.get(META_RELATED_TASK)
    return meta.get("progressToken"), related.get("taskId") if isinstance(related, dict) else None
