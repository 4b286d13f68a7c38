"""A calendar: dates, durations, lists of people. Six tools."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

mcp = MCPServer("agenda")

EVENTS = [
    ("evt_a1", "Budget review", "2026-12-01T09:00", "2026-12-01T10:00", ["Sofia", "Ken"], "Room 4"),
    ("evt_a2", "Dentist", "2026-12-01T15:30", "2026-12-01T16:00", [], ""),
    ("evt_b7", "Design workshop", "2026-12-03T13:00", "2026-12-03T17:00", ["Ken", "민수"], "Studio"),
    (
        "evt_c3",
        "Year-end dinner",
        "2026-12-18T19:00",
        "2026-12-18T22:00",
        ["Sofia", "Ken", "민수", "Ana"],
        "Harbour Grill",
    ),
]
HOLIDAYS = {"KR": ("2026-12-25", "성탄절"), "US": ("2026-12-25", "Christmas Day"), "JP": ("2027-01-01", "元日")}


class NewEvent(BaseModel):
    title: str
    start: datetime
    end: datetime
    attendees: list[str] = []


def _shown(row: tuple) -> dict:
    return dict(zip(("id", "title", "start", "end", "attendees", "place"), row, strict=True))


@mcp.tool()
def events_on(day: Annotated[date, Field(description="ISO date")]) -> list[dict]:
    """All events of one day, in order."""
    return [
        {"id": row[0], "title": row[1], "start": row[2][11:]} for row in EVENTS if row[2].startswith(day.isoformat())
    ]


@mcp.tool()
def event_details(event_id: str) -> dict:
    """Everything about one event: times, attendees, place."""
    for row in EVENTS:
        if row[0] == event_id:
            return _shown(row)
    raise ToolError(f"event {event_id!r} does not exist")


@mcp.tool()
def find_events(
    text: Annotated[str | None, Field(description="words of the title")] = None,
    attendee: Annotated[str | None, Field(description="name of a person who takes part")] = None,
) -> list[dict]:
    """Find events by title and/or attendee."""
    found = [row for row in EVENTS if not text or text.lower() in row[1].lower()]
    return [{"id": r[0], "title": r[1], "start": r[2]} for r in found if not attendee or attendee in r[4]]


@mcp.tool()
def free_slots(day: date, minutes: Annotated[int, Field(gt=0)]) -> list[str]:
    """Gaps of at least so many minutes between 09:00 and 18:00."""
    if day.isoformat() == "2026-12-01":
        return ["10:00-15:30", "16:00-18:00"] if minutes <= 120 else ["10:00-15:30"]
    return ["09:00-13:00"] if day.isoformat() == "2026-12-03" else ["09:00-18:00"]


@mcp.tool()
def next_holiday(country: Literal["KR", "US", "JP"]) -> dict:
    """Next public holiday of a country."""
    day, name = HOLIDAYS[country]
    return {"date": day, "name": name}


@mcp.tool()
def create_event(event: NewEvent) -> str:
    """Put a new event into the calendar."""
    return f"created {event.title} at {event.start.isoformat()}"


if __name__ == "__main__":
    mcp.run()
