"""What Naru tells beside an answer: what was left out or changed on the way, why a run ended as it did."""

from __future__ import annotations

from naru.agent.events import RunFinished
from naru.messages import JsonObject, Notice
from naru.stores.secrets.redact import REDACTOR

FIELD = "naru"
"""At the top of an answer, in every API: a field that its official packages pass over, and that nobody else has."""


class Notes:
    """Collects them, for APIs that have no place of their own for it."""

    def __init__(self) -> None:
        self._said: list[str] = []

    def take(self, event: Notice | RunFinished) -> None:
        """Take what an event tells, if anything."""
        self._said.append(said_by(event))

    @property
    def fields(self) -> JsonObject:
        """What stands at the top of the answer; nothing where nothing is told."""
        said = "; ".join(filter(None, self._said))
        return {FIELD: {"note": said}} if said else {}


def said_by(event: Notice | RunFinished) -> str:
    """Return what an event tells; it may quote a provider's own words (S-67)."""
    return REDACTOR.clean(event.text if isinstance(event, Notice) else event.note)
