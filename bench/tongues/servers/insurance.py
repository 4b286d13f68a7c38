"""An insurer: policies, claims, adjusters, workshops, with descriptions and annotations as real servers have them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

POLICIES = {
    "KV-20031": {
        "policy_id": "KV-20031",
        "holder": "Nora Lind",
        "kind": "household",
        "yearly_premium": 184,
        "deductible": 150,
    },
    "KV-20077": {
        "policy_id": "KV-20077",
        "holder": "김하늘",
        "kind": "car",
        "yearly_premium": 612.4,
        "deductible": 500,
    },
}
CLAIMS = {
    "731": {
        "claim_id": 731,
        "policy_id": "KV-20077",
        "cause": "hail",
        "amount": 2350,
        "status": "approved",
        "adjuster_id": 52,
    },
    "744": {
        "claim_id": 744,
        "policy_id": "KV-20031",
        "cause": "burst pipe",
        "amount": 4100,
        "status": "open",
        "adjuster_id": 58,
    },
}
ADJUSTERS = {
    "52": {"adjuster_id": 52, "name": "Ruth Okafor", "city": "Bremen"},
    "58": {"adjuster_id": 58, "name": "Pavel Hora", "city": "Brno"},
}
WORKSHOPS = [
    {"workshop": "AutoFix", "city": "Bremen", "next_slot": "2026-12-03"},
    {"workshop": "Karosserie Lang", "city": "Bremen", "next_slot": "2026-12-11"},
    {"workshop": "Dilna Novak", "city": "Brno", "next_slot": "2026-12-01"},
]


def get_policy(policy_id: Annotated[str, Field(description="Policy number, e.g. KV-00000")]) -> dict:
    """Retrieve a policy by its number. Returns holder, kind, yearly premium and deductible in EUR."""
    found = POLICIES.get(policy_id.upper())
    return {"success": True, "data": found} if found else {"success": False, "error": "policy_not_found"}


def get_claim(claim_id: int) -> dict:
    """Retrieve a damage claim. Returns the policy, cause, amount in EUR, status and the adjuster in charge."""
    found = CLAIMS.get(str(claim_id))
    return {"success": True, "data": found} if found else {"success": False, "error": "claim_not_found"}


def get_adjuster(adjuster_id: int) -> dict:
    """Retrieve an adjuster (the person who assesses damages) by id."""
    found = ADJUSTERS.get(str(adjuster_id))
    return {"success": True, "data": found} if found else {"success": False, "error": "adjuster_not_found"}


def find_workshops(city: Annotated[str, Field(description="City, in English or German")]) -> dict:
    """List partner repair shops in a city with their next free appointment."""
    found = [one for one in WORKSHOPS if one["city"].casefold() == city.casefold()]
    return {"success": True, "data": found, "count": len(found)}


def report_damage(policy_id: str, cause: str) -> dict:
    """File a new damage claim for a policy."""
    return {"success": True, "data": {"claim_id": 790}}


TOOLS = (get_policy, get_claim, get_adjuster, find_workshops, report_damage)
