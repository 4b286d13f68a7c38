"""What all groups of settings have in common: unknown keys are refused."""

from __future__ import annotations

from pydantic import ConfigDict


def _dashed(name: str) -> str:
    return name.replace("_", "-")


SECTION = ConfigDict(extra="forbid")
DASHED = ConfigDict(**SECTION, alias_generator=_dashed, populate_by_name=True)
"""Keys may be written with `-` or `_`, also where a variable holds the group as JSON."""
