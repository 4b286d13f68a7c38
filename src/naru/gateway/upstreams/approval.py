"""A client whose call waits for a person (N9): it is told that it waits, and may be asked itself."""

from __future__ import annotations

import asyncio
import json

from naru.gateway.upstreams.upstream import Relay
from naru.gateway.wire.protocol import RpcError
from naru.messages import JsonObject
from naru.stores.secrets.redact import REDACTOR
from naru.tools.supervision.calls import AskClient

BEAT_SECONDS = 10.0
"""How often a waiting client gets a progress note, so that its own deadline starts anew."""
_MAX_SHOWN = 2000
_ANSWERS = ("once", "always", "deny")


def asks_client(relay: Relay, place: str, arguments: JsonObject) -> AskClient:
    """Return what tells the client of a call, and asks its person where that is allowed."""

    async def ask(waiting_id: str, *, may_answer: bool) -> str | None:
        beat = asyncio.ensure_future(_tell(relay, waiting_id))
        try:
            answer = await _elicited(relay, place, arguments) if may_answer else None
            if answer is None:
                await beat  # someone else answers, and ends this
            return answer
        finally:
            beat.cancel()

    return ask


async def _tell(relay: Relay, waiting_id: str) -> None:
    number = 0
    while True:
        relay.progress({"progress": number, "message": f"Waits for a person's approval ({waiting_id})."})
        number += 1
        await asyncio.sleep(BEAT_SECONDS)


async def _elicited(relay: Relay, place: str, arguments: JsonObject) -> str | None:
    """Ask by elicitation; None when the client cannot be asked or its person does not say."""
    shown = REDACTOR.clean(json.dumps(arguments, ensure_ascii=True))[:_MAX_SHOWN]
    schema: JsonObject = {
        "type": "object",
        "properties": {"decision": {"type": "string", "enum": list(_ANSWERS), "title": "May it be called?"}},
        "required": ["decision"],
    }
    question: JsonObject = {"message": f"Naru asks: may {place} be called with {shown}?", "requestedSchema": schema}
    try:
        answer = await relay.ask("elicitation/create", question)
    except RpcError:
        return None
    if not isinstance(answer, dict) or answer.get("action") == "cancel":
        return None
    if answer.get("action") != "accept":
        return "deny"
    content = answer.get("content")
    said = content.get("decision") if isinstance(content, dict) else None
    return said if said in _ANSWERS else None
