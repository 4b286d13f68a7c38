"""A winery: wines, barrels, cellars, harvest, tastings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

WINES = {
    "silberhang": {"wine": "Silberhang", "grape": "Riesling", "vintage": 2022, "price": 14.5, "bottles": 220},
    "monte ruvo": {"wine": "Monte Ruvo", "grape": "Sangiovese", "vintage": 2019, "price": 31.0, "bottles": 48},
    "black terrace": {"wine": "Black Terrace", "grape": "Syrah", "vintage": 2020, "price": 26.9, "bottles": 7},
}
BARRELS = {
    "BR-14": {"barrel": "BR-14", "wine": "Monte Ruvo", "litres": 205, "wood": "oak", "cellar": "K2"},
    "BR-22": {"barrel": "BR-22", "wine": "Black Terrace", "litres": 188, "wood": "chestnut", "cellar": "K1"},
}
CELLARS = {
    "K1": {"cellar": "K1", "celsius": 11.5, "humidity": 78, "cellar_master": "Oriol Puig"},
    "K2": {"cellar": "K2", "celsius": 13.2, "humidity": 71, "cellar_master": "Hedda Lang"},
}
HARVEST = {
    "north": {"plot": "north", "kilos": 4100, "picked_on": "2026-10-02", "sugar": 19.4},
    "river": {"plot": "river", "kilos": 6350, "picked_on": "2026-09-21", "sugar": 21.8},
    "chapel": {"plot": "chapel", "kilos": 2980, "picked_on": "2026-10-09", "sugar": 23.1},
}
TASTINGS = {
    41: {"tasting": 41, "starts": "2026-12-05 17:00", "guests": 12, "host": "Hedda Lang", "price": 25},
    42: {"tasting": 42, "starts": "2026-12-11 18:30", "guests": 6, "host": "Oriol Puig", "price": 40},
}


def wine(name: str) -> dict:
    """Grape, vintage, price in EUR and bottles in store of one of our wines."""
    return WINES.get(name.casefold()) or {"error": f"no wine is called {name}"}


def barrel(barrel_id: Annotated[str, Field(description="For example BR-00")]) -> dict:
    """What is in a barrel, how much, and in which cellar it lies."""
    return BARRELS.get(barrel_id.upper()) or {"found": False}


def cellar(cellar_id: Annotated[str, Field(pattern="^K[0-9]$")]) -> dict:
    """Temperature and humidity of a cellar and who looks after it."""
    return CELLARS.get(cellar_id) or {"found": False}


def harvest(plot: Literal["north", "river", "chapel"]) -> dict:
    """Kilos of grapes that a plot gave this year, when they were picked, and their sugar."""
    return HARVEST[plot]


def tasting(number: int) -> dict:
    """A wine tasting: when it starts, guests, host, price a head."""
    return TASTINGS.get(number) or {"found": False}


def book_tasting(day: str, guests: int) -> dict:
    """Book a wine tasting for a group."""
    return {"booked": day, "guests": guests}


def staff_phone(name: str) -> dict:
    """Phone extension of somebody who works at the winery."""
    return {"name": name, "extension": {"hedda lang": "31", "oriol puig": "47"}.get(name.casefold())}


TOOLS = (wine, barrel, cellar, harvest, tasting, book_tasting, staff_phone)
