"""An answer must hold the value that the question asks for, when a result has it under that name."""

from __future__ import annotations

import pytest

from naru.agent.asked import asked_lines, asked_values, asks_behind, holds_asked, is_reference
from naru.agent.execute import Outcome
from naru.messages import ToolCall, ToolResult

RECORD = '{"id": "PT-1", "name": "Ana", "blood_type": "O+", "ward": "West", "admitted": "2026-05-02", "doctor": "DR-9"}'


def found(text: str = RECORD) -> list[Outcome]:
    return [Outcome(ToolCall("1", "get", {}), ToolResult.of_text(text), text)]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which ward is PT-1 in?", ["West"]),
        ("환자 PT-1은 어느 병동에 있나요?", ["West"]),
        ("What is the blood type of PT-1?", ["O+"]),
        ("Tell me about PT-1", []),
    ],
)
def test_the_key_that_the_question_names_tells_the_value(question: str, values: list[str]) -> None:
    assert [value for _, value in asked_values(question, found())] == values


def test_of_many_rows_none_is_the_one_that_is_asked_for() -> None:
    assert asked_values("Which ward?", found(f"[{RECORD}, {RECORD}]")) == []


@pytest.mark.parametrize(
    ("answer", "value", "holds"),
    [
        ("She is in the west ward.", "West", True),
        ("She is in Ana.", "West", False),
        ("2026년 5월 2일", "2026-05-02", True),
    ],
)
def test_an_answer_holds_a_value_in_any_writing(answer: str, value: str, holds: bool) -> None:
    assert holds_asked(answer, [("x", value)]) is holds


def test_an_id_is_told_from_a_measure() -> None:
    assert [is_reference(one) for one in ("DR-9", "SU2", "West", "12", "500 mg")] == [True, True, False, False, False]


def test_what_stands_behind_an_id_is_asked_for_once_it_was_looked_up() -> None:
    supplier = Outcome(ToolCall("2", "get", {"id": "DR-9"}), ToolResult.of_text('{"id": "DR-9", "name": "Ito"}'), "")
    assert asked_values("Who is the doctor of PT-1?", [*found(), supplier]) == [("doctor", "Ito")]
    assert asked_values("What is the id of the doctor of PT-1?", [*found(), supplier]) == [("doctor", "DR-9")]


def test_of_two_records_each_line_says_whose_it_is() -> None:
    def weather(city: str, degrees: int) -> Outcome:
        text = f'{{"temperature": {degrees}}}'
        return Outcome(ToolCall(city, "weather", {"city": city}), ToolResult.of_text(text), text)

    lines = asked_lines("서울과 부산의 기온은?", [weather("서울", -2), weather("부산", 6)])
    assert lines == "서울: temperature: -2\n부산: temperature: 6"


def test_of_two_records_an_answer_must_hold_both_values() -> None:
    both = [("status", "open"), ("status", "closed")]
    assert holds_asked("One is open, the other closed.", both)
    assert not holds_asked("They are both closed.", both)


def test_of_two_things_asked_of_one_record_an_answer_must_hold_both() -> None:
    question = "What are the ward and the doctor of PT-1?"
    asked = asked_values(question, found())
    assert holds_asked("Ward West, doctor DR-9.", asked, question)
    assert not holds_asked("Ward West.", asked, question)


FLIGHT = '{"flight": "TP4", "from": "CDG", "departure": "18:20", "price": 140, "aircraft": "A320", "currency": "EUR"}'


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("When does the flight leave?", ["18:20"]),
        ("How much is the flight?", ["140"]),
        ("How much money is it?", ["140"]),
        ("Which flight is it?", ["TP4"]),
    ],
)
def test_when_and_how_much_are_answered_by_a_moment_and_a_number(question: str, values: list[str]) -> None:
    assert [value for _, value in asked_values(question, found(FLIGHT))] == values


def test_a_name_that_is_asked_for_is_the_records_own() -> None:
    album = '{"id": 22, "title": "Feather", "label": "Wren", "artist_id": 2}'
    assert asked_values("앨범 이름은 뭐야?", found(album)) == [("title", "Feather")]


def test_the_name_of_what_a_record_points_to_is_not_the_records_own() -> None:
    show = '{"show_id": "s2", "title": "Night", "host_id": "h8"}'
    assert asked_values("What is the name of the host of show s2?", found(show)) == []
    assert asks_behind("What is the name of the host of show s2?", found(show))
