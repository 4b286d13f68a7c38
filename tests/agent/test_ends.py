"""Of two values, the start and the end."""

from __future__ import annotations

import pytest

from naru.agent.ends import end_of, is_end, starts_first


@pytest.mark.parametrize(
    ("question", "values", "first"),
    [
        ("trains from Rome to Bari", ["Rome", "Bari"], "Rome"),
        ("trains to Bari from Rome", ["Bari", "Rome"], "Rome"),
        ("부산에서 서울로 가는 기차", ["부산", "서울"], "부산"),
        ("서울까지 부산에서 얼마나 걸려?", ["서울", "부산"], "부산"),
        ("How many EUR are 30 USD?", ["EUR", "USD"], "USD"),
        ("Rome, Bari", ["Rome", "Bari"], "Rome"),
    ],
)
def test_the_start_is_what_the_question_says_or_what_has_a_number(question: str, values: list[str], first: str) -> None:
    assert starts_first(values, question)[0] == first


@pytest.mark.parametrize("name", ["origin", "from_currency", "departureAirport", "source"])
def test_a_start_by_its_name_takes_the_first(name: str) -> None:
    assert end_of(name, ["A", "B"]) == ["A"]


@pytest.mark.parametrize("name", ["destination", "to_unit", "arrival", "target"])
def test_an_end_by_its_name_takes_the_second(name: str) -> None:
    assert end_of(name, ["A", "B"]) == ["B"]


def test_other_parameters_may_mean_either() -> None:
    assert not is_end("city")
    assert end_of("city", ["A", "B"]) == ["A", "B"]
    assert end_of("origin", ["A"]) == ["A"]
