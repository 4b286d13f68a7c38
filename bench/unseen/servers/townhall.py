"""Sixty-six small tools of many offices, one table each: get, find and count; few words to tell them apart by."""

from __future__ import annotations

import json
from collections.abc import Callable

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("townhall")

TABLES: dict[str, dict[str, dict]] = {
    "permit": {"P-301": {"holder": "Olga Stein", "kind": "building", "valid_until": "2027-03-31"}},
    "parcel": {"L-17": {"owner": "Jonas Weber", "area_m2": 820, "street": "Mill Lane 4"}},
    "vehicle_tax": {"V-88": {"plate": "AB 1234", "amount": 146, "due": "2027-01-15"}},
    "bus_stop": {"B-5": {"name": "Market Square", "lines": "2, 7", "shelter": "yes"}},
    "library_card": {"K-40": {"holder": "Pia Lang", "expires": "2027-05-01", "fees": 3.5}},
    "playground": {"G-2": {"name": "Oak Park", "age": "3-12", "last_check": "2026-09-14"}},
    "street_lamp": {"S-77": {"street": "Harbour Road", "watts": 60, "state": "broken"}},
    "waste_route": {"W-3": {"district": "North", "weekday": "Tuesday", "driver": "Sam Roy"}},
    "market_stall": {"M-9": {"trader": "Ines Costa", "goods": "cheese", "weekly_rent": 45}},
    "school": {"H-1": {"name": "Lindenhof School", "pupils": 412, "principal": "Dr. Amann"}},
    "kindergarten": {"N-6": {"name": "Little Fox", "places": 60, "free_places": 4}},
    "museum": {"U-1": {"name": "Clock Museum", "closed_on": "Monday", "ticket_price": 6}},
    "dog_licence": {"D-12": {"dog": "Bruno", "owner": "Karl Pohl", "breed": "beagle"}},
    "swimming_pool": {"A-4": {"name": "South Pool", "water_degrees": 26, "lanes": 8}},
    "fire_hydrant": {"F-21": {"street": "Church Street", "pressure_bar": 6, "checked": "2026-10-02"}},
    "tree": {"T-150": {"species": "lime", "planted": 1954, "place": "Town Hall"}},
    "bridge": {"R-3": {"name": "Old Bridge", "load_tons": 12, "built": 1887}},
    "water_meter": {"Q-66": {"reading_m3": 1042, "household": "Berg", "installed": "2019-06-01"}},
    "meeting": {"C-8": {"topic": "New tram line", "date": "2026-12-14", "room": "Blue Hall"}},
    "grant": {"X-4": {"recipient": "Choir Cantabile", "sum": 2500, "year": 2026}},
    "lost_item": {"Y-31": {"item": "red umbrella", "found_at": "Bus 7", "keeper": "Desk 2"}},
    "parking_zone": {"Z-1": {"name": "Centre", "hourly_fee": 2.2, "spaces": 310}},
}


def _add(kind: str, table: dict[str, dict]) -> None:
    words = kind.replace("_", " ")

    def get(id: str) -> str:
        if id not in table:
            raise ToolError(f"No {words} with id {id}")
        return json.dumps({"id": id, **table[id]})

    def find(text: str) -> str:
        found = [{"id": key, **row} for key, row in table.items() if text.lower() in json.dumps(row).lower()]
        return json.dumps(found)

    def count() -> str:
        return str(len(table))

    offered: list[tuple[str, Callable, str]] = [
        (f"{kind}_get", get, f"Record of one {words} by its id."),
        (f"{kind}_find", find, f"Find records of kind {words} that hold a text."),
        (f"{kind}_count", count, f"Number of {words} records."),
    ]
    for name, function, description in offered:
        mcp.add_tool(function, name=name, description=description)


for one, rows in TABLES.items():
    _add(one, rows)


if __name__ == "__main__":
    mcp.run()
