"""A vet's practice: doctors, visits, patients, medicines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

DOCTORS = [
    {"doctor": "Dr. Lindholm", "field": "surgery", "room": 4, "days": "Monday, Thursday"},
    {"doctor": "Dr. Okafor", "field": "dentistry", "room": 2, "days": "Tuesday, Friday"},
]
PATIENTS = {
    3107: {"patient": 3107, "name": "Luna", "species": "cat", "age_years": 6, "owner": "Greta Holm", "weight_kg": 4.3},
    3220: {
        "patient": 3220,
        "name": "Bruno",
        "species": "dog",
        "age_years": 11,
        "owner": "Ivan Petrov",
        "weight_kg": 31,
    },
}
VISITS = {
    3107: {"patient": 3107, "next_visit": "2026-12-07", "time": "09:40", "doctor": "Dr. Okafor", "reason": "teeth"},
    3220: {"patient": 3220, "next_visit": "2026-12-15", "time": "16:20", "doctor": "Dr. Lindholm", "reason": "knee"},
}
MEDICINES = {
    "pelodrin": {
        "medicine": "pelodrin",
        "in_stock": 52,
        "price": 17.9,
        "dose": "2 drops a day",
        "on_prescription": True,
    },
    "samivet": {"medicine": "samivet", "in_stock": 0, "price": 6.2, "dose": "1 tablet a day", "on_prescription": False},
}


def patient(patient: Annotated[int, Field(description="Number of the patient's file")]) -> dict:
    """Name, species, age, owner and weight of an animal in treatment."""
    return PATIENTS.get(patient) or {"error": f"There is no file {patient}."}


def search_patients(name: str) -> list[dict]:
    """Find animals in treatment by their name; gives the numbers of their files."""
    return [{"patient": one["patient"]} for one in PATIENTS.values() if one["name"].casefold() == name.casefold()]


def next_visit(patient: Annotated[int, Field(description="Number of the patient's file")]) -> dict:
    """Day, time and doctor of an animal's next visit."""
    return VISITS.get(patient) or {"error": f"Nothing is planned for {patient}."}


def doctors() -> list[dict]:
    """The doctors with their field, room and days."""
    return DOCTORS


def medicine(name: Annotated[str, Field(description="Name of the medicine")]) -> dict:
    """Stock, price and dose of a medicine."""
    return MEDICINES.get(name.casefold()) or {"error": f"No medicine is called {name!r}."}


def cancel_visit(patient: int) -> dict:
    """Call off an animal's next visit."""
    return {"cancelled": patient}


TOOLS = (patient, search_patients, next_visit, doctors, medicine, cancel_visit)
