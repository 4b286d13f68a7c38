"""A clinic with forty-eight look-alike tools: patients, doctors, visits, beds, drugs, lab tests, bills, suppliers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("clinic")

DATA: dict[str, dict[str, dict[str, Any]]] = {
    "patient": {
        "PT-2201": {"name": "Greta Olsen", "born": "1988-03-14", "blood_type": "O+", "ward": "East", "doctor": "DR-11"},
        "PT-2202": {"name": "정하늘", "born": "1975-11-02", "blood_type": "AB-", "ward": "West", "doctor": "DR-12"},
        "PT-2203": {"name": "Luis Ortega", "born": "2001-07-30", "blood_type": "A+", "ward": "East", "doctor": "DR-11"},
    },
    "doctor": {
        "DR-11": {"name": "Helen Brandt", "specialty": "cardiology", "pager": "5-117"},
        "DR-12": {"name": "오세진", "specialty": "dermatology", "pager": "5-204"},
    },
    "visit": {
        "VS-71": {"patient": "PT-2201", "day": "2026-11-20", "reason": "chest pain", "outcome": "ECG normal"},
        "VS-72": {"patient": "PT-2202", "day": "2026-11-23", "reason": "rash", "outcome": "ointment"},
    },
    "bed": {
        "B-04": {"ward": "East", "state": "occupied", "patient": "PT-2201"},
        "B-05": {"ward": "East", "state": "free", "patient": None},
        "B-17": {"ward": "West", "state": "cleaning", "patient": None},
    },
    "drug": {
        "RX-300": {"name": "Amoxil", "strength_mg": 500, "in_stock": 140, "supplier": "SU-2"},
        "RX-301": {"name": "Lisinopril", "strength_mg": 10, "in_stock": 0, "supplier": "SU-1"},
    },
    "lab_test": {
        "LT-9": {"name": "Blood count", "patient": "PT-2203", "state": "ready", "result": "hemoglobin 13.9"},
        "LT-10": {"name": "Allergy panel", "patient": "PT-2202", "state": "pending", "result": None},
    },
    "bill": {
        "BL-880": {"patient": "PT-2201", "total": 320.5, "paid": False},
        "BL-881": {"patient": "PT-2202", "total": 75.0, "paid": True},
    },
    "supplier": {
        "SU-1": {"name": "Medika AG", "phone": "044-555-01", "delivery_days": 4},
        "SU-2": {"name": "한빛제약", "phone": "02-555-77", "delivery_days": 2},
    },
}
WORDS = {"lab_test": "lab test"}


def _add(name: str, text: str, function: Callable[..., Any]) -> None:
    function.__name__ = name
    mcp.add_tool(function, name=name, description=text)


def _tools(kind: str) -> None:
    rows, said = DATA[kind], WORDS.get(kind, kind)
    key = f"{kind}_id"

    def details(record_id: str) -> dict[str, Any]:
        if record_id not in rows:
            raise ToolError(f"{said} {record_id} not found")
        return {"id": record_id, **rows[record_id]}

    def every(page: int = 1) -> list[str]:
        return [f"{one}: {row.get('name') or row.get('ward') or row.get('patient')}" for one, row in rows.items()]

    def by_text(query: str) -> list[dict[str, Any]]:
        return [{"id": one, **row} for one, row in rows.items() if query.lower() in str(row.values()).lower()]

    def how_many() -> int:
        return len(rows)

    def update(record_id: str, field: str, value: str) -> str:
        return f"{said} {record_id}: {field} is now {value}"

    def remove(record_id: str) -> str:
        return f"{said} {record_id} archived"

    for function in (details, update, remove):
        function.__annotations__["record_id"] = Annotated[
            str, Field(description=f"{key.replace('_', ' ')}, like {next(iter(rows))[:3]}…")
        ]
    _add(f"{kind}_details", f"Read the record of one {said}.", details)
    _add(f"{kind}_list", f"Names of every {said} on file.", every)
    _add(f"find_{kind}", f"Full-text search among {said} records.", by_text)
    _add(f"{kind}_count", f"How many {said} records exist.", how_many)
    _add(f"update_{kind}", f"Change a field of a {said} record.", update)
    _add(f"archive_{kind}", f"Archive a {said} record.", remove)


for _kind in DATA:
    _tools(_kind)


if __name__ == "__main__":
    mcp.run()
