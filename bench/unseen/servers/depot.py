"""A warehouse: items are found by name, and stock, moves and suppliers by their codes."""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("depot")

ITEMS = {
    "SKU-4401": {"name": "Hex bolt M8", "unit_price": 0.35, "supplier_id": "SUP-07", "reorder_level": 500},
    "SKU-4402": {"name": "Copper pipe 15mm", "unit_price": 6.9, "supplier_id": "SUP-09", "reorder_level": 40},
    "SKU-4403": {"name": "절연 테이프", "unit_price": 1.2, "supplier_id": "SUP-07", "reorder_level": 100},
    "SKU-4404": {"name": "Safety goggles", "unit_price": 8.5, "supplier_id": "SUP-11", "reorder_level": 25},
}
STOCK = {"SKU-4401": ("A-12", 2310), "SKU-4402": ("C-03", 18), "SKU-4403": ("B-07", 240), "SKU-4404": ("A-02", 61)}
SUPPLIERS = {
    "SUP-07": {"name": "대한부품", "city": "Incheon", "phone": "032-555-0107", "delivery_days": 3},
    "SUP-09": {"name": "Baltic Metals", "city": "Gdansk", "phone": "+48 58 555 0109", "delivery_days": 12},
    "SUP-11": {"name": "SafeWork", "city": "Leeds", "phone": "+44 113 555 0111", "delivery_days": 6},
}
Sku = Annotated[str, Field(description="Stock keeping unit, for example SKU-0000")]


def _known(table: dict, key: str) -> dict | tuple:
    if key not in table:
        raise ToolError(f"{key} is not on file")
    return table[key]


@mcp.tool()
def find_item(name: Annotated[str, Field(description="Part of the item's name")]) -> list[dict]:
    """Find items by name; gives their SKU."""
    return [
        {"sku": sku, "name": one["name"]} for sku, one in ITEMS.items() if name.casefold() in one["name"].casefold()
    ]


@mcp.tool()
def get_item(sku: Sku) -> dict:
    """Master data of an item: name, unit price, supplier and reorder level."""
    return {"sku": sku, **_known(ITEMS, sku)}


@mcp.tool()
def stock_level(sku: Sku) -> dict:
    """How many pieces of an item are in the warehouse, and in which bin."""
    place, quantity = _known(STOCK, sku)
    return {"sku": sku, "bin": place, "quantity": quantity}


@mcp.tool()
def low_stock() -> list[dict]:
    """Items whose quantity has fallen below the reorder level."""
    return [
        {"sku": sku, "name": one["name"], "quantity": STOCK[sku][1]}
        for sku, one in ITEMS.items()
        if STOCK[sku][1] < one["reorder_level"]
    ]


@mcp.tool()
def get_supplier(supplier_id: str) -> dict:
    """Name, city, phone and delivery time of a supplier."""
    return {"supplier_id": supplier_id, **_known(SUPPLIERS, supplier_id)}


@mcp.tool()
def move_stock(sku: Sku, to_bin: str, quantity: int) -> str:
    """Move pieces of an item to another bin."""
    _known(STOCK, sku)
    return f"Moved {quantity} of {sku} to {to_bin}."


if __name__ == "__main__":
    mcp.run()
