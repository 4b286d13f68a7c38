"""A town library: books, members, loans. Eight tools, two of which change something."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

mcp = MCPServer("library")

BOOKS = [
    ("978-0-14-143951-8", "Pride and Prejudice", "Jane Austen", 1813, "A3", 2),
    ("978-0-452-28423-4", "Nineteen Eighty-Four", "George Orwell", 1949, "B1", 0),
    ("978-0-06-112008-4", "To Kill a Mockingbird", "Harper Lee", 1960, "B4", 1),
    ("978-89-364-3426-7", "채식주의자", "한강", 2007, "K2", 3),
    ("978-89-546-8215-3", "작별하지 않는다", "한강", 2021, "K2", 0),
    ("978-0-14-118776-1", "Animal Farm", "George Orwell", 1945, "B1", 4),
]
MEMBERS = {"M-0007": ("Lena Hoffmann", "gold"), "M-0012": ("박지훈", "basic"), "M-0031": ("Omar Diallo", "basic")}
LOANS = [
    ("L-501", "M-0007", "978-0-452-28423-4", date(2026, 10, 4)),
    ("L-502", "M-0012", "978-89-546-8215-3", date(2026, 12, 11)),
    ("L-503", "M-0007", "978-0-06-112008-4", date(2026, 12, 20)),
]
HOURS = {"weekday": "09:00-20:00", "saturday": "10:00-16:00", "sunday": "closed", "holiday": "closed"}


class Book(BaseModel):
    isbn: str
    title: str
    author: str
    year: int
    shelf: str
    copies_available: int


def _book(row: tuple) -> Book:
    return Book(**dict(zip(Book.model_fields, row, strict=True)))


@mcp.tool()
def search_catalog(
    text: Annotated[str, Field(description="Words from the title or the author's name")],
    available_only: bool = False,
) -> list[Book]:
    """Search the catalog for books by title or author."""
    words = text.lower().split()
    found = [_book(row) for row in BOOKS if all(word in f"{row[1]} {row[2]}".lower() for word in words)]
    return [book for book in found if book.copies_available or not available_only]


@mcp.tool()
def get_book(isbn: Annotated[str, Field(description="ISBN-13 with dashes")]) -> Book:
    """Look up one book by ISBN: shelf, year, copies on the shelf now."""
    for row in BOOKS:
        if row[0] == isbn:
            return _book(row)
    raise ToolError(f"No book with ISBN {isbn}")


@mcp.tool()
def find_member(name: str) -> list[dict]:
    """Find library members by (part of) their name. Gives the card number."""
    return [
        {"card": card, "name": full, "level": level}
        for card, (full, level) in MEMBERS.items()
        if name.lower() in full.lower()
    ]


@mcp.tool()
def member_loans(
    card: Annotated[str, Field(description="Card number, e.g. M-0000", pattern=r"^M-\d{4}$")],
) -> list[dict]:
    """Books that a member has on loan, with due dates."""
    if card not in MEMBERS:
        raise ToolError(f"Unknown card {card}")
    titles = {row[0]: row[1] for row in BOOKS}
    return [
        {"loan": loan, "title": titles[isbn], "due": due.isoformat()} for loan, who, isbn, due in LOANS if who == card
    ]


@mcp.tool()
def overdue(
    as_of: Annotated[date | None, Field(description="Day to look at; today when left out")] = None,
) -> list[dict]:
    """List loans whose due date has passed."""
    day = as_of or date(2026, 11, 28)
    return [{"loan": loan, "card": who, "due": due.isoformat()} for loan, who, _, due in LOANS if due < day]


@mcp.tool()
def opening_hours(day_type: Literal["weekday", "saturday", "sunday", "holiday"]) -> str:
    """When the library is open on a kind of day."""
    return HOURS[day_type]


@mcp.tool()
def renew(loan: str, weeks: Annotated[int, Field(ge=1, le=4)] = 2) -> str:
    """Extend a loan by some weeks."""
    for known, _, _, due in LOANS:
        if known == loan:
            return f"{loan} renewed for {weeks} weeks, was due {due}."
    raise ToolError(f"There is no loan {loan}")


@mcp.tool()
def place_hold(isbn: str, card: str) -> str:
    """Reserve a book for a member; they are told when it is back."""
    if card not in MEMBERS or isbn not in {row[0] for row in BOOKS}:
        raise ToolError("unknown card or ISBN")
    return f"Hold placed on {isbn} for {card}."


if __name__ == "__main__":
    mcp.run()
