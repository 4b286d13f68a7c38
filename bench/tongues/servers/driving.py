"""A driving school: students, instructors, cars, exams, prices."""

from __future__ import annotations

from typing import Literal

STUDENTS = {
    5012: {"student_no": 5012, "name": "Amara Diallo", "hours": 18, "instructor": "Viktor Sand", "theory": "passed"},
    5027: {"student_no": 5027, "name": "Leo Fontana", "hours": 6, "instructor": "Nadia Roth", "theory": "open"},
    5033: {"student_no": 5033, "name": "Minseo Han", "hours": 31, "instructor": "Viktor Sand", "theory": "passed"},
}
INSTRUCTORS = {
    "viktor sand": {"instructor": "Viktor Sand", "car": "DS-214", "phone": "7710", "speaks": ["de", "en"]},
    "nadia roth": {"instructor": "Nadia Roth", "car": "DS-231", "phone": "7742", "speaks": ["fr", "en"]},
}
CARS = {
    "DS-214": {"plate": "DS-214", "model": "Corolla", "gears": "manual", "next_service": "2027-02-03"},
    "DS-231": {"plate": "DS-231", "model": "Zoe", "gears": "automatic", "next_service": "2026-12-29"},
}


def find_students(name: str) -> list:
    """Find students by name or a part of it."""
    found = [one for one in STUDENTS.values() if name.casefold() in str(one["name"]).casefold()]
    return [{"student_no": one["student_no"], "name": one["name"]} for one in found]


def student(student_no: int) -> dict:
    """A student: hours driven, instructor, theory exam."""
    return STUDENTS.get(student_no) or {"found": False}


def instructor(name: str) -> dict:
    """An instructor: car, phone, languages."""
    return INSTRUCTORS.get(name.casefold()) or {"found": False}


def car(plate: str) -> dict:
    """A car of the school, by its number plate such as DS-100."""
    return CARS.get(plate.upper()) or {"found": False}


def exam_day(student_no: int) -> dict:
    """When a student takes the practical exam."""
    days = {5012: "2027-01-20 08:30", 5033: "2026-12-10 10:15"}
    return {"student_no": student_no, "exam": days.get(student_no)}


def lesson_price(kind: Literal["town", "motorway", "night"]) -> dict:
    """What a lesson costs, in EUR."""
    return {"kind": kind, "price": {"town": 52, "motorway": 68, "night": 74}[kind]}


def book_lesson(student_no: int, day: str) -> dict:
    """Book a driving lesson for a student."""
    return {"student_no": student_no, "booked": day}


def cancel_exam(student_no: int) -> dict:
    """Cancel the practical exam of a student."""
    return {"student_no": student_no, "cancelled": True}


TOOLS = (find_students, student, instructor, car, exam_day, lesson_price, book_lesson, cancel_exam)
