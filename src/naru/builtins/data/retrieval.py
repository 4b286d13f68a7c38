"""Documents found for a question, put before the model's call (D5): the hook that the seed leaves to its agent."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from naru.errors import NaruError
from naru.messages import ChatRequest, Message

logger = logging.getLogger(__name__)

N_RESULTS = 15
"""Documents per question, as in the seed."""
HEADING = "Retrieved docs relevant to user query: "

BeforeModel = Callable[[ChatRequest], Awaitable[ChatRequest]]
"""Gets a request before the model does, and returns what is sent in its place."""


class DocumentSearch(Protocol):
    """What finds the documents: the data server's sources, or an application's own."""

    async def search(self, queries: Sequence[str], n_results: int) -> list[list[str]]:
        """Return the documents most like each query."""
        ...


def retrieval_hook(sources: DocumentSearch, *, n_results: int = N_RESULTS) -> BeforeModel:
    """Return a hook that looks up the last question and adds what it found.

    A search that fails leaves the request as it was: a model without documents is better than no answer.
    """

    async def before_model(request: ChatRequest) -> ChatRequest:
        question = last_question(request.messages)
        if not question.strip():
            return request
        try:
            documents = (await sources.search([question], n_results))[0]
        except NaruError as error:
            logger.warning("no reference documents for a question: %s", error)
            return request
        return with_documents(request, documents)

    return before_model


def with_documents(request: ChatRequest, documents: Sequence[str]) -> ChatRequest:
    """Add documents as a user turn before the question, so that the question stays last; again, they are replaced."""
    turns = [message for message in request.messages if not _is_retrieved(message)]
    found = Message("user", HEADING + json.dumps(list(documents), ensure_ascii=False))
    at = max((place for place, message in enumerate(turns) if message.role == "user"), default=len(turns))
    return replace(request, messages=(*turns[:at], found, *turns[at:]))


def last_question(messages: Sequence[Message]) -> str:
    """Return the text of the last user turn that is no retrieved documents."""
    asked = (message.text for message in reversed(messages) if message.role == "user" and not _is_retrieved(message))
    return next(asked, "")


def _is_retrieved(message: Message) -> bool:
    return message.role == "user" and message.text.startswith(HEADING)
