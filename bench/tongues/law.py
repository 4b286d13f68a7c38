"""The law, read off a run's record: every call that ran was written by the model in that round."""

from __future__ import annotations

from naru.messages import JsonObject


class Kept:
    """A journal for one run."""

    def __init__(self) -> None:
        self.run: JsonObject = {}

    async def save(self, run: JsonObject) -> None:
        self.run = run


def breaches(run: JsonObject) -> list[JsonObject]:
    """Return the calls that ran and that the model did not write in their round, or whose writer is not told."""
    found = []
    for one in run.get("rounds", ()):
        written = {call["id"] for call in one.get("written", ())}
        found += [
            call
            for call in one["calls"]
            if call["ran"] and (call["id"] not in written or call.get("writer") not in ("model", "grammar"))
        ]
    return found
