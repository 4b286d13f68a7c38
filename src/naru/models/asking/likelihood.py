"""Which of two words a model is likelier to answer with: read off the likelihoods of its first token."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from naru.messages import ChatRequest, Extra, JsonObject, Message, Text
from naru.models.backend import Backend

LIKELIEST, UNSAID = 20, -20.0
"""Tokens whose likelihood is asked for, as many as endpoints give at most; what a word has that is none of them."""


@dataclass(frozen=True, slots=True)
class OneWord:
    """A question that is answered with a word, shown by examples: text and answer."""

    instruction: str
    examples: Sequence[tuple[str, str]]

    def request(self, model: str, text: str) -> ChatRequest:
        """Return what to ask a model of a text."""
        shown = [Message(*turn) for said, word in self.examples for turn in (("user", said), ("assistant", word))]
        turns = (Message("system", self.instruction), *shown, Message("user", text))
        wanted = {"logprobs": True, "top_logprobs": LIKELIEST}
        return ChatRequest(model, turns, max_tokens=1, temperature=0.0, extra=wanted)


async def odds(backend: Backend, request: ChatRequest, word: str, other: str) -> float | None:
    """Return how much likelier a model begins with one word than with another, as a natural logarithm.

    An endpoint that gives no likelihoods says one of the two. None where it begins with neither. Raises ModelError.
    """
    told: dict[str, float] = {}
    async with aclosing(backend.stream(request)) as events:
        async for event in events:
            if isinstance(event, Text):
                told.setdefault(_plain(event.text), 0.0)
            elif isinstance(event, Extra) and event.place == "choice" and (given := _first_token(event.fields)):
                told = given
    found = [
        max((how for one, how in told.items() if one and each.startswith(one)), default=None) for each in (word, other)
    ]
    first, second = (UNSAID if one is None else one for one in found)
    return None if found == [None, None] else first - second


def _plain(token: Any) -> str:
    return str(token).strip().casefold()


def _first_token(fields: JsonObject) -> dict[str, float]:
    """Return the likelihood of each token that could have come first, as OpenAI and Ollama tell it."""
    match fields:
        case {"logprobs": {"content": [{"top_logprobs": [*likeliest]}, *_]}}:
            return {_plain(one.get("token")): float(one.get("logprob", UNSAID)) for one in reversed(likeliest)}
    return {}
