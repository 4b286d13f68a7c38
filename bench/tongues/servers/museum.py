"""A museum: exhibits, rooms, guided tours, visitors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

EXHIBITS = {
    "A-1021": {
        "number": "A-1021",
        "title": "Bronze Heron",
        "artist": "Sofia Lindqvist",
        "year": 1894,
        "room": "R3",
        "on_loan": False,
    },
    "A-1077": {
        "number": "A-1077",
        "title": "Woman with a Lamp",
        "artist": "Karel Novak",
        "year": 1911,
        "room": "R7",
        "on_loan": True,
    },
    "A-1200": {
        "number": "A-1200",
        "title": "Blue Staircase",
        "artist": "Sofia Lindqvist",
        "year": 1902,
        "room": "R3",
        "on_loan": False,
    },
}
ROOMS = {
    "R3": {"room": "R3", "floor": 1, "theme": "northern light", "guard": "Idris"},
    "R7": {"room": "R7", "floor": 2, "theme": "portraits", "guard": "Carmen"},
}
TOURS = [
    {"tour": "highlights", "language": "en", "starts": "11:00", "minutes": 60, "free_places": 6},
    {"tour": "highlights", "language": "de", "starts": "13:30", "minutes": 60, "free_places": 0},
    {"tour": "children", "language": "fr", "starts": "14:15", "minutes": 45, "free_places": 9},
]
VISITORS = {"2026-11-21": 1840, "2026-11-22": 2215}


def exhibit(number: Annotated[str, Field(description="Inventory number")]) -> dict:
    """Title, artist, year and room of an exhibit, and whether it is on loan elsewhere."""
    return EXHIBITS.get(number) or {"error": f"{number} is in no catalogue."}


def search_exhibits(text: Annotated[str, Field(description="Words of the title, or the artist")]) -> list[dict]:
    """Search the collection by title or artist; gives inventory numbers."""
    return [
        {"number": one["number"], "title": one["title"], "artist": one["artist"]}
        for one in EXHIBITS.values()
        if text.casefold() in f"{one['title']} {one['artist']}".casefold()
    ]


def room(room: Annotated[str, Field(description="Room code")]) -> dict:
    """Floor, theme and guard of a room."""
    return ROOMS.get(room) or {"error": f"There is no room {room}."}


def guided_tours(language: Literal["en", "de", "fr"] | None = None) -> list[dict]:
    """Today's guided tours: start, length and free places, in one language or in all."""
    return [one for one in TOURS if language in (None, one["language"])]


def visitor_count(day: Annotated[str, Field(json_schema_extra={"format": "date"})]) -> dict:
    """How many people came on a day."""
    return {"day": day, "visitors": VISITORS.get(day)}


def remove_exhibit(number: Annotated[str, Field(description="Inventory number")]) -> dict:
    """Strike an exhibit off the catalogue."""
    return {"removed": number}


TOOLS = (exhibit, search_exhibits, room, guided_tours, visitor_count, remove_exhibit)
