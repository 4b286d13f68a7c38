"""A gliding club's airfield, with camelCase names and records inside of records."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

GLIDERS = {
    "D-4410": {
        "registration": "D-4410",
        "type": "ASK 21",
        "seats": 2,
        "hangar": "B",
        "inspection": {"due": "2027-03-15", "by": "Otto Wirth"},
    },
    "D-7725": {
        "registration": "D-7725",
        "type": "LS4",
        "seats": 1,
        "hangar": "A",
        "inspection": {"due": "2026-12-20", "by": "Ines Kolb"},
    },
}
PILOTS = {"lea brandt": ("P31", "Lea Brandt"), "deniz acar": ("P44", "Deniz Acar")}
LICENCES = {
    "P31": {"pilotId": "P31", "hours": 312, "medicalUntil": "2027-05-01", "mayInstruct": True},
    "P44": {"pilotId": "P44", "hours": 41, "medicalUntil": "2026-12-31", "mayInstruct": False},
}
FLIGHTS = [
    {"flightNo": 1, "glider": "D-4410", "pilot": "Lea Brandt", "takeOff": "10:12", "minutes": 24, "launch": "winch"},
    {
        "flightNo": 2,
        "glider": "D-7725",
        "pilot": "Deniz Acar",
        "takeOff": "11:40",
        "minutes": 187,
        "launch": "tow plane",
    },
    {"flightNo": 3, "glider": "D-4410", "pilot": "Lea Brandt", "takeOff": "14:05", "minutes": 9, "launch": "winch"},
]
FEES = {"winch": 8.5, "tow plane": 42}


def gliderInfo(registration: Annotated[str, Field(pattern=r"^D-\d{4}$")]) -> dict:
    """Type, seats, hangar and next inspection of a glider."""
    found = GLIDERS.get(registration.upper())
    return {"glider": found} if found else {"glider": None, "message": "no such registration"}


def findPilot(name: str) -> dict:
    """The number of a pilot of the club."""
    found = PILOTS.get(name.casefold())
    return {"pilotId": found[0], "name": found[1]} if found else {"pilotId": None}


def pilotLicence(pilotId: str) -> dict:
    """Flying hours, medical certificate and right to instruct of a pilot."""
    return LICENCES.get(pilotId.upper()) or {"error": {"code": "NOT_FOUND", "pilotId": pilotId}}


def flightsToday() -> dict:
    """Log of today's flights: glider, pilot, take-off, duration, kind of launch."""
    return {"date": "2026-11-29", "flights": FLIGHTS}


def launchFee(launch: Annotated[str, Field(description="Kind of launch: winch or tow plane")]) -> dict:
    """What a launch costs."""
    return (
        {"launch": launch, "fee": FEES[launch.casefold()], "currency": "EUR"}
        if launch.casefold() in FEES
        else {"fee": None}
    )


def windNow() -> dict:
    """Wind and visibility at the field."""
    return {"direction": "west", "knots": 13, "gusts": 21, "visibilityKm": 35}


def reserveGlider(registration: str, day: str) -> dict:
    """Book a glider for a day."""
    return {"reserved": registration, "day": day}


TOOLS = (gliderInfo, findPilot, pilotLicence, flightsToday, launchFee, windNow, reserveGlider)
