"""Flights: airport codes that one tool gives to the next, dates, cabins, bookings."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from mcp.server import MCPServer
from pydantic import Field

mcp = MCPServer("flights")

AIRPORTS = {"ICN": "Seoul Incheon", "NRT": "Tokyo Narita", "CDG": "Paris Charles de Gaulle", "LIS": "Lisbon Humberto Delgado"}  # fmt: skip
FLIGHTS = [
    {"flight": "KE705", "from": "ICN", "to": "NRT", "departure": "10:10", "price": 210, "aircraft": "A220"},
    {"flight": "OZ102", "from": "ICN", "to": "NRT", "departure": "09:00", "price": 180, "aircraft": "A350"},
    {"flight": "AF267", "from": "ICN", "to": "CDG", "departure": "12:35", "price": 890, "aircraft": "777"},
    {"flight": "TP439", "from": "CDG", "to": "LIS", "departure": "18:20", "price": 140, "aircraft": "A320"},
]
STATUS = {"KE705": ("on time", "23"), "OZ102": ("delayed by 55 minutes", "41"), "AF267": ("boarding", "12")}
BOOKINGS = {
    "QX7PLM": {"passenger": "Dana Whitfield", "flight": "OZ102", "seat": "14C", "cabin": "economy"},
    "R2D9KA": {"passenger": "이준호", "flight": "AF267", "seat": "3A", "cabin": "business"},
}


@mcp.tool()
def find_airport(city: str) -> str:
    """Get the IATA code of the airport(s) serving a city."""
    found = [f"{code} - {name}" for code, name in AIRPORTS.items() if city.lower() in name.lower()]
    return "\n".join(found) or f"No airport found for {city}"


@mcp.tool()
def search_flights(
    origin: Annotated[str, Field(description="IATA code of the departure airport")],
    destination: Annotated[str, Field(description="IATA code of the arrival airport")],
) -> str:
    """Search direct flights between two airports."""
    found = [one for one in FLIGHTS if (one["from"], one["to"]) == (origin.upper(), destination.upper())]
    return json.dumps(found) if found else f"No direct flights from {origin} to {destination}"


@mcp.tool()
def flight_status(flight_number: Annotated[str, Field(description="e.g. KE123")]) -> str:
    """Status and gate of a flight today."""
    if flight_number not in STATUS:
        return f"Error: flight {flight_number} is unknown"
    state, gate = STATUS[flight_number]
    return f"{flight_number}: {state}, gate {gate}"


@mcp.tool()
def get_booking(record_locator: Annotated[str, Field(description="six character booking reference")]) -> dict:
    """Look up a booking."""
    return BOOKINGS.get(record_locator, {"error": f"no booking {record_locator}"})


@mcp.tool()
def baggage_allowance(cabin: Literal["economy", "premium", "business"]) -> str:
    """Checked baggage allowance for a cabin class."""
    return {"economy": "1 bag of 23 kg", "premium": "2 bags of 23 kg", "business": "2 bags of 32 kg"}[cabin]


if __name__ == "__main__":
    mcp.run()
