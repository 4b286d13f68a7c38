"""A railway: trains, stations, tickets, lost things."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

TRAINS = {
    "R512": {"train": "R512", "from": "Varn", "to": "Solbruk", "leaves": "14:05", "platform": 6, "delay_minutes": 12},
    "R518": {"train": "R518", "from": "Varn", "to": "Karst", "leaves": "14:40", "platform": 2, "delay_minutes": 0},
    "N77": {"train": "N77", "from": "Solbruk", "to": "Varn", "leaves": "23:50", "platform": 1, "delay_minutes": 35},
}
TICKETS = {
    "TK-70311": {"ticket": "TK-70311", "passenger": "Bruna Reis", "train": "R512", "seat": "7C", "price": 28.4},
    "TK-70350": {"ticket": "TK-70350", "passenger": "Emre Aydin", "train": "N77", "seat": "2A", "price": 61.0},
}
STATIONS = {
    "varn": {"station": "Varn", "platforms": 8, "lockers": True, "last_train": "00:20"},
    "karst": {"station": "Karst", "platforms": 2, "lockers": False, "last_train": "22:10"},
    "solbruk": {"station": "Solbruk", "platforms": 4, "lockers": True, "last_train": "23:50"},
}
LOST = [
    {"thing": "green umbrella", "found_in": "R512", "kept_at": "Solbruk"},
    {"thing": "violin case", "found_in": "N77", "kept_at": "Varn"},
]


def train(number: Annotated[str, Field(examples=["R000", "N00"])]) -> dict:
    """A train: from where to where, departure, platform, delay."""
    return TRAINS.get(number.upper()) or {"error": f"no train {number}"}


def ticket(code: Annotated[str, Field(pattern=r"^TK-\d{5}$")]) -> dict:
    """A ticket: passenger, train, seat, price."""
    return TICKETS.get(code) or {"error": f"no ticket {code}"}


def station(name: str) -> dict:
    """A station: platforms, lockers, last train of the day."""
    return STATIONS.get(name.casefold()) or {"error": f"no station {name}"}


def lost_property(thing: str) -> list:
    """Look for something that a passenger left behind."""
    return [one for one in LOST if thing.casefold() in one["thing"] or one["thing"] in thing.casefold()]


def surcharge(item: Literal["bicycle", "dog", "first_class"]) -> dict:
    """What is paid on top of a ticket, in EUR."""
    return {"item": item, "price": {"bicycle": 6, "dog": 4.5, "first_class": 22}[item]}


def refund_ticket(code: str) -> dict:
    """Give the money for a ticket back."""
    return {"ticket": code, "refunded": True}


def reserve_seat(train: str, seat: str) -> dict:
    """Reserve a seat on a train."""
    return {"train": train, "seat": seat, "reserved": True}


TOOLS = (train, ticket, station, lost_property, surcharge, refund_ticket, reserve_seat)
