"""Run a recorded run again: its texts or a live model, its tools as they answered then; say what differs (N13)."""

from __future__ import annotations

from contextlib import aclosing

from naru.agent.hooks import Hooks
from naru.agent.loop import run as run_agent
from naru.agent.trace import RecordedTools, calls_of, message_from, recorded_texts
from naru.errors import ModelError
from naru.messages import ChatRequest, JsonObject
from naru.models.backend import Backend
from naru.models.known.families import profile_for
from naru.models.scripted import ScriptedBackend


class _Kept:
    """A journal for one run."""

    def __init__(self) -> None:
        self.run: JsonObject = {}

    async def save(self, run: JsonObject) -> None:
        """Keep it."""
        self.run = run


async def replay(run: JsonObject, *, backend: Backend | None = None, model: str = "") -> JsonObject:
    """Return the new run with what differs from the old: `{same, differences, run}`.

    Args:
        run: as it was kept.
        backend: a live model; None replays what the model wrote then, through today's parser and loop.
        model: the name to ask the live model for.
    """
    name = model or run["model"]
    asked = backend or ScriptedBackend(recorded_texts(run), profile=profile_for(name), model=name)
    request = ChatRequest(name, tuple(message_from(turn) for turn in run["messages"]))
    kept = _Kept()
    try:
        async with aclosing(run_agent(asked, RecordedTools(run), request, hooks=Hooks(journal=kept))) as events:
            async for _ in events:
                pass
    except ModelError as error:
        # The replay asked more often than the run did, or the live model failed: the record says so.
        kept.run.setdefault("note", str(error))
    differences = _differences(run, kept.run)
    return {"same": not differences, "differences": differences, "run": kept.run}


def _differences(old: JsonObject, new: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = [
        {"what": what, "before": old.get(what), "after": new.get(what)}
        for what in ("reason", "answer")
        if old.get(what) != new.get(what)
    ]
    if calls_of(old) != calls_of(new):
        found.append({"what": "calls", "before": calls_of(old), "after": calls_of(new)})
    return found
