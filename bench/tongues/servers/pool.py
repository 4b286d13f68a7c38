"""A swimming pool: basins, courses, trainers, tickets, lost things."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

BASINS = {
    "diving": {"basin": "diving", "water_celsius": 26.5, "depth_m": 4.2, "open": True, "lifeguard": "Ilse Brandt"},
    "lanes": {"basin": "lanes", "water_celsius": 25.0, "depth_m": 1.9, "open": True, "lifeguard": "Omar Reyes"},
    "toddlers": {"basin": "toddlers", "water_celsius": 31.0, "depth_m": 0.4, "open": False, "lifeguard": None},
}
COURSES = {
    "SW-10": {"course": "SW-10", "title": "Crawl", "trainer": "Jana Kos", "day": "Tuesday", "free_places": 3},
    "SW-14": {"course": "SW-14", "title": "Aqua jogging", "trainer": "Tom Aalto", "day": "Friday", "free_places": 0},
    "SW-21": {"course": "SW-21", "title": "Babies", "trainer": "Jana Kos", "day": "Sunday", "free_places": 5},
}
TRAINERS = {
    "jana kos": {"trainer": "Jana Kos", "phone": "0177-31", "since": 2015},
    "tom aalto": {"trainer": "Tom Aalto", "phone": "0177-58", "since": 2022},
}


def basin(name: Literal["diving", "lanes", "toddlers"]) -> dict:
    """One basin: temperature of the water, depth, whether it is open, who guards it."""
    return BASINS[name]


def course(code: Annotated[str, Field(description="Course code such as SW-00")]) -> dict:
    """A swimming course: trainer, day, free places."""
    return COURSES.get(code.upper()) or {"found": False}


def trainer(name: str) -> dict:
    """A trainer's phone number and first year here."""
    return TRAINERS.get(name.casefold()) or {"found": False}


def entry_price(who: Literal["adult", "child", "senior"]) -> dict:
    """What a day ticket costs, in EUR."""
    return {"who": who, "price": {"adult": 7.5, "child": 4.0, "senior": 5.5}[who]}


def lost_things(what: str) -> dict:
    """Look whether something was found and left at the desk."""
    found = {"goggles": "box 3", "towel": "box 1"}
    return {"what": what, "kept_in": found.get(what.casefold())}


def join_course(code: Annotated[str, Field(description="Course code such as SW-00")], name: str) -> dict:
    """Put somebody's name down for a course."""
    return {"joined": code, "name": name}


TOOLS = (basin, course, trainer, entry_price, lost_things, join_course)
