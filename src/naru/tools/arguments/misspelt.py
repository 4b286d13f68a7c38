"""A name that a model wrote for another that is known: told to it with the right one, never dropped in silence."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

_NEAR = 0.75
_FILL = re.compile(r"[^a-z0-9\u0080-\uffff]+")


def meant(name: str, known: Collection[str], given: Collection[str]) -> str:
    """Return the known name, not given as well, that a misspelt one stands for; empty when there is none.

    `userId` and `user-id` are `user_id`; beyond that, most letters have to agree.
    """
    free = {_FILL.sub("", each.casefold()): each for each in known if each not in given}
    plain = _FILL.sub("", name.casefold())
    if plain in free:
        return free[plain]
    near = difflib.get_close_matches(plain, free, n=1, cutoff=_NEAR)
    return free[near[0]] if near else ""
