"""A sports club: members, memberships, courses, lockers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

MEMBERS = {
    4471: {
        "member_no": 4471,
        "name": "Hanna Virtanen",
        "plan": "gold",
        "paid_until": "2027-03-31",
        "visits_this_month": 9,
    },
    4490: {
        "member_no": 4490,
        "name": "Jorge Medina",
        "plan": "basic",
        "paid_until": "2026-11-30",
        "visits_this_month": 2,
    },
    4502: {"member_no": 4502, "name": "박서준", "plan": "silver", "paid_until": "2027-01-15", "visits_this_month": 14},
}
COURSES = [
    {"course": "yoga", "weekday": "tuesday", "time": "07:30", "trainer": "Mei Lin", "places_left": 4},
    {"course": "boxing", "weekday": "thursday", "time": "19:45", "trainer": "Dragan Ilic", "places_left": 0},
    {"course": "swimming", "weekday": "saturday", "time": "10:20", "trainer": "Amara Obi", "places_left": 11},
]
LOCKERS = {4471: {"locker": 38, "rented_until": "2027-02-28"}, 4502: {"locker": 112, "rented_until": "2026-12-31"}}


def find_member(name: Annotated[str, Field(description="Full or part of the name")]) -> list[dict]:
    """Find members by name; gives the member number."""
    return [
        {"member_no": one["member_no"], "name": one["name"]}
        for one in MEMBERS.values()
        if name.casefold() in str(one["name"]).casefold()
    ]


def membership(member_no: int) -> dict:
    """Plan, date until which it is paid, and visits of a member."""
    return MEMBERS.get(member_no) or {"error": f"There is no member {member_no}."}


def locker(member_no: int) -> dict:
    """Which locker a member rents, and until when."""
    return LOCKERS.get(member_no) or {"found": False}


def courses(weekday: Annotated[str | None, Field(description="monday to sunday")] = None) -> list[dict]:
    """List the courses with trainer, time and places left, of one weekday or of the whole week."""
    return [one for one in COURSES if weekday in (None, one["weekday"])]


def opening_hours(
    day: Annotated[str, Field(json_schema_extra={"enum": ["weekday", "saturday", "sunday", "holiday"]})],
) -> dict:
    """Opening hours of the club on a kind of day."""
    hours: dict[str, Any] = {
        "weekday": "06:00-23:30",
        "saturday": "08:00-21:00",
        "sunday": "09:00-18:00",
        "holiday": None,
    }
    return {"day": day, "open": hours[day]}


def cancel_membership(member_no: int, reason: str = "") -> dict:
    """End a membership for good."""
    return {"ended": member_no} if member_no in MEMBERS else {"error": f"There is no member {member_no}."}


TOOLS = (find_member, membership, locker, courses, opening_hours, cancel_membership)
