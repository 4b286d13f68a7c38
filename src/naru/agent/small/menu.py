"""A menu of names, for a question that shares no word with any of many tools where no encoder tells what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from naru.agent.selection import Ranked
from naru.agent.small.parameters import parameters
from naru.messages import ToolDefinition

MOST = 60
"""Names on a menu: about a thousand tokens."""
_LINE = 80


def is_untold(ranked: Sequence[Ranked]) -> bool:
    """Tell whether nothing says which tool is near: no meaning was measured, and no word is shared."""
    return bool(ranked) and all(one.closeness is None and one.score <= 0 for one in ranked)


def by_fit(ranked: Sequence[Ranked], given: Sequence[str]) -> list[Ranked]:
    """Return the tools that take an id of the question, by its shape; none where no tool does."""
    takes = [(one, [p for p in parameters(one.tool) if p.takes_id]) for one in ranked]
    return [one for one, ids in takes if any(p.fits(value) for p in ids for value in given)]


def menu(ranked: Sequence[Ranked]) -> list[ToolDefinition]:
    """Return names with a line of what each is for, without parameters: a pick is no call, and never run."""
    first = (one.tool for one in ranked[:MOST])
    return [
        replace(tool, description=tool.description.strip()[:_LINE].split("\n")[0], input_schema={}) for tool in first
    ]
