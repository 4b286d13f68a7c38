"""A plant nursery: plants, greenhouses, gardeners, orders."""

from __future__ import annotations

PLANTS = {
    "lavender": {"plant": "Lavender", "price": 4.9, "in_stock": 310, "greenhouse": "G2", "light": "full sun"},
    "fern": {"plant": "Fern", "price": 7.2, "in_stock": 45, "greenhouse": "G5", "light": "shade"},
    "olive tree": {"plant": "Olive tree", "price": 129.0, "in_stock": 6, "greenhouse": "G2", "light": "full sun"},
}
HOUSES = {
    "G2": {"greenhouse": "G2", "celsius": 21.5, "humidity_percent": 48, "gardener": "Wanda Ruiz"},
    "G5": {"greenhouse": "G5", "celsius": 17.0, "humidity_percent": 83, "gardener": "Piet Mulder"},
}
GARDENERS = {
    "wanda ruiz": {"gardener": "Wanda Ruiz", "phone": "3391", "days": "Mon-Thu"},
    "piet mulder": {"gardener": "Piet Mulder", "phone": "3347", "days": "Wed-Sun"},
}
ORDERS = {
    6601: {"order_no": 6601, "customer": "Hotel Sirius", "plant": "Fern", "pieces": 12, "delivery": "2026-12-08"},
    6607: {"order_no": 6607, "customer": "Aya Nomura", "plant": "Olive tree", "pieces": 1, "delivery": "2026-12-15"},
}


def plant(name: str) -> dict:
    """A plant: price, pieces in stock, greenhouse, light that it needs."""
    return PLANTS.get(name.casefold()) or {"found": False}


def greenhouse(code: str) -> dict:
    """A greenhouse: temperature, humidity, gardener."""
    return HOUSES.get(code.upper()) or {"found": False}


def gardener(name: str) -> dict:
    """A gardener: phone number, working days."""
    return GARDENERS.get(name.casefold()) or {"found": False}


def plant_order(order_no: int) -> dict:
    """An order: customer, plant, pieces, day of delivery."""
    return ORDERS.get(order_no) or {"found": False}


def watering(greenhouse: str) -> dict:
    """When a greenhouse was watered last, and how many litres that took."""
    last = {"G2": ("2026-11-29 06:30", 420), "G5": ("2026-11-28 19:00", 760)}.get(greenhouse.upper())
    return {"greenhouse": greenhouse, "last": last[0], "litres": last[1]} if last else {"found": False}


def postpone_delivery(order_no: int, day: str) -> dict:
    """Put the delivery of an order off to another day."""
    return {"order_no": order_no, "delivery": day}


TOOLS = (plant, greenhouse, gardener, plant_order, watering, postpone_delivery)
