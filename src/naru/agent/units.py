"""Units of measure by the names that people give them, in the spelling that a tool uses (SI and customary units)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

_ROWS = """
length: mm millimeter millimeters millimetre millimetres 밀리미터
length: cm centimeter centimeters centimetre centimetres 센티미터 센티
length: m meter meters metre metres 미터 | km kilometer kilometers kilometre kilometres 킬로미터
length: in inch inches 인치 | ft foot feet 피트 | yd yard yards 야드 | mi mile miles 마일
mass: mg milligram milligrams 밀리그램 | g gram grams 그램 | kg kilogram kilograms kilo kilos 킬로그램 킬로
mass: t ton tons tonne tonnes 톤 | lb lbs pound pounds 파운드 | oz ounce ounces 온스
volume: ml milliliter milliliters millilitre millilitres 밀리리터 | l liter liters litre litres 리터
volume: gal gallon gallons 갤런 | cup cups 컵
temperature: C celsius 섭씨 | F fahrenheit 화씨 | K kelvin 켈빈
speed: km/h kmh kph | mph | knot knots kn
"""


def _read() -> list[tuple[str, tuple[str, ...]]]:
    rows = []
    for line in _ROWS.strip().splitlines():
        quantity, _, units = line.partition(": ")
        rows += [(quantity, tuple(unit.split())) for unit in units.split("|")]
    return rows


_UNITS = _read()
_SYMBOL = 2
"""Letters up to which a Latin spelling is a symbol, which counts only after a number or as a word by itself."""


def units_in(question: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the units that a question names, each with its quantity and all spellings: what has a number first."""
    found: list[tuple[bool, int, str, tuple[str, ...]]] = []
    for quantity, spellings in _UNITS:
        for spelling in spellings:
            if place := re.search(_pattern(spelling), question):
                is_counted = re.search(r"\d\s?$", question[: place.start()]) is not None
                found.append((not is_counted, place.start(), quantity, spellings))
                break
    return [(quantity, spellings) for _, _, quantity, spellings in sorted(found)]


def is_counted(question: str) -> bool:
    """Tell whether the first unit that a question names has a number: it is what is converted, not into what."""
    first = [spelling for _, spellings in units_in(question)[:1] for spelling in spellings]
    return any(re.search(rf"\d\s?(?i:{re.escape(one)})(?![A-Za-z])", question) for one in first)


def units_among(values: Sequence[Any], question: str) -> list[Any]:
    """Return those of an enum's values that are units which a question names, in any spelling."""
    lowered = {str(value).lower(): value for value in values}
    found = [next((one for one in spellings if one.lower() in lowered), "") for _, spellings in units_in(question)]
    return [lowered[one.lower()] for one in found if one]


def _pattern(spelling: str) -> str:
    if not spelling.isascii():
        before = r"(?<![가-힣])" if len(spelling) > 1 else r"(?<=[\d몇])\s?"
        return rf"{before}{spelling}(?=$|[^가-힣]|[은는이가을를로의에인입짜야예요쯤당나까와과랑하])"
    if len(spelling) <= _SYMBOL:
        korean = rf"몇 ?{spelling}(?![A-Za-z])|(?<![A-Za-z]){spelling}(?:로|으로)(?![가-힣])"
        alone = rf"{korean}|\b(?:in|to|into|many) {spelling}\b(?=[?.]|$| are)"
        return rf"(?<=\d){spelling}(?![A-Za-z가-힣])|(?<=\d ){spelling}(?![A-Za-z])|{alone}"
    return rf"(?i:(?<![A-Za-z]){re.escape(spelling)}(?![A-Za-z]))"


def spelt_as(spellings: Iterable[str], said: str) -> str:
    """Return the spelling that a tool speaks of, else the symbol."""
    words = set(re.findall(r"[A-Za-z/]+", said))
    known = [one for one in spellings if one in words]
    return known[0] if known else next(iter(spellings))
