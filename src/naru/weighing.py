"""Whether a tool changes something, and whether a message orders it: the model's own word, by its likelihood (0160)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from naru.agent.closeness import Shelf
from naru.agent.selection import ASKS, ORDERS, UNTOLD, Ranked, named_of
from naru.errors import NaruError, StoreError
from naru.messages import ChatRequest, ToolDefinition
from naru.models.asking.likelihood import OneWord, odds
from naru.models.backend import Backend
from naru.tools.names import own_name

DOES = OneWord(
    "You tell of each function whether calling it only reads (read) or changes something (write). "
    "Answer with one word.",
    (
        ("get_weather: Weather in a city.", "read"), ("book_table: Book a table in a restaurant.", "write"),
        ("convert_length: Turn metres into feet.", "read"), ("close_account: Close an account.", "write"),
        ("opening_hours: When the museum is open.", "read"), ("rename: Give a file another name.", "write"),
        ("find_orders: Orders of a customer.", "read"), ("send_mail: Send a message.", "write"),
        ("tidy_text: Correct the punctuation of a text.", "read"),
        ("flight: Gate, state and free seats of a flight.", "read"),
        ("check_out: Let a guest leave and hand back the deposit.", "write"),
        ("loan: One loan: who has the book, and until when.", "read"),
        ("extend: Give somebody two weeks more.", "write"),
    ),
)  # fmt: skip
WISHES = OneWord(
    "Tell what the person wants: to know something (know), that something is done (do), or just to talk (talk). "
    "Answer with one word.",
    (
        ("When does the museum open on Sunday?", "know"), ("Please cancel my table for tonight.", "do"),
        ("Thanks, have a nice evening!", "talk"), ("Kann Rechnung 88 noch bezahlt werden?", "know"),
        ("회의실 하나 예약해 줄래?", "do"), ("Tell me a joke.", "talk"), ("Is ticket 1190 closed already?", "know"),
        ("Could you lock account 52 for me?", "do"), ("¿Quién vendió el coche?", "know"),
        ("I have moved, so change my address to Elm Street 4.", "do"),
    ),
)  # fmt: skip
KNOWS = -0.6
"""From which log odds a message that may ask or order asks: 24 of 28 such questions, 4 of 17 polite orders."""
MOST, SECONDS, LONGEST = 16, 60.0, 300  # Tools that are weighed, the nearest; how long that may take; letters of one.
LEVEL, SLOPE = 0.14, 0.06
"""What makes log odds comparable with `Ranked.ordered`: of 492 tools that say nothing of themselves, 160 of which
change something, up to -1.5 there are three of those and 313 others; above 0 148 and one (Qwen2.5-Coder 0.5B)."""


class Weighing:
    """Asks a model once for each tool that says nothing of itself, and for a message that may be either."""

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf
        self._known: dict[str, list[float]] = {}  # As shelves keep vectors; empty where a model said neither.

    async def weigh(self, backend: Backend, request: ChatRequest, ranked: Sequence[Ranked]) -> Sequence[Ranked]:
        """Return the tools with what the model takes the nearest and the question for, as far as it tells in time."""
        unsaid = {_key(request.model, one.tool): one for one in ranked[:MOST] if one.says_reading is None}
        knows: float | None = None
        with suppress(NaruError, TimeoutError):
            async with asyncio.timeout(SECONDS):
                await self._learn(backend, request.model, unsaid)
                question = next((one.text for one in reversed(request.messages) if one.role == "user"), "")
                if question and ASKS <= ranked[0].wish <= ORDERS and not ranked[0].is_talk:
                    knows = await odds(backend, WISHES.request(request.model, question), "know", "do")
        told = {one.tool.name: self._known.get(key) or [UNTOLD] for key, one in unsaid.items()}
        wish = 2 * ASKS if knows is not None and knows > KNOWS else ranked[0].wish
        return [replace(one, wish=wish, ordered=told.get(one.tool.name, [UNTOLD])[0]) for one in ranked]

    async def _learn(self, backend: Backend, model: str, unsaid: Mapping[str, Ranked]) -> None:
        """Have the model's word of each tool: from memory, the shelf, else the model itself. Raises NaruError."""
        missing = {key: one.tool for key, one in unsaid.items() if key not in self._known}
        if missing and self._shelf is not None:
            with suppress(StoreError):  # It is asked anew.
                self._known.update(await self._shelf.get(list(missing)))
        for key, tool in missing.items():
            if key not in self._known:
                about = f"{own_name(tool.name)}: {tool.description[:LONGEST]}"
                writes = await odds(backend, DOES.request(model, about), "write", "read")
                self._known[key] = [] if writes is None else [LEVEL + SLOPE * writes]
                if self._shelf is not None and writes is not None:
                    with suppress(StoreError):
                        await self._shelf.put({key: self._known[key]})


def _key(model: str, tool: ToolDefinition) -> str:
    return hashlib.sha256(repr((model, DOES, named_of(tool))).encode("utf-8", "replace")).hexdigest()
