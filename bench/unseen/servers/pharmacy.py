"""A pharmacy: medicines, prescriptions, patients, branches; wrapped results and an array of objects."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("pharmacy")

MEDICINES = {"MED-11": {"code": "MED-11", "name": "Ibuprofen 400", "form": "tablet", "price": 6.4, "prescription_needed": False}, "MED-27": {"code": "MED-27", "name": "Amoxicillin", "form": "capsule", "price": 11.9, "prescription_needed": True}}  # fmt: skip
PRESCRIPTIONS = {"RX5001": {"rx": "RX5001", "patient": "Ola Svensson", "medicine_code": "MED-27", "refills_left": 2, "doctor": "Dr. Hirsch"}, "RX5002": {"rx": "RX5002", "patient": "김도윤", "medicine_code": "MED-11", "refills_left": 0, "doctor": "Dr. Adeyemi"}}  # fmt: skip
STOCK = {("MED-11", "north"): 40, ("MED-11", "south"): 0, ("MED-27", "north"): 12}


@mcp.tool()
def medicine_lookup(text: Annotated[str, Field(description="part of a medicine's name")]) -> dict:
    """Look up medicines by name."""
    return {
        "matches": [
            {"code": one["code"], "name": one["name"]}
            for one in MEDICINES.values()
            if text.lower() in one["name"].lower()
        ]
    }


@mcp.tool()
def medicine(code: Annotated[str, Field(description="medicine code, e.g. MED-11")]) -> dict:
    """Form, price in EUR and whether a prescription is needed."""
    if code not in MEDICINES:
        raise ToolError(f"no medicine {code}")
    return MEDICINES[code]


@mcp.tool()
def prescription(rx: Annotated[str, Field(description="prescription number")]) -> dict:
    """Patient, medicine, doctor and refills left of a prescription."""
    if rx not in PRESCRIPTIONS:
        raise ToolError(f"no prescription {rx}")
    return PRESCRIPTIONS[rx]


@mcp.tool()
def stock(code: str, branch: Literal["north", "south"]) -> dict:
    """Packages of a medicine in stock at a branch."""
    return {"code": code, "branch": branch, "packages": STOCK.get((code, branch), 0)}


@mcp.tool()
def branch_hours(branch: Literal["north", "south"]) -> str:
    """Opening hours of a branch."""
    return {"north": "Mon-Sat 8:00-20:00", "south": "Mon-Fri 9:00-18:00"}[branch]


@mcp.tool()
def refill(rx: str) -> str:
    """Refill a prescription."""
    return f"Prescription {rx} was refilled"


if __name__ == "__main__":
    mcp.run()
