"""Which tools a run goes on with: all of them, or the most relevant where a model has room for fewer (H13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from naru.agent.context import tools_tokens
from naru.agent.hooks import Rank
from naru.agent.selection import MARKS, Ranked, first_of, index_of
from naru.messages import ChatRequest, ToolDefinition
from naru.models.known.profile import Profile

_SENTENCE_END = re.compile(r"(?<=[.!?\u061f])\s+|(?<=[\u3002\uff01\uff1f])\s*(?=\S)|\n")


async def chosen(
    tools: Sequence[ToolDefinition], request: ChatRequest, profile: Profile, most: int, rank: Rank | None
) -> Sequence[ToolDefinition]:
    """Return the tools to show a model: those that its budget, `most` (0 is no limit) and half of its context hold."""
    most = min(filter(None, (most, profile.tool_budget)), default=0)
    room = profile.context_tokens // 2
    if not (0 < most < len(tools) or 0 < room < tools_tokens(tools)):
        return tools
    ranked = await ranked_for(tools, request, rank)
    if room:
        sizes = accumulate(tools_tokens([one.tool]) for one in ranked)
        fitting = sum(size <= room for size in sizes)
        most = max(1, min(filter(None, (most, fitting)), default=1))
    return first_of(ranked, tools, most)


async def ranked_for(tools: Sequence[ToolDefinition], request: ChatRequest, rank: Rank | None) -> Sequence[Ranked]:
    """Return all tools, most relevant first, to the question and to what was asked before it."""
    asked = list(_asked(request))
    texts = [asked[-1] if asked else "", *(["\n".join(asked[-2:])] if len(asked) > 1 else [])]
    return index_of(tools).rank(texts[0]) if rank is None else await rank(tools, texts)


def _asked(request: ChatRequest) -> Iterator[str]:
    """Give what the person said, and with what each answer ended that asks: `Yes` is about a tool by that alone."""
    last = max((at for at, turn in enumerate(request.messages) if turn.role == "user"), default=-1)
    for turn in request.messages[: last + 1]:
        said = turn.text.strip()
        if turn.role == "user":
            yield turn.text
        elif turn.role == "assistant" and said.endswith(MARKS):
            yield _SENTENCE_END.split(said)[-1]
