"""A backend that answers from a script: for tests, demos and replays without a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from naru.errors import ModelError
from naru.messages import ChatEvent, ChatRequest
from naru.models.answers.parsing import answer_reader
from naru.models.known.profile import Profile

Answer = str | Sequence[ChatEvent] | Exception
"""Text (read by the parser like any model's), finished events, or an error to raise."""


class ScriptedBackend:
    """Gives one answer per request, in order; records what it was asked in `requests`."""

    def __init__(
        self,
        answers: Sequence[Answer] | Callable[[ChatRequest], Answer],
        *,
        profile: Profile | None = None,
        model: str = "scripted",
        piece: int = 4,
        repeat_last: bool = False,
    ) -> None:
        """Take the script.

        Args:
            answers: one per request, or a function of the request.
            profile: the family it plays.
            model: the one name it serves.
            piece: characters per delta.
            repeat_last: go on with the last answer when the script is used up, instead of failing.
        """
        self.requests: list[ChatRequest] = []
        self.closed = False
        self._answers = answers
        self._profile = profile or Profile(family="scripted")
        self._model = model
        self._piece = piece
        self._repeat_last = repeat_last

    @property
    def profile(self) -> Profile:
        """The family it plays."""
        return self._profile

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Give the next answer of the script."""
        self.requests.append(request)
        answer = self._next(request)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, str):
            for event in answer:
                yield event
            return
        reader = answer_reader(request, self._profile)
        for start in range(0, len(answer), self._piece):
            for event in reader.text(answer[start : start + self._piece]):
                yield event
        for event in reader.finish("stop"):
            yield event

    def _next(self, request: ChatRequest) -> Answer:
        if callable(self._answers):
            return self._answers(request)
        turn = len(self.requests) - 1
        if turn >= len(self._answers):
            if self._repeat_last and self._answers:
                return self._answers[-1]
            raise ModelError(f"The script has {len(self._answers)} answers, but was asked {turn + 1} times.")
        return self._answers[turn]

    async def models(self) -> Sequence[str]:
        """Return the one name it serves."""
        return [self._model]

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True
