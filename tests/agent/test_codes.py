"""Countries and currencies in words."""

from __future__ import annotations

import pytest

from naru.agent.codes import COUNTRIES, CURRENCIES, english_country, named


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("100달러는 몇 원이야?", ["USD", "KRW"]),
        ("How many won are 30 euros?", ["EUR", "KRW"]),
        ("Convert 50 USD to CHF.", ["USD", "CHF"]),
        ("Convert 3 Canadian dollars to pounds", ["CAD", "GBP"]),
        ("직원은 몇 명이야?", []),
    ],
)
def test_currencies_are_named_the_counted_one_first(question: str, codes: list[str]) -> None:
    assert named(question, CURRENCIES) == codes


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("일본의 다음 공휴일은?", ["JP"]),
        ("The next holiday in South Korea or the UK", ["KR", "GB"]),
        ("Tell us more about it", []),
    ],
)
def test_countries_are_known_by_their_names(question: str, codes: list[str]) -> None:
    assert named(question, COUNTRIES) == codes


def test_a_code_has_an_english_name() -> None:
    assert english_country("JP") == "Japan"
