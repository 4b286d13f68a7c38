"""A bicycle rental: stations, bicycles, riders, repairs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

STATIONS = {
    "harbour": {"station": "harbour", "docks": 24, "free_bikes": 7, "free_docks": 17, "opened": "2024-05-11"},
    "castle": {"station": "castle", "docks": 16, "free_bikes": 0, "free_docks": 16, "opened": "2025-09-02"},
    "market": {"station": "market", "docks": 30, "free_bikes": 19, "free_docks": 11, "opened": "2023-03-28"},
}
BIKES = {
    "BK-207": {"bike": "BK-207", "kind": "electric", "charge_percent": 64, "station": "market", "rider": None},
    "BK-318": {"bike": "BK-318", "kind": "cargo", "charge_percent": 91, "station": None, "rider": "RD-55"},
}
RIDERS = {
    "RD-55": {"rider": "RD-55", "name": "Elif Kaya", "balance": 12.4, "phone": "555-0142", "since": "2025-02-14"},
    "RD-61": {"rider": "RD-61", "name": "Tom Peters", "balance": 3.75, "phone": "555-0199", "since": "2026-07-01"},
}
REPAIRS = {"BK-207": {"bike": "BK-207", "fault": "brake", "mechanic": "Oskar", "done_on": "2026-11-12", "cost": 38}}
FARES = {"city": 1.5, "electric": 2.8, "cargo": 4.2}


def station(name: Annotated[str, Field(description="Name of the station")]) -> dict:
    """Free bicycles and free docks at a station."""
    return STATIONS.get(name.casefold().removesuffix(" station")) or {"error": f"There is no station {name!r}."}


def bike(bike: Annotated[str, Field(examples=["BK-001"])]) -> dict:
    """Kind, charge, place and present rider of one bicycle."""
    return BIKES.get(bike.upper()) or {"error": f"There is no bicycle {bike}."}


def rider(rider: Annotated[str, Field(examples=["RD-01"])]) -> dict:
    """Name, balance and phone number of a rider."""
    return RIDERS.get(rider.upper()) or {"error": f"There is no rider {rider}."}


def find_rider(name: str) -> dict:
    """Look up a rider's number by name."""
    found = [one["rider"] for one in RIDERS.values() if name.casefold() in one["name"].casefold()]
    return {"riders": found, "total": len(found)}


def last_repair(bike: Annotated[str, Field(examples=["BK-001"])]) -> dict:
    """The last repair of a bicycle: fault, mechanic, day and cost."""
    return REPAIRS.get(bike.upper()) or {"found": False}


def fare(kind: Annotated[str, Field(json_schema_extra={"enum": list(FARES)})]) -> dict:
    """What half an hour on a kind of bicycle costs."""
    return {"kind": kind, "per_half_hour": FARES[kind], "currency": "EUR"}


TOOLS = (station, bike, rider, find_rider, last_repair, fare)
