"""A recruiting office: vacancies, applicants, interviews; and what the weather does outside."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

VACANCIES = {
    301: {
        "vacancy": 301,
        "title": "welder",
        "city": "Gdansk",
        "salary_eur": 3900,
        "open_until": "2026-12-20",
        "remote": False,
    },
    305: {
        "vacancy": 305,
        "title": "data analyst",
        "city": "Lisbon",
        "salary_eur": 4600,
        "open_until": "2027-01-10",
        "remote": True,
    },
    309: {
        "vacancy": 309,
        "title": "nurse",
        "city": "Lisbon",
        "salary_eur": 3700,
        "open_until": "2026-12-05",
        "remote": False,
    },
}
APPLICANTS = {
    "APP-88": {"applicant": "APP-88", "name": "Noor Haddad", "vacancy": 305, "stage": "interview", "score": 87},
    "APP-91": {"applicant": "APP-91", "name": "Felix Braun", "vacancy": 301, "stage": "rejected", "score": 42},
}
INTERVIEWS = {"APP-88": {"applicant": "APP-88", "at": "2026-12-03 14:00", "room": "Oslo", "with": "Greta Holm"}}
WEATHER = {"Lisbon": (16, "light rain"), "Gdansk": (-2, "snow"), "Oslo": (1, "heavy rain"), "Madrid": (12, "sunny")}


def vacancy(vacancy: int) -> dict:
    """One vacancy: title, city, monthly salary in euros, last day to apply, remote or not."""
    return VACANCIES.get(vacancy) or {"error": f"Vacancy {vacancy} does not exist."}


def search_vacancies(city: str | None = None, remote: bool | None = None) -> list[dict]:
    """Search open vacancies by city, or those that can be done from home."""
    return [
        {"vacancy": one["vacancy"], "title": one["title"], "city": one["city"]}
        for one in VACANCIES.values()
        if city in (None, one["city"]) and remote in (None, one["remote"])
    ]


def applicant(applicant_id: Annotated[str, Field(description="APP- and a number")]) -> dict:
    """An applicant's name, vacancy, stage and test score."""
    return APPLICANTS.get(applicant_id) or {"found": False}


def find_applicant(name: str) -> dict:
    """Find applicants by name; gives their ids."""
    found = [
        {"applicant_id": key, "name": one["name"]}
        for key, one in APPLICANTS.items()
        if name.casefold() in one["name"].casefold()
    ]
    return {"items": found, "total": len(found)}


def interview(applicant_id: Annotated[str, Field(description="APP- and a number")]) -> dict:
    """When, where and with whom an applicant's interview is."""
    return INTERVIEWS.get(applicant_id) or {"found": False}


def weather(city: str, day: Literal["today", "tomorrow"] = "today") -> dict:
    """Weather in a city: temperature in degrees Celsius and sky."""
    known = WEATHER.get(city)
    return {"city": city, "celsius": known[0], "sky": known[1]} if known else {"error": f"No station in {city}."}


def reject_applicant(applicant_id: Annotated[str, Field(description="APP- and a number")]) -> dict:
    """Turn an applicant down and send the letter."""
    return {"rejected": applicant_id}


TOOLS = (vacancy, search_vacancies, applicant, find_applicant, interview, weather, reject_applicant)
