"""A post office: parcels, postage, lockers, rounds of carriers, claims for what was lost."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

PARCELS = {
    "PX-4410": {"parcel": "PX-4410", "state": "held at customs", "place": "Leipzig", "expected": None, "kg": 2.35},
    "PX-4471": {"parcel": "PX-4471", "state": "on its way", "place": "Turin", "expected": "2026-12-03", "kg": 7.8},
    "PX-4502": {"parcel": "PX-4502", "state": "delivered", "place": "Graz", "expected": "2026-11-24", "kg": 0.64},
}
RECEIVERS = {"PX-4410": "Emil Strand", "PX-4471": "Dana Levy", "PX-4502": "Rosa Bianchi"}
ZONES = {"germany": 1.0, "france": 1.6, "japan": 3.9}
LOCKERS = {
    "L-12": {"locker": "L-12", "street": "Canal Street 5", "boxes": 60, "free_boxes": 13},
    "L-30": {"locker": "L-30", "street": "Elm Square", "boxes": 90, "free_boxes": 27},
}
HOURS = {"station": {"weekdays": "07:30-19:00", "saturday": "08:00-15:30"}, "old town": {"weekdays": "09:00-17:00"}}
ROUNDS = {"R-3": {"round": "R-3", "carrier": "Milan Vesely", "starts_at": "06:20", "households": 418}}
CLAIMS = {"CL-7": {"claim": "CL-7", "parcel": "PX-4502", "sum": 85, "currency": "EUR", "stage": "being examined"}}


def track(parcel: Annotated[str, Field(examples=["PX-0001"])]) -> dict:
    """State, place, expected day and weight of a parcel."""
    return PARCELS.get(parcel.upper()) or {"error": f"There is no parcel {parcel}."}


def find_parcels(receiver: Annotated[str, Field(description="Name of who gets it")]) -> dict:
    """Numbers of the parcels for a receiver."""
    found = [number for number, name in RECEIVERS.items() if receiver.casefold() in name.casefold()]
    return {"parcels": found, "total": len(found)}


def postage(country: Annotated[str, Field(description="Country, in English")], grams: int) -> dict:
    """Price of sending a letter abroad."""
    zone = ZONES.get(country.casefold())
    return {"country": country, "price": round(zone * grams / 100, 2), "currency": "EUR"} if zone else {"found": False}


def locker(locker: Annotated[str, Field(examples=["L-01"])]) -> dict:
    """Street of a parcel locker and how many of its boxes are free."""
    return LOCKERS.get(locker.upper()) or {"error": f"There is no locker {locker}."}


def branch_hours(branch: Literal["station", "old town"]) -> dict:
    """Opening hours of a branch."""
    return {"branch": branch, **HOURS[branch]}


def delivery_round(round: Annotated[str, Field(examples=["R-1"])]) -> dict:
    """Carrier, start and households of a mail round."""
    return ROUNDS.get(round.upper()) or {"error": f"There is no round {round}."}


def claim(claim: Annotated[str, Field(examples=["CL-1"])]) -> dict:
    """A claim for a lost or broken parcel: sum and stage."""
    return CLAIMS.get(claim.upper()) or {"found": False}


def redirect_parcel(parcel: str, locker: str) -> dict:
    """Send a parcel to a locker instead."""
    return {"redirected": parcel, "locker": locker}


TOOLS = (track, find_parcels, postage, locker, branch_hours, delivery_round, claim, redirect_parcel)
