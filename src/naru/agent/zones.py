"""Time zones in IANA's form, by their name or a city."""

from __future__ import annotations

import re
from functools import lru_cache
from zoneinfo import available_timezones

from naru.agent.sources import unique

_CONTINENTS = frozenset("Africa America Antarctica Asia Atlantic Australia Europe Indian Pacific".split())


@lru_cache(maxsize=1)
def _cities() -> dict[str, str]:
    return {
        zone.rsplit("/", 1)[-1].replace("_", " "): zone
        for zone in sorted(available_timezones())
        if zone.partition("/")[0] in _CONTINENTS
    }


def is_zone(value: str) -> bool:
    """Tell whether this is an IANA time zone."""
    return value in available_timezones()


def zones_in(question: str) -> list[str]:
    """Return the time zones that a question names, in IANA's form or by their city."""
    written = re.findall(r"\b[A-Z][A-Za-z]+/[A-Z][A-Za-z_+-]+|\bUTC\b", question, re.ASCII)
    if written:
        return unique(written)
    return unique(
        zone
        for city, zone in _cities().items()
        if len(city) > 3 and re.search(rf"\b{re.escape(city)}\b", question, re.ASCII)
    )
