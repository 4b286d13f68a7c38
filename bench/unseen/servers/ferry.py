"""Ferries: sailings by route and day, ships, fares and bookings."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("ferry")

SAILINGS = [
    {"sailing": "F310", "from_port": "Mokpo", "to_port": "Jeju", "departs": "09:00", "ship": "Queen Mary"},
    {"sailing": "F312", "from_port": "Mokpo", "to_port": "Jeju", "departs": "16:30", "ship": "Santa Lucia"},
    {"sailing": "F520", "from_port": "Busan", "to_port": "Fukuoka", "departs": "22:30", "ship": "Camellia"},
]
STATUS = {"F310": ("on time", 3), "F312": ("delayed 40 minutes", 1), "F520": ("cancelled because of wind", 2)}
SHIPS = {
    "Queen Mary": {"built": 1998, "passengers": 1264, "cars": 490},
    "Santa Lucia": {"built": 2012, "passengers": 1010, "cars": 350},
    "Camellia": {"built": 1990, "passengers": 522, "cars": 40},
}
FARES = {"economy": 32500, "family": 61000, "suite": 180000}
BOOKINGS = {
    "BK7781": {"passenger": "이하늘", "sailing": "F312", "cabin": "family", "paid": True},
    "BK7790": {"passenger": "Nora Lind", "sailing": "F520", "cabin": "economy", "paid": False},
}


@mcp.tool()
def list_sailings(from_port: str, to_port: str) -> list[dict]:
    """Sailings between two ports, with times of departure and ships."""
    wanted = (from_port.casefold(), to_port.casefold())
    return [one for one in SAILINGS if (one["from_port"].casefold(), one["to_port"].casefold()) == wanted]


@mcp.tool()
def sailing_status(sailing: Annotated[str, Field(description="Sailing number, one letter and three digits")]) -> dict:
    """Whether a sailing is on time, and its pier."""
    if sailing not in STATUS:
        raise ToolError(f"No sailing {sailing}")
    said, pier = STATUS[sailing]
    return {"sailing": sailing, "status": said, "pier": pier}


@mcp.tool()
def ship_info(name: str) -> dict:
    """Year of building and capacity of a ship."""
    found = next((one for one in SHIPS if one.casefold() == name.casefold()), None)
    if found is None:
        raise ToolError(f"No ship is called {name}")
    return {"name": found, **SHIPS[found]}


@mcp.tool()
def fare(cabin: Literal["economy", "family", "suite"], passengers: int = 1) -> dict:
    """Price in won for a number of passengers in a cabin class."""
    return {"cabin": cabin, "passengers": passengers, "total": FARES[cabin] * passengers}


@mcp.tool()
def booking(reference: Annotated[str, Field(description="Booking reference such as BK0000")]) -> dict:
    """Passenger, sailing, cabin and payment of a booking."""
    if reference not in BOOKINGS:
        raise ToolError(f"No booking {reference}")
    return {"reference": reference, **BOOKINGS[reference]}


@mcp.tool()
def cancel_booking(reference: str) -> str:
    """Cancel a booking."""
    return f"Booking {reference} is cancelled."


if __name__ == "__main__":
    mcp.run()
