"""Orders of a wholesaler: filters as one object, references between order, customer and product."""

from __future__ import annotations

from typing import Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

mcp = MCPServer("orders")

CUSTOMERS = {"CU-31": {"id": "CU-31", "company": "Baltic Timber", "city": "Gdansk", "contact": "Ewa Nowak"}, "CU-32": {"id": "CU-32", "company": "한빛전자", "city": "Daejeon", "contact": "정하늘"}}  # fmt: skip
PRODUCTS = {"HX-10": {"sku": "HX-10", "name": "Hex bolt M10", "unit_price": 0.18, "in_stock": 9400}, "WD-55": {"sku": "WD-55", "name": "Wood screw 55 mm", "unit_price": 0.05, "in_stock": 0}}  # fmt: skip
ORDERS = {
    88001: {"order_id": 88001, "customer_id": "CU-31", "sku": "WD-55", "quantity": 5000, "status": "pending", "total": 250.0},
    88002: {"order_id": 88002, "customer_id": "CU-32", "sku": "HX-10", "quantity": 1200, "status": "shipped", "total": 216.0},
    88003: {"order_id": 88003, "customer_id": "CU-31", "sku": "HX-10", "quantity": 300, "status": "cancelled", "total": 54.0},
}  # fmt: skip
Status = Literal["pending", "shipped", "cancelled"]


class OrderFilter(BaseModel):
    """Conditions, all optional."""

    status: Status | None = None
    customer_id: str | None = None
    min_total: float | None = None


@mcp.tool()
def query_orders(where: OrderFilter, limit: int = 50) -> list[dict]:
    """Orders that meet the conditions."""
    return [
        one
        for one in ORDERS.values()
        if where.status in (None, one["status"])
        and where.customer_id in (None, one["customer_id"])
        and (where.min_total is None or one["total"] >= where.min_total)
    ][:limit]


@mcp.tool()
def order(order_id: int) -> dict:
    """One order with its customer, product, quantity, status and total."""
    if order_id not in ORDERS:
        raise ToolError(f"order {order_id} not found")
    return ORDERS[order_id]


@mcp.tool()
def customer(customer_id: str) -> dict:
    """Company, city and contact person of a customer."""
    if customer_id not in CUSTOMERS:
        raise ToolError(f"customer {customer_id} not found")
    return CUSTOMERS[customer_id]


@mcp.tool()
def lookup_customer(company: str) -> list[dict]:
    """Find a customer's id by company name."""
    return [{"id": one["id"], "company": one["company"]} for one in CUSTOMERS.values() if company in one["company"]]


@mcp.tool()
def product(sku: str) -> dict:
    """Name, unit price and stock of a product."""
    if sku not in PRODUCTS:
        raise ToolError(f"product {sku} not found")
    return PRODUCTS[sku]


@mcp.tool()
def update_order_status(order_id: int, status: Status) -> str:
    """Set the status of an order."""
    if order_id not in ORDERS:
        raise ToolError(f"order {order_id} not found")
    return f"order {order_id} is now {status}"


if __name__ == "__main__":
    mcp.run()
