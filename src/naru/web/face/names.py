"""The names of models: those of the backend, those that ask for more with it, and aliases."""

from __future__ import annotations

import time
from collections.abc import Sequence

from naru.errors import NaruError
from naru.persons import Reach, reach
from naru.web.face.hub import ChatHub

HUB_TOOLS_SUFFIX = "+tools"
"""Asks for the hub's tools in the model's name, for clients that can add neither a field nor a header."""
VOID_SUFFIX = "-4o"
"""Void reads `tool_calls` of models whose name it takes for OpenAI's, and of no others."""
_FRESH_SECONDS = 30.0
_MOST_KEPT = 256


class ModelNames:
    """Knows which names stand for which model."""

    def __init__(self, hub: ChatHub) -> None:
        self._hub = hub
        self._known: dict[Reach, tuple[Sequence[str], float]] = {}
        """The models that those see who may see the same, and until when that is good."""

    async def resolve(self, name: str) -> tuple[str, bool]:
        """Return the model that a name stands for, and whether the name was Void's alias."""
        aliases = self._hub.settings.chat.aliases
        if name in aliases:
            return aliases[name], False
        if not name.endswith(VOID_SUFFIX):
            return name, False
        model = name.removesuffix(VOID_SUFFIX)
        try:
            real = await self._real()
        except NaruError:  # Whether it is one is then told by asking for it.
            return name, False
        if name in real or (model not in real and model not in aliases):
            return name, False
        return aliases.get(model, model), True

    async def chosen(self, name: str) -> str:
        """Return the model of a request: the one it names, else that of the settings, else the first; empty for none.

        The last two as far as the person may see them.
        """
        own = self._hub.settings.model.model
        if name or (own and reach().model(own)):
            return name or own
        try:
            return next(iter(await self._real()), "")
        except NaruError:  # The question will say so, or another endpoint answers it.
            return ""

    async def all(self) -> list[str]:
        """Return every name that may be asked for: the models first, then what stands for them."""
        self._known.pop(reach(), None)
        models = list(await self._real())
        known = dict.fromkeys(models)
        seen = reach()
        aliases = [name for name, model in self._hub.settings.chat.aliases.items() if seen.model(model)]
        for name in [*models, *aliases]:
            plain = [name, name + HUB_TOOLS_SUFFIX]
            void = [] if name.endswith(VOID_SUFFIX) else [name + VOID_SUFFIX, name + VOID_SUFFIX + HUB_TOOLS_SUFFIX]
            known.update(dict.fromkeys(plain + void))
        return list(known)

    async def _real(self) -> Sequence[str]:
        now, seen = time.monotonic(), reach()
        models, until = self._known.get(seen, ((), 0.0))
        if now >= until:
            models = await self._hub.backend.models()
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[seen] = (models, now + _FRESH_SECONDS)
        return models
