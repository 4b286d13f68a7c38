"""Issue 14: `{"found": false}`, no items, `{"error": …}` are nothing that was found; a lone 0 is something."""

from __future__ import annotations

import pytest

from naru.agent.execute import Outcome
from naru.agent.small.checking import invented, is_no_answer
from naru.agent.small.reading import is_nothing, told
from naru.agent.small.sources import Sources
from naru.messages import ToolCall, ToolResult


def outcome(text: str, *, is_error: bool = False, **arguments: object) -> Outcome:
    return Outcome(ToolCall("1", "shop__look_up", arguments), ToolResult.of_text(text, is_error=is_error), text)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '{"found": false}', '{"items": [], "total": 0}', '{"error": "No such order."}',
     '{"result": []}', '{"district": "Riverside", "outage": null}'],
)  # fmt: skip
def test_nothing_was_found(text: str) -> None:
    assert is_nothing(outcome(text, district="Riverside"))


@pytest.mark.parametrize(
    "text",
    ['{"places_left": 0}', '{"cancelled": "B7731"}', '[{"id": 1}]', "No rain.", '{"open": false, "until": "9:00"}'],
)
def test_something_was_found(text: str) -> None:
    assert not is_nothing(outcome(text, code="B7731"))


def test_a_failed_call_found_nothing() -> None:
    assert is_nothing(outcome("Order 7: 3 lamps", is_error=True))


def test_results_are_told_as_lines_under_their_call() -> None:
    assert told(outcome('{"eta": "2026-12-03", "paid": true}', order="7")) == (
        "look_up(order=7):\neta: 2026-12-03\npaid: yes"
    )


@pytest.mark.parametrize("text", ["", "…", '{"name": "look_up", "arguments": {}}', "[]", "Who is it?", "ha " * 40])
def test_these_are_no_answers(text: str) -> None:
    assert is_no_answer(text, "Who is it?")


def test_values_that_no_source_holds_are_found_in_an_answer() -> None:
    sources = Sources("How long is Night Orchard?")
    sources.add_result('{"minutes": 131, "film_id": "F-15"}')
    assert invented("Night Orchard (F-15) takes 131 minutes.", sources) == []
    assert invented("It takes 142 minutes, film F-99.", sources) == ["142", "F-99"]


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("It has done 84,210 miles.", '{"miles": 84210}'),
        ("Es waren 1.312,4 kWh.", '{"kwh":1312.4}'),
        ("Cela fait 1 312,40 kWh.", '{"kwh":1312.4}'),
        ("Cuesta 24,90 €.", '{"euros":24.9}'),
        ("가격은 1,250,000원입니다.", '{"price":1250000}'),
        ("Free at 12 and 15.", '{"hours":[8,12,15]}'),
        ("In 31 240 euros.", "240 for room 31"),
        ("Om 9.30 of 14.15 uur.", '["09:30", "14:15"]'),
    ],
)
def test_a_number_is_of_a_source_in_whichever_way_either_is_written(answer: str, result: str) -> None:
    sources = Sources("And now?")
    sources.add_result(result)
    assert invented(answer, sources) == []


def test_another_number_is_of_no_source_however_it_is_written() -> None:
    sources = Sources("And now?")
    sources.add_result('{"kwh": 1312.4, "hours": [8, 12]}')
    assert invented("1.312,5 kWh, 13,124 or 1 313.", sources) == ["1.312,5", "1 313"]


def test_an_answer_may_say_what_its_call_took_also_where_that_found_nothing() -> None:
    sources = Sources("Is there a table for two at half past seven tonight?")
    sources.add_result("[]", [2, "2026-11-29T19:30"], found=False)
    assert invented("There is no table for 2 at 19:30.", sources, shortest=1) == []
    assert sources.used == set()


def test_nothing_found_is_zero_of_it() -> None:
    assert invented("0 of them.", Sources("How many are late?"), shortest=1) == []


def test_a_table_with_long_rules_is_an_answer() -> None:
    assert not is_no_answer("| a | b |\n|" + "-" * 30 + "|" + "-" * 30 + "|\n| 1 | 2 |", "Both, as a table?")
