"""A bank's ledger: customer, account, transactions; a filter given as an object."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

mcp = MCPServer("bank")

CUSTOMERS = {
    "C-1001": {"customer_id": "C-1001", "name": "Helena Moreau", "branch": "Riverside"},
    "C-1002": {"customer_id": "C-1002", "name": "박서준", "branch": "Harbour"},
}
ACCOUNTS = {
    "ACC-70010": {"account_id": "ACC-70010", "customer_id": "C-1001", "type": "savings", "balance": 15230.5},
    "ACC-70011": {"account_id": "ACC-70011", "customer_id": "C-1002", "type": "checking", "balance": 842.0},
}
TRANSACTIONS = [
    {"id": "TX1", "account_id": "ACC-70010", "date": "2026-11-02", "amount": -1200.0, "category": "rent"},
    {"id": "TX2", "account_id": "ACC-70010", "date": "2026-11-05", "amount": -64.9, "category": "groceries"},
    {"id": "TX3", "account_id": "ACC-70010", "date": "2026-11-25", "amount": 3900.0, "category": "salary"},
    {"id": "TX4", "account_id": "ACC-70011", "date": "2026-11-12", "amount": -31.5, "category": "groceries"},
]


class Filter(BaseModel):
    """Which transactions are wanted."""

    category: Literal["rent", "groceries", "salary"] | None = None
    since: str | None = Field(None, description="YYYY-MM-DD")


@mcp.tool()
def find_customer(name: str) -> list[dict]:
    """Find customers by name."""
    return [one for one in CUSTOMERS.values() if name.lower() in one["name"].lower()]


@mcp.tool()
def list_accounts(customer_id: Annotated[str, Field(description="Customer id, C-nnnn")]) -> list[dict]:
    """Accounts that belong to a customer."""
    if customer_id not in CUSTOMERS:
        raise ToolError(f"customer {customer_id} does not exist")
    return [
        {"account_id": one["account_id"], "type": one["type"]}
        for one in ACCOUNTS.values()
        if one["customer_id"] == customer_id
    ]


@mcp.tool()
def get_balance(account_id: str) -> dict:
    """Current balance of an account in EUR."""
    if account_id not in ACCOUNTS:
        raise ToolError(f"account {account_id} does not exist")
    return {"account_id": account_id, "balance": ACCOUNTS[account_id]["balance"], "currency": "EUR"}


@mcp.tool()
def list_transactions(account_id: str, filter: Filter | None = None) -> list[dict]:
    """Transactions of an account, optionally filtered by category and first date."""
    if account_id not in ACCOUNTS:
        raise ToolError(f"account {account_id} does not exist")
    wanted = filter or Filter()
    return [
        one
        for one in TRANSACTIONS
        if one["account_id"] == account_id
        and (wanted.category is None or one["category"] == wanted.category)
        and (wanted.since is None or one["date"] >= wanted.since)
    ]


@mcp.tool()
def transfer(from_account: str, to_account: str, amount: float) -> str:
    """Move money from one account to another."""
    return f"Transferred {amount:g} EUR from {from_account} to {to_account}"


if __name__ == "__main__":
    mcp.run()
