"""A laundry: tickets, garments, prices, machines, the staff, deliveries."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

TICKETS = {
    "LT-3301": {
        "ticket": "LT-3301", "customer": "Olga Brandstad", "garments": ["coat", "two shirts"], "state": "ready",
        "ready_since": "2026-11-27", "shelf": "B4", "to_pay_eur": 31.5, "handled_by": "Mirko",
    },
    "LT-3308": {
        "ticket": "LT-3308", "customer": "Seojun Bae", "garments": ["wedding dress"], "state": "being cleaned",
        "ready_on": "2026-12-03", "shelf": None, "to_pay_eur": 64.0, "handled_by": "Adaeze",
    },
    "LT-3315": {
        "ticket": "LT-3315", "customer": "Olga Brandstad", "garments": ["curtains"], "state": "lost",
        "shelf": None, "to_pay_eur": 0, "handled_by": "Mirko",
    },
}  # fmt: skip
STAFF = {
    "mirko": {"name": "Mirko", "role": "presser", "works": "Mon-Thu", "extension": 21},
    "adaeze": {"name": "Adaeze", "role": "dry cleaner", "works": "Wed-Sat", "extension": 34},
}
MACHINES = {
    1: {"machine": 1, "kind": "washer", "load_kg": 18, "busy_until": "14:25"},
    2: {"machine": 2, "kind": "washer", "load_kg": 8, "busy_until": None},
    3: {"machine": 3, "kind": "dryer", "load_kg": 20, "busy_until": "13:50"},
}

Ticket = Annotated[str, Field(description="Number on the pick-up slip, e.g. LT-0000")]


def get_ticket(ticket: Ticket) -> dict:
    """What was handed in on a slip: garments, state, when it is ready, shelf, amount due, who handles it."""
    return TICKETS.get(ticket.upper()) or {"error": f"no ticket {ticket}"}


def tickets_of_customer(customer: str) -> dict:
    """The slips of a customer, by full or last name."""
    found = [one["ticket"] for one in TICKETS.values() if customer.casefold() in str(one["customer"]).casefold()]
    return {"customer": customer, "tickets": found}


def colleague(name: str) -> dict:
    """Somebody who works here: role, working days, telephone extension."""
    return STAFF.get(name.casefold()) or {"error": f"nobody here is called {name}"}


def machine(number: int) -> dict:
    """A washing machine or dryer: how much it takes and until when it runs."""
    return MACHINES.get(number) or {"error": f"no machine {number}"}


def price_list() -> list:
    """What cleaning costs, per piece, and how many days it takes."""
    return [
        {"piece": "shirt", "eur": 3.2, "days": 1},
        {"piece": "coat", "eur": 18.5, "days": 3},
        {"piece": "suit", "eur": 22.0, "days": 2},
        {"piece": "wedding dress", "eur": 64.0, "days": 6},
        {"piece": "curtains per metre", "eur": 5.4, "days": 4},
    ]


def opening_times(day: Literal["weekday", "saturday", "sunday"]) -> dict:
    """When the shop is open."""
    return {
        "weekday": {"opens": "07:30", "closes": "19:00"},
        "saturday": {"opens": "09:00", "closes": "15:30"},
        "sunday": {"closed": True},
    }[day]


def deliver_home(ticket: Ticket, date: str) -> dict:
    """Have the finished garments of a slip brought to the customer's home."""
    return {"ticket": ticket, "delivery": date, "fee_eur": 4}


def discard(ticket: Ticket) -> dict:
    """Throw away what was never fetched."""
    return {"ticket": ticket, "discarded": True}


TOOLS = (get_ticket, tickets_of_customer, colleague, machine, price_list, opening_times, deliver_home, discard)
