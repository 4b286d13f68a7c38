"""A farm: animals, fields, stock, machines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

ANIMALS = {
    "cow-031": {
        "tag": "cow-031",
        "name": "Berta",
        "born": "2021-04-17",
        "weight_kg": 612,
        "stall": "north 4",
        "vet_due": "2026-12-19",
    },
    "goat-008": {
        "tag": "goat-008",
        "name": "Pico",
        "born": "2023-02-02",
        "weight_kg": 47,
        "stall": "hill",
        "vet_due": "2027-01-08",
    },
}
FIELDS = {
    "riverside": {
        "field": "riverside",
        "hectares": 6.4,
        "crop": "barley",
        "sown": "2026-10-03",
        "soil_moisture_percent": 23,
    },
    "old mill": {
        "field": "old mill",
        "hectares": 2.9,
        "crop": "clover",
        "sown": "2026-08-22",
        "soil_moisture_percent": 41,
    },
}
STOCK = {"hay": 340, "potatoes": 1250, "milk": 86, "eggs": 410}
UNITS = {"hay": "bales", "potatoes": "kg", "milk": "litres", "eggs": "pieces"}
MACHINES = [
    {"machine": "tractor", "hours": 5120, "next_service": "2027-02-11", "state": "ready"},
    {"machine": "baler", "hours": 870, "next_service": "2026-12-02", "state": "broken"},
]


def animal(tag: Annotated[str, Field(description="Ear tag")]) -> dict:
    """Name, birth, weight, stall and next visit of the vet for one animal."""
    return ANIMALS.get(tag) or {"error": f"No animal wears the tag {tag}."}


def animals_named(name: str) -> dict:
    """Find animals by name; gives their tags."""
    found = [one["tag"] for one in ANIMALS.values() if name.casefold() == one["name"].casefold()]
    return {"items": found, "total": len(found)}


def field_report(field: Annotated[str, Field(description="Name of the field")]) -> dict:
    """Size, crop, day of sowing and soil moisture of a field."""
    return FIELDS.get(field.casefold().removesuffix(" field")) or {"error": f"There is no field {field!r}."}


def list_fields() -> list[dict]:
    """All fields with their crops."""
    return [{"field": one["field"], "crop": one["crop"]} for one in FIELDS.values()]


def stock(product: Annotated[str, Field(json_schema_extra={"enum": list(STOCK)})]) -> dict:
    """How much of a product lies in the barn."""
    return {"product": product, "amount": STOCK[product], "unit": UNITS[product]}


def machines(state: Annotated[str | None, Field(description="ready or broken")] = None) -> list[dict]:
    """Machines with hours run, next service and state."""
    return [one for one in MACHINES if state in (None, one["state"])]


def sell_animal(tag: Annotated[str, Field(description="Ear tag")], price: float) -> dict:
    """Take an animal out of the herd, as sold."""
    return {"sold": tag, "price": price}


TOOLS = (animal, animals_named, field_report, list_fields, stock, machines, sell_animal)
