"""Whether an answer tells what a result says."""

from __future__ import annotations

import json

import pytest

from naru.agent.execute import Outcome
from naru.agent.reading import incomplete
from naru.messages import ToolCall, ToolResult


def outcome(value: object, **arguments: object) -> Outcome:
    text = json.dumps(value, ensure_ascii=False)
    return Outcome(ToolCall("1", "look", arguments), ToolResult.of_text(text), text)


LOAN = [{"loan": "L-7", "book": "Night Ferry", "due": "2026-12-11"}]
SHIP = {"ship": "F12", "status": "delayed 40 minutes", "pier": 3}


@pytest.mark.parametrize(
    ("question", "answer", "value", "leaves_out"),
    [
        ("What has card M-1 borrowed?", "M-1 has borrowed L-7.", LOAN, True),
        ("What has card M-1 borrowed?", "M-1 has borrowed Night Ferry.", LOAN, False),
        ("What is the id of the loan of card M-1?", "It is L-7.", LOAN, False),
        ("Is F12 on time?", "Yes, F12 is on time.", SHIP, True),
        ("Is F12 on time?", "No, it is delayed 40 minutes.", SHIP, False),
        ("Has it been paid?", "No, it has not.", {"bill": "B-1", "paid": False}, False),
    ],
)
def test_an_answer_that_only_points_or_agrees_leaves_out_what_was_found(
    question: str, answer: str, value: object, leaves_out: bool
) -> None:
    assert incomplete(question, answer, [outcome(value, of="M-1")]) is leaves_out


def test_a_yes_to_a_count_is_no_answer() -> None:
    line = ToolResult.of_text("Lamps in stock: 0")
    one = Outcome(ToolCall("1", "stock", {}), line, line.text)
    assert incomplete("Are lamps in stock?", "Yes, they are.", [one])
    assert not incomplete("Are lamps in stock?", "No, there are 0.", [one])
