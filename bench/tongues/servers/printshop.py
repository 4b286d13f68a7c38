"""A print shop: jobs, machines, paper in store, prices."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

JOBS = {
    "JOB-881": {
        "job": "JOB-881",
        "title": "Spring catalogue",
        "copies": 4000,
        "machine": "heron",
        "state": "printing",
        "due": "2026-12-02",
    },
    "JOB-884": {
        "job": "JOB-884",
        "title": "Menu cards",
        "copies": 150,
        "machine": "finch",
        "state": "waiting for proof",
        "due": "2026-12-09",
    },
}
MACHINES = {
    "heron": {"machine": "heron", "operator": "Babak Rezaei", "pages_per_hour": 9000, "toner_percent": 8},
    "finch": {"machine": "finch", "operator": "Greta Holm", "pages_per_hour": 2400, "toner_percent": 64},
}
PAPER = [
    {"paper": "glossy A4", "sheets": 18000, "shelf": "3B"},
    {"paper": "matte A3", "sheets": 2200, "shelf": "1A"},
    {"paper": "recycled A4", "sheets": 350, "shelf": "3C"},
]
PRICES = {"poster": 6.5, "flyer": 0.12, "book": 11.8}


def job(job: Annotated[str, Field(examples=["JOB-000"])]) -> dict:
    """Title, copies, machine, state and due date of a print job."""
    return JOBS.get(job.upper()) or {"error": "no such job"}


def machine(name: Annotated[str, Field(description="Name of the machine")]) -> dict:
    """Operator, speed and toner of a printing machine."""
    return MACHINES.get(name.casefold()) or {"error": "no such machine"}


def paper_stock() -> list[dict]:
    """Kinds of paper in store, with sheets and shelf."""
    return PAPER


def price_quote(item: Literal["poster", "flyer", "book"], copies: int) -> dict:
    """What copies of something cost together."""
    return {"item": item, "copies": copies, "total": round(PRICES[item] * copies, 2), "currency": "EUR"}


def jobs_of_client(client: str) -> dict:
    """Numbers of a client's jobs."""
    found = {"adler": ["JOB-881"], "bistro luna": ["JOB-884"]}.get(client.casefold(), [])
    return {"client": client, "jobs": found}


def stop_job(job: str) -> dict:
    """Stop a print job."""
    return {"stopped": job}


TOOLS = (job, machine, paper_stock, price_quote, jobs_of_client, stop_job)
