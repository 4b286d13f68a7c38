"""Days and times as people write them in English and Korean, as ISO: `3 December`, `12월 3일`, `tomorrow`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<!\d)(?P<year>\d{4})[-./](?P<month>\d{1,2})[-./](?P<day>\d{1,2})(?!\d)",
        r"(?:(?P<year>\d{4})년\s*)?(?P<month>\d{1,2})월\s*(?P<day>\d{1,2})일",
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(?P<year>\d{{4}})\b)?",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>\d{{4}})\b)?",
    )
)
_NEAR = {
    "today": 0, "tomorrow": 1, "yesterday": -1, "오늘": 0, "내일": 1, "어제": -1, "모레": 2, "그제": -2,
    "day after tomorrow": 2,
}  # fmt: skip
_MONTH_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\d-])(?P<year>(?:19|20)\d\d)[-./](?P<month>0?[1-9]|1[0-2])(?![\d])",
        r"(?:(?P<year>\d{4})년\s*)?(?P<month>\d{1,2})월",
        rf"\b{_MONTH}(?:,?\s+(?P<year>\d{{4}})\b)?(?![a-z])",
    )
)
_MONTHS_AWAY = {
    "this month": 0, "last month": -1, "next month": 1, "이번 달": 0, "이번달": 0, "지난 달": -1, "지난달": -1,
    "다음 달": 1, "다음달": 1,
}  # fmt: skip
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
_HALF_DAY = re.compile(r"\b(1[0-2]|[1-9])(?::([0-5]\d))?\s*([ap])\.?m\b", re.IGNORECASE)
_KOREAN_CLOCK = re.compile(r"(오전|오후)?\s*(\d{1,2})시(?:\s*(\d{1,2})분|\s*(반))?")


def dates_in(text: str, today: date | None = None) -> list[str]:
    """Return the days that a text names as ISO dates; a day without a year is this year's."""
    this = today or datetime.now().astimezone().date()
    found = [*_written(text, this)]
    lowered = text.lower()
    for word, days in _NEAR.items():
        pattern = rf"\b{word}\b" if word.isascii() else word
        if re.search(pattern, lowered):
            found.append((this + timedelta(days)).isoformat())
    return list(dict.fromkeys(found))


def months_in(text: str, today: date | None = None) -> list[str]:
    """Return the months that a text names as YYYY-MM; a month without a year is this year's."""
    this = today or datetime.now().astimezone().date()
    found = []
    for form in _MONTH_FORMS:
        for match in form.finditer(text):
            month = match["month"].lower()
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
            if 1 <= number <= len(_MONTHS):
                found.append(f"{int(match['year'] or this.year):04}-{number:02}")
    for said, away in _MONTHS_AWAY.items():
        if said in text.lower():
            months = this.year * 12 + this.month - 1 + away
            found.append(f"{months // 12:04}-{months % 12 + 1:02}")
    return list(dict.fromkeys(found))


def _written(text: str, today: date) -> Iterator[str]:
    for form in _FORMS:
        for match in form.finditer(text):
            said = match.groupdict()
            month = said["month"].lower()
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
            try:
                yield date(int(said["year"] or today.year), number, int(said["day"])).isoformat()
            except ValueError:
                continue


def times_in(text: str) -> list[str]:
    """Return the times of day that a text names, as HH:MM."""
    found = [f"{int(hour):02}:{minute}" for hour, minute in _CLOCK.findall(text)]
    for hour, minute, half in _HALF_DAY.findall(text):
        found.append(f"{int(hour) % 12 + (12 if half.lower() == 'p' else 0):02}:{minute or '00'}")
    for half, hour, minute, exactly_half in _KOREAN_CLOCK.findall(text):
        number = int(hour) % 12 + 12 if half == "오후" else int(hour)
        if number < 24 and int(minute or 0) < 60:
            found.append(f"{number:02}:{30 if exactly_half else int(minute or 0):02}")
    return list(dict.fromkeys(found))
