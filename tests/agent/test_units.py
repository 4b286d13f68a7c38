"""Units by name, in a tool's own spelling."""

from __future__ import annotations

import pytest

from naru.agent.units import spelt_as, units_among, units_in


@pytest.mark.parametrize(
    ("question", "symbols"),
    [
        ("How many feet are 100 meters?", ["m", "ft"]),
        ("3마일은 몇 킬로미터야?", ["mi", "km"]),
        ("Convert 5 kg to lb.", ["kg", "lb"]),
        ("How many m are in 3 km?", ["km", "m"]),
        ("몇 톤인가요?", ["t"]),
        ("Is it in the m box of the C wing?", []),
        ("피트니스 프로그램 알려줘", []),
    ],
)
def test_units_are_named_the_counted_one_first(question: str, symbols: list[str]) -> None:
    assert [spellings[0] for _, spellings in units_in(question)] == symbols


def test_a_unit_is_spelt_as_the_tool_does() -> None:
    (_, metres), (_, feet) = units_in("How many feet are 100 meters?")
    said = "Convert a length. Units: mm, m, foot, mile."
    assert (spelt_as(metres, said), spelt_as(feet, said)) == ("m", "foot")
    assert spelt_as(feet, "any unit") == "ft"


def test_the_units_of_an_enum_are_meant_in_any_spelling() -> None:
    assert units_among(["celsius", "fahrenheit"], "서울의 기온을 화씨로") == ["fahrenheit"]
