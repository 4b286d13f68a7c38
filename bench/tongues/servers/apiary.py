"""A beekeeper: hives, sites, scales, honey."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

HIVES = {
    "H-07": {"hive": "H-07", "queen_born": 2025, "frames": 20, "site": "Lindenhof", "mood": "calm"},
    "H-12": {"hive": "H-12", "queen_born": 2023, "frames": 11, "site": "Old Quarry", "mood": "nervous"},
}
SITES = {
    "lindenhof": {"site": "Lindenhof", "hives": 9, "owner": "Paula Brandt", "blooms": "linden"},
    "old quarry": {"site": "Old Quarry", "hives": 4, "owner": "Jonas Meer", "blooms": "heather"},
}
SCALES = {"scale-1": ("H-07", 48.3), "scale-2": ("H-12", 29.9)}
HONEY = {"acacia": (62, 9.8), "linden": (140, 8.2), "forest": (0, 11.4)}


def hive(hive_id: Annotated[str, Field(description="Number on the lid, like H-01")]) -> dict:
    """One hive: year of its queen, frames, mood and the site where it stands."""
    return HIVES.get(hive_id.upper()) or {"found": False}


def site(name: str) -> dict:
    """A place with hives: how many, who owns the land, what blooms there."""
    return SITES.get(name.casefold()) or {"found": False}


def list_scales() -> list:
    """All scales that stand under hives."""
    return [{"device_id": device, "hive": hive} for device, (hive, _) in SCALES.items()]


def scale_reading(device_id: str) -> dict:
    """Weight that a scale shows now, in kilograms."""
    if device_id not in SCALES:
        return {"error": "no such device"}
    return {"device_id": device_id, "kg": SCALES[device_id][1]}


def honey(kind: Literal["acacia", "linden", "forest"]) -> dict:
    """Jars of a kind of honey in store, and the price of one."""
    return {"kind": kind, "jars": HONEY[kind][0], "price": HONEY[kind][1]}


def last_treatment(hive_id: str) -> dict:
    """When a hive was last treated against mites, and with what."""
    done = {"H-07": ("2026-08-04", "formic acid"), "H-12": ("2026-09-15", "oxalic acid")}.get(hive_id)
    return {"hive": hive_id, "treated_on": done[0], "with": done[1]} if done else {"found": False}


def move_hive(hive_id: str, site: str) -> dict:
    """Move a hive to another site."""
    return {"hive": hive_id, "moved_to": site}


TOOLS = (hive, site, list_scales, scale_reading, honey, last_treatment, move_hive)
