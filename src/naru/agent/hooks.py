"""What an application hangs into a run: retrieval before the model (D5), a required result (D6), a journal (N13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from naru.agent.execute import Outcome
from naru.agent.recall import Recall
from naru.agent.selection import Ranked
from naru.agent.trace import Journal
from naru.facts import fact
from naru.messages import ChatRequest, ToolDefinition
from naru.models.backend import Backend

BeforeModel = Callable[[ChatRequest], Awaitable[ChatRequest]]
"""Sees the request before the first model call and may add to it, such as retrieved documents (D5)."""
Missing = Callable[[Sequence[Outcome]], str]
"""Says what the run must still produce before it may end; empty when nothing is missing (D6)."""
Rank = Callable[[Sequence[ToolDefinition], Sequence[str]], Awaitable[Sequence[Ranked]]]
"""Orders tools by a question and what was said before it, in place of the question's words alone (H13)."""
Near = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
"""Tells how near each text lies to a question in meaning, -1 to 1; 0 of each where nothing can tell."""
Weigh = Callable[[Backend, ChatRequest, Sequence[Ranked]], Awaitable[Sequence[Ranked]]]
"""Tells what the model itself takes ranked tools, and the question, for: telling or changing something."""
INSISTED = 2
"""How often a model is told that a required result is missing."""


@fact()
class Hooks:
    """All hooks of one run."""

    before_model: Sequence[BeforeModel] = ()
    missing: Missing | None = None
    journal: Journal | None = None
    rank: Rank | None = None
    near: Near | None = None
    recall: Recall | None = None
    weigh: Weigh | None = None


def requires_tool(name: str) -> Missing:
    """Return the rule that a run may not end before a tool has given a result (the seed's exit tool, D6)."""

    def missing(outcomes: Sequence[Outcome]) -> str:
        called = any(one.ran and not one.failed and one.call.name == name for one in outcomes)
        return "" if called else f"Call {name} with your result before you end."

    return missing
