"""An auction house: lots, bidders, sellers, viewing days; things are numbered without letters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

LOTS = {
    17: {"lot": 17, "title": "Walnut writing desk", "estimate": 900, "highest_bid": 1150, "paddle": 208},
    23: {"lot": 23, "title": "Silver teapot", "estimate": 400, "highest_bid": 380, "paddle": 231},
    40: {"lot": 40, "title": "Portrait of a fisherman", "estimate": 5200, "highest_bid": None, "paddle": None},
}
SELLERS = {17: "Clara Boyd", 23: "Estate of H. Lorenz", 40: "Clara Boyd"}
BIDDERS = {
    208: {"paddle": 208, "name": "Yusuf Demir", "city": "Izmir", "limit": 4000},
    231: {"paddle": 231, "name": "Greta Holm", "city": "Malmo", "limit": 1500},
}


def find_lots(words: Annotated[str, Field(description="Words of the title")]) -> list:
    """Find what is for sale, by words of its title."""
    return [
        {"lot": one["lot"], "title": one["title"]}
        for one in LOTS.values()
        if all(word in one["title"].casefold() for word in words.casefold().split())
    ]


def get_lot(lot: int) -> dict:
    """One lot: title, estimate, highest bid so far and the paddle that made it."""
    return LOTS.get(lot) or {"error": f"There is no lot {lot}."}


def seller_of(lot: int) -> dict:
    """Who brought a lot in."""
    return {"lot": lot, "seller": SELLERS.get(lot)}


def get_bidder(paddle: int) -> dict:
    """Who holds a paddle, where they live and how much they may spend."""
    return BIDDERS.get(paddle) or {"error": f"Nobody holds paddle {paddle}."}


def viewing_hours(day: Literal["friday", "saturday", "sunday"]) -> dict:
    """When the things can be looked at before they are sold."""
    opens, closes = {"friday": ("14:00", "20:00"), "saturday": ("10:00", "18:00"), "sunday": ("11:00", "16:00")}[day]
    return {"day": day, "opens": opens, "closes": closes}


def place_bid(lot: int, amount: float) -> dict:
    """Bid on a lot."""
    return {"lot": lot, "bid": amount}


def withdraw_lot(lot: int) -> dict:
    """Take a lot out of the sale."""
    return {"lot": lot, "withdrawn": True}


TOOLS = (find_lots, get_lot, seller_of, get_bidder, viewing_hours, place_bid, withdraw_lot)
