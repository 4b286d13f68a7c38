"""A violin maker's workshop: instruments, repairs, rentals, strings, who works there."""

from __future__ import annotations

from typing import Literal

INSTRUMENTS = {
    "V-118": {"number": "V-118", "kind": "violin", "maker": "Enrico Tosi", "year": 1894, "price_eur": 18500, "sold": False},
    "V-124": {"number": "V-124", "kind": "violin", "maker": "Paula Reinh", "year": 2011, "price_eur": 6400, "sold": True},
    "C-031": {"number": "C-031", "kind": "cello", "maker": "Enrico Tosi", "year": 1902, "price_eur": 42000, "sold": False},
}  # fmt: skip
REPAIRS = {
    7041: {"repair": 7041, "owner": "Signe Dahl", "fault": "crack in the top", "stage": "glued, drying", "ready_on": "2026-12-11", "bench": "B2"},
    7052: {"repair": 7052, "owner": "Haruki Sano", "fault": "worn pegs", "stage": "finished", "ready_on": "2026-11-28", "bench": "B1"},
    7063: {"repair": 7063, "owner": "Lucía Prat", "fault": "broken neck", "stage": "waiting for wood", "ready_on": None, "bench": "B2"},
}  # fmt: skip
BENCHES = {
    "B1": {"bench": "B1", "worker": "Miriam Okafor", "days": "Tue-Sat"},
    "B2": {"bench": "B2", "worker": "Anselm Roy", "days": "Mon-Thu"},
}


def instrument(number: str) -> dict:
    """What stands in the shop: maker, year and price of an instrument, by its number (V-000)."""
    return INSTRUMENTS.get(number.upper()) or {"found": False}


def repair_status(repair: int) -> dict:
    """How far a repair has come, what was wrong, whose it is and on which bench it lies."""
    return REPAIRS.get(repair) or {"found": False}


def bench_worker(bench: str) -> dict:
    """Who works at a bench (B1) and on which days."""
    return BENCHES.get(bench.upper()) or {"found": False}


def strings(instrument: Literal["violin", "viola", "cello", "bass"]) -> list:
    """Sets of strings in stock, with their price."""
    return {
        "violin": [{"brand": "Aurea", "price_eur": 62, "left": 14}, {"brand": "Plain Gut", "price_eur": 38, "left": 3}],
        "viola": [{"brand": "Aurea", "price_eur": 71, "left": 5}],
        "cello": [{"brand": "Fondo", "price_eur": 144, "left": 2}, {"brand": "Plain Gut", "price_eur": 96, "left": 0}],
        "bass": [],
    }[instrument]


def rentals(pupil: str) -> list:
    """Instruments that somebody has on loan, and what that costs them a month."""
    every = [
        {"pupil": "Noor Haddad", "instrument": "half-size violin", "monthly_eur": 14, "until": "2027-06-30"},
        {"pupil": "Jaewon Kim", "instrument": "three-quarter cello", "monthly_eur": 27, "until": "2027-01-31"},
    ]
    return [one for one in every if pupil.casefold() in one["pupil"].casefold()]


def rental_fees() -> list:
    """The monthly rate by size of the instrument."""
    return [
        {"size": "quarter", "violin_eur": 11, "cello_eur": 20},
        {"size": "half", "violin_eur": 14, "cello_eur": 24},
        {"size": "full", "violin_eur": 19, "cello_eur": 33},
    ]


def extend_rental(pupil: str, months: int) -> dict:
    """Let somebody keep a rented instrument for longer."""
    return {"pupil": pupil, "months": months, "extended": True}


def drop_repair(repair: int) -> dict:
    """Call a repair off and give the instrument back as it is."""
    return {"repair": repair, "dropped": True}


TOOLS = (instrument, repair_status, bench_worker, strings, rentals, rental_fees, extend_rental, drop_repair)
