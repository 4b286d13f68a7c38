"""Composition root: opens everything in order and closes it in reverse. No logic lives here."""

from __future__ import annotations

from naru.config import Settings


class Hub:
    """Everything that the faces serve."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
