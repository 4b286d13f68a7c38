"""A campsite: pitches, stays, weather, boats, fees, rangers."""

from __future__ import annotations

from typing import Literal

PITCHES = {
    "P-07": {"pitch": "P-07", "area_m2": 90, "power": True, "shade": "full", "field": "Lakeside"},
    "P-19": {"pitch": "P-19", "area_m2": 120, "power": False, "shade": "none", "field": "Meadow"},
    "P-23": {"pitch": "P-23", "area_m2": 75, "power": True, "shade": "half", "field": "Meadow"},
}
STAYS = {
    4410: {"stay": 4410, "guest": "Ingrid Solheim", "pitch": "P-19", "arrives": "2026-12-04", "leaves": "2026-12-09"},
    4416: {"stay": 4416, "guest": "Bruno Tavares", "pitch": "P-07", "arrives": "2026-12-06", "leaves": "2026-12-07"},
    4421: {"stay": 4421, "guest": "Yuna Lim", "pitch": "P-23", "arrives": "2026-12-01", "leaves": "2026-12-15"},
}
FIELDS = {
    "lakeside": {"field": "Lakeside", "ranger": "Tomasz Wilk", "showers": 12, "quiet_from": "22:00"},
    "meadow": {"field": "Meadow", "ranger": "Flora Quint", "showers": 6, "quiet_from": "23:00"},
}
BOATS = {
    "canoe": {"boat": "canoe", "per_hour": 9, "free": 4},
    "rowing": {"boat": "rowing", "per_hour": 12, "free": 0},
    "pedal": {"boat": "pedal", "per_hour": 15, "free": 2},
}


def lookupPitch(pitchId: str) -> dict:
    """Size, electricity, shade and field of a pitch like P-00."""
    return PITCHES.get(pitchId.upper()) or {"status": "not_found"}


def lookupStay(stayNumber: int) -> dict:
    """Who stays, on which pitch, and when they arrive and leave."""
    return STAYS.get(stayNumber) or {"status": "not_found"}


def searchGuests(text: str) -> list:
    """Search the guests by name; gives the numbers of their stays."""
    return [{"stay": one["stay"], "guest": one["guest"]} for one in STAYS.values()
            if text.casefold() in str(one["guest"]).casefold()]  # fmt: skip


def fieldInfo(field: Literal["Lakeside", "Meadow"]) -> dict:
    """A field of the site: its ranger, showers, when the night's rest begins."""
    return FIELDS[field.casefold()]


def boatHire(kind: Literal["canoe", "rowing", "pedal"]) -> dict:
    """What a boat costs by the hour and how many are at the jetty."""
    return BOATS[kind]


def nightlyFees() -> dict:
    """What a night costs in EUR."""
    return {"tent": 14, "caravan": 23, "adult": 7.5, "child": 3, "dog": 2.5, "tourist_tax": 1.2}


def lakeReport() -> dict:
    """The lake today."""
    return {"water_c": 9, "wind": "north-west 4", "flag": "yellow", "swimming": "only with a guard"}


def extendStay(stayNumber: int, leaves: str) -> dict:
    """Let a guest stay until a later day."""
    return {"stay": stayNumber, "leaves": leaves, "extended": True}


def clearPitch(pitchId: str) -> dict:
    """Free a pitch and send its guest home."""
    return {"pitch": pitchId, "cleared": True}


TOOLS = (
    lookupPitch, lookupStay, searchGuests, fieldInfo, boatHire, nightlyFees, lakeReport, extendStay, clearPitch,
)  # fmt: skip
