"""A ski resort: lifts, slopes, snow, passes, lessons, lost property."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

LIFTS = {
    "eagle": {"lift": "Eagle", "open": True, "wait_minutes": 18, "last_ride": "16:15", "top_m": 2410},
    "marmot": {"lift": "Marmot", "open": False, "reason": "storm", "last_ride": None, "top_m": 1890},
}
SLOPES = {
    7: {"slope": 7, "name": "Long Valley", "level": "blue", "length_m": 5200, "groomed": True},
    12: {"slope": 12, "name": "The Chute", "level": "black", "length_m": 1350, "groomed": False},
}
PASSES = {
    "SP-60117": {"pass": "SP-60117", "holder": "Klara Novak", "valid_until": "2026-12-08", "rides": 33},
    "SP-60140": {"pass": "SP-60140", "holder": "Jun Watanabe", "valid_until": "2027-04-11", "rides": 5},
}
INSTRUCTORS = {"klara novak": "Sepp Moser", "jun watanabe": "Aiko Mori"}
PHONES = {"sepp moser": "221", "aiko mori": "238"}


def lift_status(lift: Annotated[str, Field(description="Name of the lift")]) -> dict:
    """Whether a lift runs, how long people wait, and the last ride."""
    return LIFTS.get(lift.casefold()) or {"found": False}


def slope(number: int) -> dict:
    """Name, difficulty and length of a slope and whether it is groomed."""
    return SLOPES.get(number) or {"found": False}


def snow_report(place: Literal["valley", "middle", "summit"]) -> dict:
    """Depth of snow and temperature."""
    depth, celsius = {"valley": (25, 1), "middle": (80, -4), "summit": (165, -11)}[place]
    return {"place": place, "snow_cm": depth, "celsius": celsius}


def ski_pass(number: Annotated[str, Field(examples=["SP-00000"])]) -> dict:
    """Holder, last day and rides of a ski pass."""
    return PASSES.get(number.upper()) or {"error": f"pass {number} not found"}


def instructor_of(student: Annotated[str, Field(description="Full name of who takes lessons")]) -> dict:
    """Who teaches a student."""
    return {"student": student, "instructor": INSTRUCTORS.get(student.casefold())}


def staff_phone(name: str) -> dict:
    """Extension of somebody who works here."""
    return {"name": name, "extension": PHONES.get(name.casefold())}


def pass_price(days: int, age: Literal["child", "youth", "adult"]) -> dict:
    """Price of a ski pass for some days."""
    return {"days": days, "age": age, "price": days * {"child": 21, "youth": 34, "adult": 49}[age], "currency": "EUR"}


def block_pass(number: str) -> dict:
    """Block a lost ski pass."""
    return {"blocked": number}


TOOLS = (lift_status, slope, snow_report, ski_pass, instructor_of, staff_phone, pass_price, block_pass)
