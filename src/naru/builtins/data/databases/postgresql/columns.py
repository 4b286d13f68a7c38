"""What a result's columns are: names and types, as PostgreSQL describes them."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg.pq.abc import PGresult

NUMERIC = 1700


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result."""

    name: str
    type_code: int
    """The type's OID."""
    modifier: int = -1
    """The type's modifier, such as precision and scale; -1 is none."""

    @property
    def precision(self) -> int | None:
        """Digits of a numeric column; None when it has no bound or is of another type."""
        return (self.modifier - 4) >> 16 & 0xFFFF if self.type_code == NUMERIC and self.modifier >= 4 else None


def columns_of(result: PGresult) -> list[ResultColumn]:
    """Read a result's description."""
    return [
        ResultColumn((result.fname(place) or b"").decode(), result.ftype(place), result.fmod(place))
        for place in range(result.nfields)
    ]
