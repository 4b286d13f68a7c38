"""A multi-storey car park: levels, cars inside, permits, charging points, tariffs, barriers."""

from __future__ import annotations

from typing import Literal

CARS = {
    "KX-4471": {"plate": "KX-4471", "level": 2, "bay": "2-18", "in_since": "07:52", "paid": False, "permit_id": None},
    "MR-9025": {
        "plate": "MR-9025",
        "level": 4,
        "bay": "4-03",
        "in_since": "Nov 28",
        "paid": True,
        "permit_id": "PM-61",
    },
}
PERMITS = {
    "PM-61": {"permit_id": "PM-61", "holder": "Ottoline Graves", "valid_until": "2027-03-31", "cars": ["MR-9025"]},
    "PM-74": {"permit_id": "PM-74", "holder": "Baek Jiwoo", "valid_until": "2026-12-31", "cars": ["TL-3318"]},
}
LEVELS = {
    1: {"level": 1, "free": 0, "bays": 60, "max_height_m": 2.1, "for": "permit holders"},
    2: {"level": 2, "free": 17, "bays": 84, "max_height_m": 2.1, "for": "everyone"},
    4: {"level": 4, "free": 51, "bays": 84, "max_height_m": 1.9, "for": "everyone"},
}


def where_is(plate: str) -> dict:
    """A car inside: its level and bay, since when, and whether it has been paid for; by its plate (AB-0000)."""
    return CARS.get(plate.upper()) or {"found": False}


def permit(permit_id: str) -> dict:
    """A long-term permit: its holder, the cars on it, until when; by its number (PM-00)."""
    return PERMITS.get(permit_id.upper()) or {"found": False}


def find_holder(name: str) -> list:
    """Permits of a person, by a part of the name."""
    return [
        {"permit_id": one["permit_id"], "holder": one["holder"]}
        for one in PERMITS.values()
        if name.casefold() in one["holder"].casefold()
    ]


def level_status(level: int) -> dict:
    """Free bays of a level, its clearance and who may use it."""
    return LEVELS.get(level) or {"error": f"no level {level}"}


def tariff(vehicle: Literal["car", "motorcycle", "van"]) -> dict:
    """What an hour and a whole day cost."""
    return {
        "car": {"vehicle": "car", "hour_eur": 2.4, "day_eur": 18},
        "motorcycle": {"vehicle": "motorcycle", "hour_eur": 1.1, "day_eur": 7},
        "van": {"vehicle": "van", "hour_eur": 3.8, "day_eur": 29},
    }[vehicle]


def charging_points() -> list:
    """The points for electric cars: where, how strong, in use or not."""
    return [
        {"point": "E1", "level": 2, "kw": 11, "in_use": True},
        {"point": "E2", "level": 2, "kw": 50, "in_use": False},
        {"point": "E3", "level": 4, "kw": 22, "in_use": False},
    ]


def barrier_log(gate: Literal["north", "south"]) -> list:
    """What went wrong at a gate of late."""
    return {
        "north": [{"day": "2026-11-29", "at": "18:04", "what": "arm did not lift", "mended_by": "Ilse Brandt"}],
        "south": [],
    }[gate]


def let_out(plate: str) -> dict:
    """Open the barrier for a car that has not been paid for."""
    return {"plate": plate, "let_out": True}


def revoke_permit(permit_id: str) -> dict:
    """Take a permit away from its holder."""
    return {"permit_id": permit_id, "revoked": True}


TOOLS = (where_is, permit, find_holder, level_status, tariff, charging_points, barrier_log, let_out, revoke_permit)
