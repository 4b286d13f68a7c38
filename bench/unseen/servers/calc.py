"""A calculator with one tool for each operation."""

from __future__ import annotations

import math
import statistics

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("calc")
METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "inch": 0.0254, "foot": 0.3048, "mile": 1609.344}


@mcp.tool()
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@mcp.tool()
def subtract(a: float, b: float) -> float:
    """Subtract b from a."""
    return a - b


@mcp.tool()
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


@mcp.tool()
def divide(a: float, b: float) -> float:
    """Divide a by b."""
    if b == 0:
        raise ToolError("division by zero")
    return a / b


@mcp.tool()
def square_root(x: float) -> float:
    """Square root of a number."""
    return math.sqrt(x)


@mcp.tool()
def average(numbers: list[float]) -> float:
    """Arithmetic mean of a list of numbers."""
    return statistics.mean(numbers)


@mcp.tool()
def convert_length(value: float, from_unit: str, to_unit: str) -> float:
    """Convert a length. Units: mm, cm, m, km, inch, foot, mile."""
    if from_unit not in METRES or to_unit not in METRES:
        raise ToolError(f"unknown unit {from_unit if from_unit not in METRES else to_unit}")
    return round(value * METRES[from_unit] / METRES[to_unit], 4)


if __name__ == "__main__":
    mcp.run()
