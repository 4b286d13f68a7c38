"""What every wire does with what is known of its models: a view of each, and a request's tries until one is taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from naru.errors import ModelError
from naru.messages import ChatRequest, MediaPart, Message
from naru.models.answers.normalise import AnswerReader
from naru.models.answers.parsing import answer_reader
from naru.models.asking.answer_form import form_asked, in_words
from naru.models.asking.call_ids import with_short_ids
from naru.models.asking.offer import Offer, offer
from naru.models.asking.strategy import OF_OLLAMA, OVERRIDE, prepare
from naru.models.backend import Backend
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile
from naru.models.known.trial import Trial
from naru.models.narrowed import Narrowed

_OUR_OWN = frozenset({OVERRIDE, OF_OLLAMA, "parallel_tool_calls"})
"""What is kept here, whatever the endpoint takes."""
_NAMED = 5
"""Tools that are named, of those that are left out."""
_GO_ON = Message("user", "Go on from where your last message ends, without repeating any of it.")
_NO_LIST = frozenset({404, 405, 501})


class Knowing(Backend):
    """A backend of models of which something is known; the part of `Backend` that every wire shares."""

    takes: ClassVar[frozenset[str] | None] = None
    """What a request may set here beside its turns and tools, by the names of chat completions; None is all."""
    forms: ClassVar[frozenset[str]] = frozenset({"text", "json_schema", "json_object"})
    """The kinds of `response_format` that an API has a word for, where `takes` is not all."""
    form_beside_tools: ClassVar[bool] = True
    """An answer may be held to a form where tools are offered; elsewhere no tool could be called."""
    pictures_in_results: ClassVar[bool] = False
    """A tool's result may hold pictures; elsewhere they stand in a user's turn after it."""

    def __init__(self, profile: Profile | Knowledge | None, model: str) -> None:
        self.model = model
        self.knowledge = profile if isinstance(profile, Knowledge) else Knowledge(profile, default_model=model)

    @property
    def profile(self) -> Profile:
        """Facts about the model family behind this endpoint, mended by what it refused."""
        return self.knowledge.of(self.model).profile

    def for_model(self, model: str) -> Backend:
        """Return a view of one model, with its own profile."""
        return self if model in {"", self.model} else Narrowed(self, model, lambda: self.knowledge.of(model).profile)

    def unlisted(self, error: ModelError) -> Sequence[str]:
        """Return the settings' model where an endpoint has no list of models, as Azure's deployments have none.

        Raises:
            ModelError: it may have one, or no model is set.
        """
        if error.status not in _NO_LIST or not self.model:
            raise error
        return [self.model]

    def carries(self, part: MediaPart) -> bool:
        """Tell whether this API has a form for a part."""
        return True

    def leaves_out(self, request: ChatRequest) -> frozenset[str]:
        """Return what this API has no room for in a request, of the names that it takes and of Ollama's own."""
        return frozenset(request.extra.get(OF_OLLAMA, ()))

    def tries(self, request: ChatRequest, schemas: str, where: str) -> Tries:
        """Begin to ask an endpoint, in this form of tool schemas."""
        return Tries(self, request, schemas, where)


class Tries:
    """The forms of one request, one after the other: each further one has taken the last refusal in; see `adapt`."""

    def __init__(self, wire: Knowing, request: ChatRequest, schemas: str, where: str) -> None:
        self.model = request.model or wire.model
        self.learned = wire.knowledge.of(request.model)
        self._wire = wire
        self._schemas = schemas
        self._where = where
        self._asked = request
        self._trial = Trial(self.learned, request, schemas, holds_answer=form_asked(request) is not None)
        self._offered: Offer
        self._sent: ChatRequest

    @property
    def profile(self) -> Profile:
        """The model's, as far as it is known by now."""
        return self.learned.profile

    def next(self) -> tuple[ChatRequest, Offer]:
        """Return the request to send, prepared, and its tools as they are offered."""
        self._offered = offer(self._trial.asked, self._trial.form, self._schemas)
        profile = self.profile
        if self._wire.pictures_in_results and profile.images == "user":
            profile = replace(profile, images="tool")
        request = self._offered.request
        if request.tools and (self._trial.says_form or not self._wire.form_beside_tools):
            request = in_words(request, self._where)
        if self.learned.short_ids:
            request = replace(request, messages=with_short_ids(request.messages))
        if self.learned.ends_with_user and request.messages and request.messages[-1].role == "assistant":
            request = replace(request, messages=[*request.messages, _GO_ON])
        if self.learned.calls_need_tools and not request.tools:
            profile = replace(profile, tool_role=False)
        self._sent = prepare(request, profile, self._wire.carries, endpoint=self._where)
        return self._sent, self._offered

    def refused(self, error: ModelError) -> None:
        """Take a refusal in. Raises ModelError when nothing more can be tried."""
        if error.code == "media_unsupported":
            self.learned.profile = replace(self.profile, sees=False)
        if refused := self._trial.refused(error, self._offered.own_names(self._sent)):
            raise refused from (error if error is not refused else None)

    def taken(self) -> AnswerReader | None:
        """Return the answer's reader; None where this was a try, and its answer is not wanted."""
        if not self._trial.accepted():
            return None
        self.learned.succeeded(self._sent)
        reader = answer_reader(self._offered.request, self.profile, self._offered.names)
        reader.notes = (*self._sent.notes, *self._left_out())
        return reader

    def _left_out(self) -> Iterator[str]:
        """Say what the caller has set and the model was not told: a 200 shall not look as if it had been kept."""
        asked = self._offered.request
        shown = {self._offered.names.get(tool.name, tool.name) for tool in asked.tools}
        if hidden := [tool.name for tool in self._asked.tools if tool.name not in shown]:
            more = f" and {len(hidden) - _NAMED} more" if len(hidden) > _NAMED else ""
            yield f"tools {', '.join(hidden[:_NAMED])}{more}: not offered, {self._where} does not take them."
        given = {name for name, value in asked.extra.items() if value not in (None, False) and name not in _OUR_OWN}
        given |= {
            name
            for name, value in (("temperature", asked.temperature), ("stop", asked.stop or None))
            if value is not None
        }
        left = given & self.profile.refused_parameters | self._wire.leaves_out(asked)
        if self._wire.takes is not None:
            left |= given - self._wire.takes
            form = asked.extra.get("response_format")
            if isinstance(form, dict) and form.get("type") not in self._wire.forms:
                yield f"response_format {form.get('type')}: not passed on, {self._where} does not take it."
        if left:
            yield f"{', '.join(sorted(left))}: not passed on, {self._where} does not take it."
