"""Model families as rows: a name is matched to the facts about its family."""

from __future__ import annotations

import re

from naru.models.profile import Profile

_ROWS: tuple[tuple[str, Profile], ...] = (
    (
        r"qwen2\.?5[-_ ]?coder.*\b(0\.5|1\.5|3)b",
        Profile(family="qwen2.5-coder", dialect="", guided="grammar", small=True, parallel_calls=False),
    ),
)


def profile_for(model: str) -> Profile:
    """Return the first family whose pattern is found in the model's name, else the careful default."""
    for pattern, profile in _ROWS:
        if re.search(pattern, model, re.IGNORECASE):
            return profile
    return Profile()
