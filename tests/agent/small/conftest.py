"""Runs of a scripted small model on plain functions, with their records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from naru.agent.hooks import Hooks, Near, Rank
from naru.agent.loop import run
from naru.agent.recall import Recall
from naru.messages import ChatRequest, JsonObject, Message
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import Toolset


class Kept:
    """A journal for one run."""

    def __init__(self) -> None:
        self.run: JsonObject = {}

    async def save(self, run: JsonObject) -> None:
        self.run = run


async def asked(
    question: str | Sequence[Message],
    answers: Sequence[str] | Callable[[ChatRequest], str],
    tools: Sequence[Callable[..., Any]] | Toolset,
    rank: Rank | None = None,
    near: Near | None = None,
    recall: Recall | None = None,
) -> tuple[JsonObject, ScriptedBackend]:
    """Run a small model's script; return the run's record and the backend that was asked."""
    turns = [Message("user", question)] if isinstance(question, str) else list(question)
    kept = Kept()
    backend = ScriptedBackend(answers, profile=Profile(small=True, guided="grammar"))
    hooks = Hooks(journal=kept, rank=rank, near=near, recall=recall)
    toolset = FunctionToolset(tools) if isinstance(tools, Sequence) else tools
    async for _ in run(backend, toolset, ChatRequest("scripted", tuple(turns)), hooks=hooks):
        pass
    return kept.run, backend


def calls(record: JsonObject) -> list[tuple[str, JsonObject]]:
    """Return the calls that ran."""
    return [(one["name"], one["arguments"]) for turn in record["rounds"] for one in turn["calls"] if one["ran"]]
