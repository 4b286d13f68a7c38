"""A power supplier: contracts, meter readings, tariffs, outages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

CUSTOMERS = {
    "K20418": {
        "customer": "K20418",
        "name": "Marta Kowalska",
        "meter": "MZ-5580",
        "tariff": "Green12",
        "address": "Mill Lane 3",
    },
    "K20977": {
        "customer": "K20977",
        "name": "Luca Ferri",
        "meter": "MZ-6127",
        "tariff": "Basic",
        "address": "Dock Street 18",
    },
}
READINGS = {
    ("MZ-5580", "2026-10"): 214.5,
    ("MZ-5580", "2026-11"): 268.0,
    ("MZ-6127", "2026-10"): 97.2,
    ("MZ-6127", "2026-11"): 120.8,
}
TARIFFS = {
    "Green12": {"cents_per_kwh": 31.4, "base_fee_euros": 12.9, "months": 12},
    "Basic": {"cents_per_kwh": 34.8, "base_fee_euros": 8.5, "months": 1},
}
OUTAGES = {"Riverside": {"district": "Riverside", "cause": "cable fault", "back_at": "17:40", "homes": 212}}


def customer(customer_id: Annotated[str, Field(pattern="^K[0-9]{5}$")]) -> dict:
    """A customer's name, address, tariff and meter number."""
    return CUSTOMERS.get(customer_id) or {"error": f"Customer {customer_id} is not known."}


def search_customers(name: str) -> dict:
    """Search customers by name; gives customer ids."""
    found = [
        {"customer_id": key, "name": one["name"]}
        for key, one in CUSTOMERS.items()
        if name.casefold() in one["name"].casefold()
    ]
    return {"results": found, "total": len(found)}


def consumption(
    meter: Annotated[str, Field(description="Meter number, MZ-0000")],
    month: Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}$", description="YYYY-MM")],
) -> dict:
    """Electricity used at a meter in one month, in kWh."""
    used = READINGS.get((meter, month))
    return (
        {"error": f"No reading of {meter} for {month}."}
        if used is None
        else {"meter": meter, "month": month, "kwh": used}
    )


def tariff(name: Annotated[str, Field(json_schema_extra={"enum": list(TARIFFS)})]) -> dict:
    """Price per kWh, base fee and term of a tariff."""
    return {"tariff": name, **TARIFFS[name]}


def outage(district: str) -> dict:
    """Tell whether the power is out in a district, why, and when it comes back."""
    return OUTAGES.get(district) or {"district": district, "outage": None}


def change_tariff(
    customer_id: Annotated[str, Field(pattern="^K[0-9]{5}$")],
    tariff: Annotated[str, Field(json_schema_extra={"enum": list(TARIFFS)})],
) -> dict:
    """Put a customer on another tariff from next month on."""
    return {"customer": customer_id, "new_tariff": tariff}


TOOLS = (customer, search_customers, consumption, tariff, outage, change_tariff)
