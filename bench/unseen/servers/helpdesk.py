"""A help desk whose tools take nested filters, integers and enums. Nine tools."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

mcp = MCPServer("helpdesk")

Status = Literal["new", "in_progress", "solved"]
TICKETS = {
    412: ("VPN drops every hour", "in_progress", 2, "dana", "ACME"),
    413: ("Cannot print invoices", "new", 3, None, "Hanul"),
    418: ("Password reset loop", "solved", 1, "yuki", "ACME"),
    420: ("회의실 화면이 안 켜짐", "new", 1, "dana", "Hanul"),
}
NOTES = {412: ["Router firmware updated", "Still drops on Wi-Fi"], 418: ["Cache cleared, works now"]}
AGENTS = {"dana": ("Dana Ruiz", "network"), "yuki": ("Yuki Tan", "accounts"), "pavel": ("Pavel Novak", "printers")}


class Priority(IntEnum):
    urgent = 1
    normal = 2
    low = 3


class Filter(BaseModel):
    status: Status | None = Field(None, description="state of the ticket")
    assignee: str | None = Field(None, description="login of the agent")
    company: str | None = None


class TicketRow(TypedDict):
    number: int
    subject: str
    status: str


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def search_tickets(filter: Filter, limit: int = 20) -> list[TicketRow]:
    """Search tickets with a filter; leave fields out to match everything."""
    rows = [
        {"number": n, "subject": t[0], "status": t[1]}
        for n, t in TICKETS.items()
        if filter.status in (None, t[1]) and filter.assignee in (None, t[3]) and filter.company in (None, t[4])
    ]
    return rows[:limit]


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def read_ticket(number: Annotated[int, Field(description="ticket number")]) -> dict:
    """Subject, status, priority, assignee and company of a ticket."""
    if number not in TICKETS:
        raise ToolError(f"No ticket with number {number}.")
    return dict(zip(("subject", "status", "priority", "assignee", "company"), TICKETS[number], strict=True))


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def ticket_notes(number: int) -> list[str]:
    """Internal notes written on a ticket, oldest first."""
    return NOTES.get(number, [])


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def who_is(login: Annotated[str, Field(description="agent's login name")]) -> str:
    """Full name and team of a support agent."""
    if login not in AGENTS:
        raise ToolError(f"nobody has the login {login}")
    name, team = AGENTS[login]
    return f"{name}, team {team}"


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def team_members(team: Literal["network", "accounts", "printers"]) -> list[str]:
    """Logins of the agents in a team."""
    return [login for login, (_, of) in AGENTS.items() if of == team]


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def workload(period: Literal["today", "this_week", "this_month"] = "today") -> dict[str, int]:
    """Number of open tickets per agent."""
    return {"dana": 2, "yuki": 0, "pavel": 0} if period == "today" else {"dana": 9, "yuki": 5, "pavel": 3}


@mcp.tool()
def open_ticket(subject: str, company: str, priority: Priority = Priority.normal) -> str:
    """File a new ticket."""
    return f"Ticket 421 filed for {company}: {subject} (priority {priority.value})"


@mcp.tool()
def assign(number: int, login: str) -> str:
    """Give a ticket to an agent."""
    if number not in TICKETS:
        raise ToolError(f"No ticket with number {number}.")
    return f"Ticket {number} is now with {login}."


@mcp.tool()
def close_ticket(number: int, resolution: str = "") -> str:
    """Mark a ticket as solved."""
    return f"Ticket {number} closed."


if __name__ == "__main__":
    mcp.run()
