"""A boarding kennel: dogs, their owners, runs, walks, vets, prices."""

from __future__ import annotations

from typing import Literal

DOGS = {
    "biscuit": {"name": "Biscuit", "chip": "K9-5512", "breed": "beagle", "age": 4, "weight_kg": 13.4},
    "moritz": {"name": "Moritz", "chip": "K9-5520", "breed": "dachshund", "age": 11, "weight_kg": 8.9},
    "pepper": {"name": "Pepper", "chip": "K9-5534", "breed": "border collie", "age": 2, "weight_kg": 19.2},
}
STAY = {
    "K9-5512": {"chip": "K9-5512", "run": 3, "food": "dry, twice a day", "collected_on": "2026-12-05", "owner_id": 81},
    "K9-5520": {"chip": "K9-5520", "run": 5, "food": "diet, three times", "collected_on": "2026-12-02", "owner_id": 64},
    "K9-5534": {"chip": "K9-5534", "run": 1, "food": "raw, once a day", "collected_on": "2026-12-20", "owner_id": 81},
}
OWNERS = {
    64: {"owner_id": 64, "name": "Gudrun Falkner", "mobile": "0151-7788", "address": "Birkenweg 9"},
    81: {"owner_id": 81, "name": "Theo Marsh", "mobile": "0151-2046", "address": "Mill Lane 2"},
}


def find_dog(name: str) -> dict:
    """A dog by its call name: chip, breed, age, weight."""
    return DOGS.get(name.casefold()) or {"found": False}


def boarding(chip: str) -> dict:
    """Where a dog sleeps, what it eats and when it is collected, by its chip (K9-0000)."""
    return STAY.get(chip.upper()) or {"found": False}


def owner(owner_id: int) -> dict:
    """The owner of a dog: name, mobile number, address."""
    return OWNERS.get(owner_id) or {"found": False}


def walks(day: Literal["today", "tomorrow"]) -> list:
    """Who takes which dogs out, and when."""
    return {
        "today": [
            {"at": "08:15", "walker": "Enzo", "dogs": ["Biscuit", "Moritz"]},
            {"at": "16:40", "walker": "Hye-jin", "dogs": ["Pepper"]},
        ],
        "tomorrow": [{"at": "09:05", "walker": "Hye-jin", "dogs": ["Biscuit", "Pepper", "Moritz"]}],
    }[day]


def rates(size: Literal["small", "medium", "large"]) -> dict:
    """What boarding costs by the day, in EUR."""
    return {"size": size, "per_day": {"small": 19, "medium": 24, "large": 31}[size], "deposit": 50}


def vaccinations(chip: str) -> list:
    """When a dog's vaccinations run out, by its chip (K9-0000)."""
    return {
        "K9-5512": [{"against": "rabies", "until": "2027-08-01"}, {"against": "distemper", "until": "2026-12-31"}],
        "K9-5520": [{"against": "rabies", "until": "2027-02-14"}],
    }.get(chip.upper(), [])


def change_food(chip: str, food: str) -> dict:
    """Change what a dog is fed."""
    return {"chip": chip, "food": food, "changed": True}


def hand_over(chip: str) -> dict:
    """Hand a dog back to its owner and end its stay."""
    return {"chip": chip, "handed_over": True}


TOOLS = (find_dog, boarding, owner, walks, rates, vaccinations, change_food, hand_over)
