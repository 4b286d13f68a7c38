"""Issue 14: what a tool that says nothing of itself does is told by meaning; a doubt counts against changing alone.

278 tools in eight languages, terse ones, such that are named by nouns and a programmer's docstrings among them
(`tests/cases`). With one order and one question as poles 26 of the 156 that read passed for changing, now 16, and 11
of the 122 others for reading, now 2; the area under the curve was .82.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from bench.tongues.servers import bikes, jobs

from naru.agent.closeness import Closeness
from naru.agent.selection import MAY_CHANGE, READS, Ranked
from naru.agent.small.offering import Offering
from naru.agent.small.sources import Sources
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.messages import ToolDefinition
from naru.tools.functions.toolset import FunctionToolset

CASES = Path(__file__).parents[1] / "cases" / "tools_that_change.jsonl"
pytestmark = pytest.mark.slow


Ranking = Callable[..., Awaitable[Sequence[Ranked]]]


@pytest.fixture(scope="module")
def ranked(encoder: SentenceEncoder) -> Ranking:
    closeness = Closeness(encoder.embed)
    return lambda tools, question="When does it start?": closeness.rank(tools, [question])


async def test_issue_14_tools_that_change_something_are_told_from_those_that_read(ranked: Ranking) -> None:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    tools = [ToolDefinition(f"{row['server']}__{row['name']}", row["description"]) for row in rows]
    ordered = {one.tool.name: one.ordered for one in await ranked(tools)}
    changing = [ordered[tool.name] for tool, row in zip(tools, rows, strict=True) if row["changes"]]
    reading = [ordered[tool.name] for tool, row in zip(tools, rows, strict=True) if not row["changes"]]
    pairs = [(one, other) for one in changing for other in reading]
    area = sum(one > other for one, other in pairs) / len(pairs)
    print(f"of {len(tools)} tools: area {area:.3f}")
    assert area > 0.88
    assert sum(one <= READS for one in changing) <= 3, "what changes something passes for reading"
    assert sum(one > MAY_CHANGE for one in changing) > 0.55 * len(changing)
    assert sum(one > MAY_CHANGE for one in reading) < 0.12 * len(reading)
    assert sum(one <= READS for one in reading) > 0.6 * len(reading)


@pytest.mark.parametrize(
    ("tools", "name", "question"),
    [
        (bikes.TOOLS, "bike", "BK-207은 지금 어디에 있어?"),
        (bikes.TOOLS, "last_repair", "Wer hat BK-207 zuletzt repariert?"),
        (jobs.TOOLS, "vacancy", "¿Cuál es el salario de la vacante 999?"),
    ],
    ids=["bike", "last_repair", "vacancy"],
)
async def test_issue_14_a_thing_that_is_only_looked_up_may_be_asked_for(
    ranked: Ranking, tools, name: str, question: str
) -> None:
    near = await ranked(await FunctionToolset(tools).tools(), question)
    offering = Offering(near, Sources(question))
    assert name not in offering.changing
    assert offering.may_be_forced(next(one.tool for one in near if one.tool.name == name))
    assert "reject_applicant" not in {one.tool.name for one in near} - offering.changing


async def test_an_annotation_stands_before_the_guess(ranked: Ranking) -> None:
    tools = [
        ToolDefinition("bill", "Bill of a guest.", annotations={"readOnlyHint": False}),
        ToolDefinition("send_mail", "Send a mail.", annotations={"readOnlyHint": True}),
    ]
    assert Offering(await ranked(tools), Sources("Who owes what?")).changing == {"bill"}
