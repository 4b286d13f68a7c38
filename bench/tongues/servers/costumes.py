"""A costume rental: costumes, who has borrowed them, tailors, fees."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

COSTUMES = {
    "CO-12": {"costume": "CO-12", "title": "Pirate", "size": "M", "fee": 35, "state": "available"},
    "CO-18": {"costume": "CO-18", "title": "Queen", "size": "S", "fee": 60, "state": "lent"},
    "CO-31": {"costume": "CO-31", "title": "Astronaut", "size": "L", "fee": 80, "state": "in repair"},
}
LOANS = {
    "CO-18": {"costume": "CO-18", "borrower": "Lena Voss", "back_on": "2026-12-05"},
}
BORROWERS = {
    "lena voss": {"borrower": "Lena Voss", "phone": "0660-14", "city": "Graz"},
    "minho seo": {"borrower": "Minho Seo", "phone": "0660-97", "city": "Busan"},
}
REPAIRS = {
    "CO-31": {"costume": "CO-31", "tailor": "Chiara Neri", "ready_on": "2026-12-11", "damage": "torn glove"},
}

Code = Annotated[str, Field(description="Costume code such as CO-00")]


def costume(code: Code) -> dict:
    """A costume: title, size, fee in EUR, state."""
    return COSTUMES.get(code.upper()) or {"found": False}


def loan(code: Code) -> dict:
    """Who has borrowed a costume, and when it comes back."""
    return LOANS.get(code.upper()) or {"found": False}


def borrower(name: str) -> dict:
    """A borrower's phone number and city."""
    return BORROWERS.get(name.casefold()) or {"found": False}


def repair(code: Code) -> dict:
    """What is broken on a costume, which tailor mends it, and when it is ready."""
    return REPAIRS.get(code.upper()) or {"found": False}


def costumes_for(theme: Literal["space", "sea", "court"]) -> list:
    """Costumes for a theme."""
    return {
        "space": [{"costume": "CO-31", "title": "Astronaut"}],
        "sea": [{"costume": "CO-12", "title": "Pirate"}],
        "court": [{"costume": "CO-18", "title": "Queen"}],
    }[theme]


def lend_costume(code: Code, borrower: str) -> dict:
    """Lend a costume to somebody."""
    return {"lent": code, "to": borrower}


def charge_damage(code: Code, amount: float) -> dict:
    """Charge the borrower for damage."""
    return {"costume": code, "charged": amount}


TOOLS = (costume, loan, borrower, repair, costumes_for, lend_costume, charge_damage)
