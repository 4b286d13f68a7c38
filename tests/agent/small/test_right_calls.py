"""Issue 14: what a model wrote rightly runs as written, and its right answer is never exchanged.

`tests/cases/right_calls.jsonl`: own questions over own tools, each with its right call, what the tool gave, and a right
answer: negations, numbers in words, derived and converted values, yes and no, follow-ups, nothing found.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.tongues.law import breaches
from tests.agent.small.conftest import Kept, calls

from naru.agent.closeness import Closeness
from naru.agent.hooks import Hooks, Rank
from naru.agent.loop import run
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.messages import ChatRequest, JsonObject, Message
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.replaying import RecordedTools

HERE = Path(__file__).parents[2] / "cases"
TOOLS = json.loads((HERE / "right_calls_tools.json").read_text(encoding="utf-8"))
CASES = [json.loads(line) for line in (HERE / "right_calls.jsonl").read_text(encoding="utf-8").splitlines()]


async def played(case: JsonObject, rank: Rank | None = None) -> JsonObject:
    """Let a small model write the case's call and then its answer; return the run's record."""
    given = {"name": case["call"], "arguments": case["arguments"]}
    roles = ("user", "assistant")
    turns = [Message(roles[at % 2], text) for at, text in enumerate(case["say"])]
    script = [json.dumps(given, ensure_ascii=False), case["answer"]]
    backend = ScriptedBackend(script, profile=Profile(small=True, guided="grammar"), repeat_last=True)
    known = {**given, "ran": True, "text": case["result"], "is_error": False}
    toolset = RecordedTools({"tools": TOOLS[case["domain"]], "rounds": [{"calls": [known]}]})
    kept = Kept()
    async for _ in run(backend, toolset, ChatRequest("scripted", tuple(turns)), hooks=Hooks(journal=kept, rank=rank)):
        pass
    return kept.run


def assert_as_written(case: JsonObject, record: JsonObject) -> None:
    assert calls(record) == [(case["call"], case["arguments"])], record["rounds"][0]["calls"]
    assert record["answer"] == case["answer"]
    assert breaches(record) == []


def test_there_are_sixty_of_them_in_many_languages_and_domains() -> None:
    assert len(CASES) >= 60
    assert len({case["language"] for case in CASES}) >= 10
    assert {case["domain"] for case in CASES} == TOOLS.keys()


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_issue_14_a_right_call_and_a_right_answer_stay_as_they_are(case: JsonObject) -> None:
    assert_as_written(case, await played(case))


@pytest.mark.slow
async def test_they_stay_so_where_the_encoder_measures_how_near_a_tool_is(encoder: SentenceEncoder) -> None:
    rank = Closeness(encoder.embed).rank
    for case in CASES:
        assert_as_written(case, await played(case, rank))
