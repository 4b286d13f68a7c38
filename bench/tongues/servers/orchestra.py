"""An orchestra: concerts, musicians, pieces, rehearsals, instruments for hire."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

CONCERTS = {
    "C-71": {"concert": "C-71", "day": "2026-12-12", "hall": "Amber Hall", "conductor": "Nadia Orlov", "left": 148},
    "C-74": {"concert": "C-74", "day": "2027-01-09", "hall": "St Olaf", "conductor": "Hugo Prins", "left": 0},
}
MUSICIANS = {
    "MU-08": {"musician": "MU-08", "name": "Ingrid Moe", "instrument": "bassoon", "since": 2014},
    "MU-23": {"musician": "MU-23", "name": "Paolo Greco", "instrument": "harp", "since": 2021},
}
PIECES = {
    "aurora": {"title": "Aurora", "composer": "Lise Dahlgren", "minutes": 46, "players": 82},
    "three rivers": {"title": "Three Rivers", "composer": "Tomas Varga", "minutes": 19, "players": 35},
}
REHEARSALS = {"tuesday": ("10:00", "Studio 2"), "thursday": ("17:45", "Amber Hall")}
FEES = {"violin": 24, "cello": 37.5, "trumpet": 29}


def concert(concert: Annotated[str, Field(examples=["C-01"])]) -> dict:
    """Day, hall, conductor and tickets left of a concert."""
    return CONCERTS.get(concert.upper()) or {"error": f"There is no concert {concert}."}


def concerts_in(month: Annotated[str, Field(description="YYYY-MM")]) -> list[dict]:
    """Concerts of a month."""
    return [{"concert": one["concert"], "day": one["day"]} for one in CONCERTS.values() if one["day"][:7] == month]


def find_musician(name: str) -> dict:
    """Look up a musician's number by name."""
    found = [one["musician"] for one in MUSICIANS.values() if name.casefold() in str(one["name"]).casefold()]
    return {"musicians": found, "total": len(found)}


def musician(musician: Annotated[str, Field(examples=["MU-01"])]) -> dict:
    """Name, instrument and year of joining of a musician."""
    return MUSICIANS.get(musician.upper()) or {"error": f"There is no musician {musician}."}


def piece(title: str) -> dict:
    """Composer, length and number of players of a piece of music."""
    return PIECES.get(title.casefold()) or {"found": False}


def rehearsal(day: Literal["monday", "tuesday", "wednesday", "thursday", "friday"]) -> dict:
    """When and where the orchestra rehearses on a day of the week."""
    at, place = REHEARSALS.get(day, (None, None))
    return {"day": day, "starts_at": at, "place": place}


def hire_fee(instrument: Literal["violin", "cello", "trumpet"]) -> dict:
    """What an instrument costs for a month."""
    return {"instrument": instrument, "per_month": FEES[instrument], "currency": "EUR"}


def cancel_concert(concert: str) -> dict:
    """Cancel a concert."""
    return {"cancelled": concert}


TOOLS = (concert, concerts_in, find_musician, musician, piece, rehearsal, hire_fee, cancel_concert)
