"""canitoolcall's 469 recorded replies of nine model families, judged by its own checks (N2)."""

import json

import pytest
from canitoolcall.adapters.base import ReplayInput
from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import load_families, load_fixtures
from canitoolcall.results import Observation, ParsedToolCall, ParseResult

from naru.dialects import tools_from_openai
from tests.dialects.reading import pieces, stream, summed

FAMILIES = load_families()
FIXTURES = load_fixtures()
SOFT = {"gemma4/vllm-text-before-call"}
"""Two fixtures want opposite things of the white space before Gemma 4's calls; the other one is met."""


def result(text, deltas, raw):
    reason = "length" if raw.truncated else "stop"
    events, parsed = stream(deltas, tools_from_openai(raw.tools), reason, generation_prompt=raw.prompt)
    content, reasoning, _ = summed(events)
    calls = tuple(ParsedToolCall(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in parsed.calls)
    return ParseResult(content=content or None, reasoning_content=reasoning or None, tool_calls=calls)


class Raw:
    def __init__(self, fixture):
        replay = ReplayInput.from_fixture(fixture, FAMILIES.get(fixture.family))
        self.tools, self.prompt, self.truncated = fixture.tools, replay.generation_prompt, replay.truncated


def judge(fixture, sizes):
    raw, text = Raw(fixture), fixture.raw_output
    whole = result(text, [text], raw)
    streams = {f"rand:{size}:1": result(text, pieces(text, size), raw) for size in sizes}
    rows = run_checks(fixture, FAMILIES.get(fixture.family), Observation(nonstream=whole, streams=streams))
    return case_status(rows).value, [row for row in rows if row.status.value != "pass"]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_family_conforms_whole_and_in_pieces(family):
    short = [fixture for fixture in FIXTURES if fixture.family == family and len(fixture.raw_output) < 1000]
    for fixture in short:
        status, rows = judge(fixture, (1, 3))
        assert status == ("soft_pass" if fixture.id in SOFT else "pass"), (fixture.id, rows)


@pytest.mark.slow
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
def test_a_recorded_reply_conforms_in_pieces_of_every_size(fixture):
    status, rows = judge(fixture, range(1, 8))
    assert status == ("soft_pass" if fixture.id in SOFT else "pass"), rows
