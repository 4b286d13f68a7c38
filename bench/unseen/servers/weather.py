"""Weather and money: four tools with enums, numbers and defaults."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("weather-and-money")

CITIES = {
    "seoul": (-2.0, "snow", 71), "busan": (6.0, "clear", 48), "paris": (9.0, "rain", 88), "cairo": (24.0, "sunny", 31),
    "toronto": (-7.0, "cloudy", 64), "lima": (19.0, "fog", 90),
}  # fmt: skip
RATES = {"USD": 1.0, "EUR": 0.8, "KRW": 1250.0, "JPY": 160.0, "GBP": 0.7}


class Units(StrEnum):
    metric = "metric"
    imperial = "imperial"


def _city(name: str) -> tuple[float, str, int]:
    known = {"서울": "seoul", "부산": "busan", "파리": "paris", "카이로": "cairo", "토론토": "toronto", "리마": "lima"}
    key = known.get(name.strip(), name.strip().lower())
    if key not in CITIES:
        raise ToolError(f"city not covered: {name}")
    return CITIES[key]


@mcp.tool()
def current_weather(city: str, units: Units = Units.metric) -> dict:
    """Temperature, sky and humidity in a city right now."""
    degrees, sky, humidity = _city(city)
    if units is Units.imperial:
        return {"temperature": round(degrees * 9 / 5 + 32, 1), "unit": "F", "sky": sky, "humidity": f"{humidity}%"}
    return {"temperature": degrees, "unit": "C", "sky": sky, "humidity": f"{humidity}%"}


@mcp.tool()
def forecast(
    city: str, days: Annotated[int, Field(ge=1, le=5, description="How many days ahead, 1 to 5")] = 3
) -> list[dict]:
    """Daily high and low for the coming days in a city."""
    degrees, sky, _ = _city(city)
    return [{"day": n, "high": degrees + n, "low": degrees - 5 - n, "sky": sky} for n in range(1, days + 1)]


@mcp.tool()
def convert_currency(
    amount: float,
    source: Annotated[str, Field(description="Three-letter code of the currency you have")],
    target: Annotated[str, Field(description="Three-letter code of the currency you want")],
) -> str:
    """Convert an amount of money at today's rate."""
    for code in (source, target):
        if code.upper() not in RATES:
            raise ToolError(f"no rate for {code}")
    worth = amount / RATES[source.upper()] * RATES[target.upper()]
    return f"{amount:g} {source.upper()} = {worth:g} {target.upper()}"


@mcp.tool()
def supported_currencies() -> list[str]:
    """Codes of all currencies that can be converted."""
    return list(RATES)


if __name__ == "__main__":
    mcp.run()
