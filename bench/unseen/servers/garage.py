"""A car workshop: vehicles, jobs, parts and mechanics; kebab-case tool names, few descriptions."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("garage")

VEHICLES = {"VH-9": {"vehicleId": "VH-9", "model": "Fiat Panda", "year": 2018, "ownerName": "Lea Brandt", "km": 84200}, "VH-12": {"vehicleId": "VH-12", "model": "Kia Ray", "year": 2022, "ownerName": "오세훈", "km": 31000}}  # fmt: skip
JOBS = {
    "J-540": {"jobId": "J-540", "vehicleId": "VH-9", "work": "brake pads", "state": "waiting for parts", "mechanicId": "MC-2", "cost": 240},
    "J-541": {"jobId": "J-541", "vehicleId": "VH-12", "work": "oil change", "state": "done", "mechanicId": "MC-1", "cost": 75},
}  # fmt: skip
MECHANICS = {"MC-1": {"mechanicId": "MC-1", "name": "Yara Haddad", "phone": "555-0141"}, "MC-2": {"mechanicId": "MC-2", "name": "Piet Boer", "phone": "555-0142"}}  # fmt: skip
PARTS = {"brake pads": 3, "oil filter": 25, "wiper": 0}


def _one(rows: dict[str, dict[str, Any]], key: str, kind: str) -> dict[str, Any]:
    if key not in rows:
        raise ToolError(f"{kind} {key} does not exist")
    return rows[key]


@mcp.tool(name="vehicle-get")
def vehicle_get(vehicleId: str) -> dict:
    """Vehicle data."""
    return _one(VEHICLES, vehicleId, "vehicle")


@mcp.tool(name="vehicle-search")
def vehicle_search(owner: str = "", model: str = "") -> list[dict]:
    """Search vehicles by owner or model."""
    return [
        {"vehicleId": one["vehicleId"], "model": one["model"]}
        for one in VEHICLES.values()
        if owner.lower() in one["ownerName"].lower() and model.lower() in one["model"].lower()
    ]


@mcp.tool(name="job-get")
def job_get(jobId: str) -> dict:
    """Repair job: work, state, cost, mechanic."""
    return _one(JOBS, jobId, "job")


@mcp.tool(name="jobs-of-vehicle")
def jobs_of_vehicle(vehicleId: str) -> list[dict]:
    """Repair jobs of a vehicle."""
    return [
        {"jobId": one["jobId"], "work": one["work"], "state": one["state"]}
        for one in JOBS.values()
        if one["vehicleId"] == vehicleId
    ]


@mcp.tool(name="mechanic-get")
def mechanic_get(mechanicId: str) -> dict:
    """Name and phone of a mechanic."""
    return _one(MECHANICS, mechanicId, "mechanic")


@mcp.tool(name="part-stock")
def part_stock(part: str) -> str:
    """How many of a part are in stock."""
    if part.lower() not in PARTS:
        raise ToolError(f"unknown part: {part}")
    return f"{part}: {PARTS[part.lower()]} in stock"


if __name__ == "__main__":
    mcp.run()
