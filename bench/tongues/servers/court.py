"""A district court, with camelCase names and lists inside of records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

CASES = {
    "C-2026-118": {
        "case": {"number": "C-2026-118", "matter": "unpaid rent", "status": "open"},
        "parties": [{"role": "claimant", "name": "Mirela Popa"}, {"role": "defendant", "name": "Glimmer Ltd"}],
        "judge": "Abena Osei",
        "hearing": {"date": "2026-12-14", "time": "09:20", "courtroom": 5},
    },
    "C-2026-131": {
        "case": {"number": "C-2026-131", "matter": "neighbour's hedge", "status": "settled"},
        "parties": [{"role": "claimant", "name": "Tomas Vrba"}, {"role": "defendant", "name": "Irena Vrba"}],
        "judge": "Luis Quiroga",
        "hearing": None,
    },
}
JUDGES = [
    {"name": "Abena Osei", "chamber": "third", "phone": "0441"},
    {"name": "Luis Quiroga", "chamber": "first", "phone": "0418"},
]
ROOMS = {5: {"courtroom": 5, "floor": 2, "seats": 64}, 8: {"courtroom": 8, "floor": 3, "seats": 22}}


def getCase(caseNumber: Annotated[str, Field(description="e.g. C-2026-000")]) -> dict:
    """A lawsuit: matter, parties, judge, status and next hearing."""
    return CASES.get(caseNumber.upper()) or {"error": f"case {caseNumber} does not exist"}


def judgeInfo(name: str) -> dict:
    """Chamber and phone number of a judge."""
    return next((one for one in JUDGES if one["name"].casefold() == name.casefold()), {"found": False})


def courtroom(number: int) -> dict:
    """Floor and seats of a courtroom."""
    return ROOMS.get(number) or {"found": False}


def hearingsOn(date: Annotated[str, Field(description="Day as YYYY-MM-DD")]) -> list:
    """All hearings of a day."""
    return [
        {"case": number, **{key: one["hearing"][key] for key in ("time", "courtroom")}}
        for number, one in CASES.items()
        if one["hearing"] and one["hearing"]["date"] == date
    ]


def fineFor(offence: Literal["speeding", "parking", "noise"]) -> dict:
    """How much somebody has to pay for an offence, in EUR."""
    return {"offence": offence, "amount": {"speeding": 120, "parking": 35, "noise": 80}[offence]}


def postponeHearing(caseNumber: str, date: str) -> dict:
    """Move the hearing of a case to another day."""
    return {"case": caseNumber, "moved_to": date}


TOOLS = (getCase, judgeInfo, courtroom, hearingsOn, fineFor, postponeHearing)
