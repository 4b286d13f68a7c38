"""A harbour: ships, berths, containers, tides."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

SHIPS = {
    "Aurelia": {"ship": "Aurelia", "imo": "IMO9301122", "flag": "Malta", "length_m": 212, "captain": "Sven Dahl"},
    "Kaito Star": {"ship": "Kaito Star", "imo": "IMO9450077", "flag": "Japan", "length_m": 148, "captain": "Aya Mori"},
}
CALLS = {
    "IMO9301122": {"imo": "IMO9301122", "berth": "B6", "arrives": "2026-12-01 05:30", "leaves": "2026-12-02 22:00"},
    "IMO9450077": {"imo": "IMO9450077", "berth": "B2", "arrives": "2026-11-30 13:15", "leaves": "2026-12-04 08:45"},
}
BOXES = {
    "MSKU-77120": {"container": "MSKU-77120", "goods": "coffee", "weight_t": 21.4, "customs": "held", "row": "K14"},
    "TGHU-30418": {"container": "TGHU-30418", "goods": "tiles", "weight_t": 26.8, "customs": "cleared", "row": "D3"},
}
TIDES = {"today": {"high": "04:52", "low": "11:08"}, "tomorrow": {"high": "05:41", "low": "11:57"}}


def ship(name: str) -> dict:
    """Registration number, flag, length and captain of a ship."""
    return next((one for key, one in SHIPS.items() if key.casefold() == name.casefold()), None) or {"found": False}


def port_call(imo: Annotated[str, Field(description="Registration number", examples=["IMO1234567"])]) -> dict:
    """At which berth a ship lies, when it arrives and when it leaves."""
    return CALLS.get(imo.upper()) or {"error": f"No call of {imo} is announced."}


def container(container: Annotated[str, Field(examples=["ABCD-00000"])]) -> dict:
    """Goods, weight, customs state and row of a container."""
    return BOXES.get(container.upper()) or {"error": f"Container {container} is not here."}


def tides(day: Literal["today", "tomorrow"]) -> dict:
    """High water and low water."""
    return {"day": day, **TIDES[day]}


def crane_hours(month: Annotated[str, Field(description="YYYY-MM")]) -> dict:
    """How many hours the cranes worked in a month."""
    return {"month": month, "hours": {"2026-10": 1374, "2026-11": 1208}.get(month)}


TOOLS = (ship, port_call, container, tides, crane_hours)
