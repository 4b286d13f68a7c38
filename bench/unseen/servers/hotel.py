"""A hotel's desk: rooms by type and date, reservations, guests, services; nested guest data."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

mcp = MCPServer("hotel")

RESERVATIONS = {
    "RSV-2201": {"reservation_id": "RSV-2201", "guest_id": 71, "room": "305", "check_in": "2026-12-20", "nights": 3},
    "RSV-2202": {"reservation_id": "RSV-2202", "guest_id": 72, "room": "112", "check_in": "2026-12-22", "nights": 1},
}
GUESTS = {71: {"guest_id": 71, "name": "Amara Obi", "country": "Nigeria", "loyalty": "gold"}, 72: {"guest_id": 72, "name": "정유진", "country": "South Korea", "loyalty": "none"}}  # fmt: skip
PRICES = {"single": 90, "double": 130, "suite": 320}
FREE = {("2026-12-24", "double"): 4, ("2026-12-24", "suite"): 0, ("2026-12-25", "single"): 7}


class Guest(BaseModel):
    """Who will stay."""

    name: str
    email: str | None = None


@mcp.tool()
def get_reservation(reservation_id: Annotated[str, Field(description="such as RSV-0001")]) -> dict:
    """Reservation with room, guest, day of arrival and nights."""
    if reservation_id not in RESERVATIONS:
        raise ToolError(f"Reservation {reservation_id} was not found")
    return RESERVATIONS[reservation_id]


@mcp.tool()
def get_guest(guest_id: int) -> dict:
    """Guest profile: name, country, loyalty level."""
    if guest_id not in GUESTS:
        raise ToolError(f"Guest {guest_id} was not found")
    return GUESTS[guest_id]


@mcp.tool()
def search_guests(name: str) -> list[dict]:
    """Search guests by name."""
    return [
        {"guest_id": one["guest_id"], "name": one["name"]}
        for one in GUESTS.values()
        if name.lower() in one["name"].lower()
    ]


@mcp.tool()
def room_rate(room_type: Literal["single", "double", "suite"], nights: int = 1) -> str:
    """Price of a stay in EUR."""
    return f"{PRICES[room_type] * nights} EUR for {nights} night(s) in a {room_type} room"


@mcp.tool()
def availability(
    date: Annotated[str, Field(description="YYYY-MM-DD")], room_type: Literal["single", "double", "suite"]
) -> str:
    """How many rooms of a type are free on a date."""
    return f"{FREE.get((date, room_type), 0)} {room_type} rooms are free on {date}"


@mcp.tool()
def create_reservation(guest: Guest, room_type: Literal["single", "double", "suite"], date: str) -> str:
    """Make a reservation."""
    return f"Reserved a {room_type} room for {guest.name} on {date}: RSV-2203"


if __name__ == "__main__":
    mcp.run()
