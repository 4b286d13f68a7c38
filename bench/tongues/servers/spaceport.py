"""A spaceport: launches, rockets, pads, payloads; described as servers in the wild describe themselves."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

LAUNCHES = {
    "L-301": {"launch_id": "L-301", "rocket": "Heron 5", "pad": "P3", "at": "2026-12-18T06:40Z", "status": "go"},
    "L-302": {"launch_id": "L-302", "rocket": "Tern", "pad": "P1", "at": "2027-01-09T22:15Z", "status": "on hold"},
}
ROCKETS = {
    "heron 5": {"rocket": "Heron 5", "height_m": 61, "stages": 2, "flights": 14, "builder": "Kestrel Works"},
    "tern": {"rocket": "Tern", "height_m": 24, "stages": 3, "flights": 3, "builder": "Nordlyft"},
}
PADS = {
    "P1": {"pad": "P1", "supervisor": "Ines Falk", "fuel": "methane", "last_used": "2026-08-30"},
    "P3": {"pad": "P3", "supervisor": "Rashid Umarov", "fuel": "kerosene", "last_used": "2026-11-12"},
}
PAYLOADS = [
    {"payload": "AquaSat", "owner": "Delta Hydro", "kg": 412, "launch_id": "L-301"},
    {"payload": "Moth-2", "owner": "Lund University", "kg": 9, "launch_id": "L-302"},
]


def get_launch(launch_id: Annotated[str, Field(examples=["L-000"])]) -> dict:
    """Retrieves a launch by its ID: rocket, launch pad, time of lift-off, status."""
    return LAUNCHES.get(launch_id.upper()) or {"error": "launch not found"}


def get_rocket(name: Annotated[str, Field(description="Name of the rocket")]) -> dict:
    """Retrieves the technical data of a rocket."""
    return ROCKETS.get(name.casefold()) or {"error": "rocket not found"}


def get_pad(pad_id: Annotated[str, Field(description="ID of the launch pad, such as P9")]) -> dict:
    """Retrieves a launch pad: supervisor, fuel, last use."""
    return PADS.get(pad_id.upper()) or {"error": "pad not found"}


def search_payloads(query: Annotated[str, Field(description="Name of a satellite or its owner")]) -> list:
    """Searches the satellites that wait for a launch."""
    return [one for one in PAYLOADS if query.casefold() in f"{one['payload']} {one['owner']}".casefold()]


def scrub_launch(launch_id: str) -> dict:
    """Calls off a launch."""
    return {"scrubbed": launch_id}


TOOLS = (get_launch, get_rocket, get_pad, search_payloads, scrub_launch)
