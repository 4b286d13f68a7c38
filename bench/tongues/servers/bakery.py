"""A bakery: breads, orders for collection, customers, ovens; what is not there is said in plain text."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

PRODUCTS = [
    {"product": "rye loaf", "price": 4.9, "weight_g": 1000, "allergens": ["rye", "wheat"], "left_today": 12},
    {"product": "seed roll", "price": 1.1, "weight_g": 80, "allergens": ["wheat", "sesame"], "left_today": 54},
    {
        "product": "almond croissant",
        "price": 3.4,
        "weight_g": 95,
        "allergens": ["wheat", "milk", "nuts"],
        "left_today": 0,
    },
    {"product": "cheesecake", "price": 28, "weight_g": 1600, "allergens": ["milk", "egg"], "left_today": 3},
]
ORDERS = {
    "5101": {"order": 5101, "customer": "c-17", "items": ["2 rye loaf"], "pick_up": "2026-12-04 07:30", "paid": True},
    "5102": {
        "order": 5102,
        "customer": "c-22",
        "items": ["1 cheesecake"],
        "pick_up": "2026-12-05 16:00",
        "paid": False,
    },
}
CUSTOMERS = {
    "c-17": {"id": "c-17", "name": "Marta Klein", "phone": "0664 311", "points": 240},
    "c-22": {"id": "c-22", "name": "오세훈", "phone": "0664 902", "points": 35},
}
OVENS = {"1": {"oven": 1, "celsius": 238, "inside": "rye loaf", "ready_at": "05:50"}}


def list_products() -> list[dict]:
    """All goods with price, weight, allergens and how many are left today."""
    return PRODUCTS


def get_order(order_number: int) -> dict | str:
    """An order for collection: customer, goods, time of pick-up, whether it is paid."""
    return ORDERS.get(str(order_number)) or f"Order {order_number} does not exist."


def get_customer(customer_id: Annotated[str, Field(examples=["c-01"])]) -> dict | str:
    """Name, phone and bonus points of a customer."""
    return CUSTOMERS.get(customer_id.casefold()) or f"Customer {customer_id} does not exist."


def search_customers(text: str) -> list[dict] | str:
    """Find customers by a part of their name."""
    found = [
        {"id": one["id"], "name": one["name"]}
        for one in CUSTOMERS.values()
        if text.casefold() in str(one["name"]).casefold()
    ]
    return found or "No customer matches."


def oven_state(oven: int) -> dict | str:
    """Temperature of an oven, what is in it and when that is ready."""
    return OVENS.get(str(oven)) or f"Oven {oven} is cold."


def place_order(customer_id: str, product: str, pieces: int) -> dict:
    """Order goods for a customer."""
    return {"ordered": product, "pieces": pieces, "customer": customer_id}


TOOLS = (list_products, get_order, get_customer, search_customers, oven_state, place_order)
