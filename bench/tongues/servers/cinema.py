"""A cinema: films, screenings, free seats, bookings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

FILMS = {
    "F-12": {
        "film_id": "F-12",
        "title": "The Quiet Harbour",
        "minutes": 104,
        "age_limit": 12,
        "director": "Ines Duarte",
    },
    "F-15": {"film_id": "F-15", "title": "Night Orchard", "minutes": 131, "age_limit": 16, "director": "Tomas Brandt"},
    "F-21": {"film_id": "F-21", "title": "Paper Whales", "minutes": 88, "age_limit": 0, "director": "Yuna Seo"},
}
SCREENINGS = {
    "S-401": {
        "screening_id": "S-401",
        "film_id": "F-12",
        "starts": "2026-12-04 18:30",
        "hall": 2,
        "seats": 120,
        "free": 17,
    },
    "S-402": {
        "screening_id": "S-402",
        "film_id": "F-15",
        "starts": "2026-12-04 21:00",
        "hall": 1,
        "seats": 200,
        "free": 63,
    },
    "S-410": {
        "screening_id": "S-410",
        "film_id": "F-21",
        "starts": "2026-12-05 15:15",
        "hall": 3,
        "seats": 80,
        "free": 5,
    },
}
BOOKINGS = {"B7731": {"code": "B7731", "screening_id": "S-402", "guest": "Petra Olsson", "places": ["C4", "C5"]}}


def find_film(title: Annotated[str, Field(description="Title, or part of it")]) -> dict:
    """Search the films that are on now by title. Gives their ids, length in minutes and age limit."""
    return {"films": [one for one in FILMS.values() if title.casefold() in one["title"].casefold()]}


def screenings_of_film(film_id: Annotated[str, Field(description="Film id such as F-99")]) -> dict:
    """When and where a film is shown: start, hall, seats still free."""
    return {"screenings": [one for one in SCREENINGS.values() if one["film_id"] == film_id]}


def screening(screening_id: Annotated[str, Field(description="Screening id such as S-999")]) -> dict:
    """One screening: film, start, hall, seats in all and seats still free."""
    return SCREENINGS.get(screening_id) or {"error": f"No screening {screening_id}."}


def booking(code: Annotated[str, Field(description="Booking code")]) -> dict:
    """Look up a booking by its code: guest, screening and places."""
    return BOOKINGS.get(code) or {"found": False}


def ticket_price(
    group: Annotated[str, Field(json_schema_extra={"enum": ["adult", "child", "student", "senior"]})],
) -> dict:
    """Price of one ticket in euros."""
    return {"group": group, "euros": {"adult": 11.5, "child": 6.0, "student": 8.5, "senior": 9.0}[group]}


def cancel_booking(code: Annotated[str, Field(description="Booking code")]) -> dict:
    """Cancel a booking and refund it. Cannot be undone."""
    return {"cancelled": code} if code in BOOKINGS else {"found": False}


TOOLS = (find_film, screenings_of_film, screening, booking, ticket_price, cancel_booking)
