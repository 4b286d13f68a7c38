"""An observatory: telescopes, nights, objects of the sky, visitors' evenings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

TELESCOPES = {
    "T1": {"telescope": "T1", "name": "Big Bertha", "mirror_cm": 210, "dome": "north", "status": "in use"},
    "T2": {"telescope": "T2", "name": "Little Owl", "mirror_cm": 60, "dome": "east", "status": "under repair"},
}
NIGHTS = {
    "2026-12-05": {"night": "2026-12-05", "observer": "OB-3", "cloud_cover": 15, "first_target": "Vega"},
    "2026-12-06": {"night": "2026-12-06", "observer": "OB-9", "cloud_cover": 85, "first_target": "Rigel"},
}
OBSERVERS = {
    "OB-3": {"observer": "OB-3", "name": "Tariq Aziz", "phone": "5518", "home": "Granada"},
    "OB-9": {"observer": "OB-9", "name": "Elin Dahl", "phone": "5564", "home": "Bergen"},
}
STARS = {
    "vega": {"name": "Vega", "distance_ly": 25, "magnitude": 0.03, "rises_at": "16:48"},
    "rigel": {"name": "Rigel", "distance_ly": 863, "magnitude": 0.13, "rises_at": "19:22"},
}
TICKETS = {"adult": 14, "pupil": 5, "senior": 9.5}


def telescope_status(telescope: Annotated[str, Field(examples=["T0"])]) -> dict:
    """Name, mirror size, dome and status of one of the telescopes."""
    return TELESCOPES.get(telescope.upper()) or {"error": f"unknown telescope {telescope}"}


def night_plan(night: Annotated[str, Field(description="Date of the evening, YYYY-MM-DD")]) -> dict:
    """Who observes in a night, how cloudy it is, and what is looked at first."""
    return NIGHTS.get(night) or {"planned": False}


def observer(observer: Annotated[str, Field(examples=["OB-0"])]) -> dict:
    """Name, phone and home town of an observer."""
    return OBSERVERS.get(observer.upper()) or {"error": f"unknown observer {observer}"}


def star(name: str) -> dict:
    """Distance in light years, brightness and rising time of a star."""
    return STARS.get(name.casefold()) or {"found": False}


def visitor_ticket(group: Literal["adult", "pupil", "senior"]) -> dict:
    """Price of a visitors' evening."""
    return {"group": group, "price": TICKETS[group], "currency": "EUR"}


def close_dome(dome: Literal["north", "east"]) -> dict:
    """Close a dome's roof."""
    return {"closed": dome}


TOOLS = (telescope_status, night_plan, observer, star, visitor_ticket, close_dome)
