"""An MCP server with sixty tools over made-up office data: twelve kinds of things, five tools each."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

from pydantic import Field

from naru.builtins.serve import run_stdio
from naru.tools.functions.function_tool import FunctionTool
from naru.tools.functions.toolset import FunctionToolset

KINDS = {
    "project": ("PRJ", ["Harbor rebuild", "Night ferry", "River sensors", "Solar roof"]),
    "invoice": ("INV", ["Paper", "Steel cable", "Catering", "Fuel"]),
    "ticket": ("TIC", ["Printer offline", "Login fails", "Slow network", "Broken chair"]),
    "device": ("DEV", ["Laptop 14", "Label printer", "Barcode scanner", "Projector"]),
    "room": ("ROM", ["Blue room", "Library", "Workshop", "Auditorium"]),
    "vendor": ("VEN", ["Hanbit Paper", "Nordic Steel", "Green Catering", "Sun Fuel"]),
    "order": ("ORD", ["Desk lamps", "Rope", "Life vests", "Paint"]),
    "shipment": ("SHP", ["Busan crate", "Incheon pallet", "Jeju box", "Osaka container"]),
    "course": ("CRS", ["First aid", "Welding", "Korean writing", "Data basics"]),
    "contract": ("CON", ["Cleaning", "Security", "Elevator care", "Insurance"]),
    "vehicle": ("VEH", ["White van", "Red truck", "Forklift", "Electric car"]),
    "event": ("EVT", ["Open day", "Fire drill", "Summer party", "Board meeting"]),
}
STATUS = ["open", "closed", "waiting", "approved"]
OWNERS = ["Mina Park", "Tom Reed", "김서준", "Ada Kim"]


def rows(kind: str) -> list[dict[str, Any]]:
    """Return the four things of a kind."""
    prefix, names = KINDS[kind]
    start = 100 + 10 * list(KINDS).index(kind)
    return [
        {
            "id": f"{prefix}-{start + at}",
            "name": name,
            "status": STATUS[(at + start // 10) % 4],
            "owner": OWNERS[(at + start // 10 + 1) % 4],
            "amount": (at + 1) * 137 + start,
        }
        for at, name in enumerate(names)
    ]


def tools_of(kind: str) -> list[FunctionTool]:
    """Return the five tools of a kind."""
    prefix = KINDS[kind][0]
    identifier = Annotated[str, Field(description=f"Id of the {kind}: {prefix}, a dash and three digits.")]

    def get(id: str) -> dict[str, Any]:  # noqa: A002 - the tool's own parameter
        for row in rows(kind):
            if row["id"] == id.strip().upper():
                return row
        raise LookupError(f"There is no {kind} {id}.")

    def listed() -> list[dict[str, Any]]:
        return [{"id": row["id"], "name": row["name"]} for row in rows(kind)]

    def search(query: Annotated[str, Field(description=f"Words of the {kind}'s name.")]) -> list[dict[str, Any]]:
        words = query.lower().split()
        return [row for row in rows(kind) if any(word in row["name"].lower() for word in words)]

    def count(status: Annotated[str, Field(description="open, closed, waiting or approved.")]) -> int:
        return sum(row["status"] == status for row in rows(kind))

    def delete(id: str) -> str:  # noqa: A002 - the tool's own parameter
        return f"{kind} {id} deleted."

    get.__annotations__["id"] = identifier
    delete.__annotations__["id"] = identifier
    named = {
        f"get_{kind}": (get, f"Get one {kind} by id: name, status, owner, amount."),
        f"list_{kind}s": (listed, f"List the id and name of every {kind}."),
        f"search_{kind}s": (search, f"Search {kind}s by name."),
        f"count_{kind}s_by_status": (count, f"Count the {kind}s with a status."),
        f"delete_{kind}": (delete, f"Delete a {kind} for ever."),
    }
    made = []
    for name, (function, text) in named.items():
        function.__name__, function.__doc__ = name, inspect.cleandoc(text)
        made.append(FunctionTool(function))
    return made


def toolset() -> FunctionToolset:
    """Return all sixty."""
    return FunctionToolset([tool for kind in KINDS for tool in tools_of(kind)])


if __name__ == "__main__":
    run_stdio(toolset, name="office")
