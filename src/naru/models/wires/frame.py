"""What all wires share that ask one path and read events: the tries, the stream, the model's view. No API's format."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import ClassVar, Protocol

from naru.errors import ModelError
from naru.http1.reply import Reply
from naru.messages import ChatEvent, ChatRequest, JsonObject, MediaPart
from naru.models.answers.normalise import AnswerReader
from naru.models.backend import InBatches
from naru.models.known.adapt import Learned
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import WHOLE_BODY_BYTES, Endpoint
from naru.models.transport.failures import decode, failure, looks_like_html
from naru.models.transport.http_pool import HttpPool
from naru.models.transport.json_text import encode
from naru.models.transport.sse import SseReader
from naru.models.wires.tries import Knowing, Tries

_NO_EVENT = frozenset({b"", b"[DONE]"})
_MISSHAPEN = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""What reading raises where a text, a list or nothing stands in an object's place; no reader asks at each step."""


class EventReader(Protocol):
    """Reads one answer's events, in an API's form."""

    ended: bool

    def feed(self, event: JsonObject) -> list[ChatEvent]:
        """Read one event; the last one gives the end.

        Raises:
            ModelError: the endpoint tells an error.
        """
        ...

    def whole(self, answer: JsonObject) -> list[ChatEvent]:
        """Read the answer of an endpoint that does not stream.

        Raises:
            ModelError: it is an error.
        """
        ...


class Splitter(Protocol):
    """Splits what arrives into events' payloads."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the payloads that this chunk completes."""
        ...

    def close(self) -> list[bytes]:
        """Return what a stream without its proper end still held."""
        ...


class WireBackend(InBatches, Knowing):
    """A `Backend` over one path of an endpoint. An API says where that is, what is sent and how events are read."""

    path: ClassVar[str]
    schemas: ClassVar[str]
    """The form of tool schemas, a row of `tools.provider_schemas`."""
    listing: ClassVar[tuple[str, str, tuple[str, ...]]] = ("/models", "data", ("id",))
    """Where models are listed, in which field, by which fields of a row."""
    pictures_in_results = True
    whole_answers: ClassVar[bool] = True
    """An answer of JSON is no stream; where streams are of JSON themselves, it is one of a single object."""

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile | Knowledge | None = None,
        *,
        model: str = "",
        timeout_seconds: float = 120.0,
    ) -> None:
        super().__init__(profile, model)
        self.endpoint = endpoint
        self.http = HttpPool(endpoint, timeout_seconds=timeout_seconds)

    @abstractmethod
    def body(self, sent: ChatRequest, model: str, tools: list[JsonObject], profile: Profile) -> JsonObject:
        """Build the body of a prepared, streaming request."""

    @abstractmethod
    def events(self, reader: AnswerReader) -> EventReader:
        """Return the reader of one answer's events."""

    @abstractmethod
    def carries(self, part: MediaPart) -> bool:
        """Tell whether this API has a form for a part."""

    def split(self) -> Splitter:
        """Return what splits a stream's bytes into events' payloads."""
        return SseReader()

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask once; what arrived together is given together, see `Batching`."""
        answer, reader, learned = await self._ask(request)
        split, read = self.split(), self.events(reader)
        try:
            if answer.content_type == "application/json" and self.whole_answers:
                text = await answer.read_some(WHOLE_BODY_BYTES)
                answer.release()
                yield self._whole(text, split, read)
                return
            while not read.ended:
                piece = await answer.read()
                if looks_like_html(answer.content_type, piece):
                    shown = piece[:200].decode("utf-8", "replace")
                    raise failure("not_an_api", f"{self.http.where} answered with a web page: {shown}", status=200)
                # What stands at the very end without a line's end may be the last event, or half of one.
                events, fault = self._read(read, split.feed(piece) if piece else split.close())
                if not piece and not read.ended and (fault is None or fault.code == "not_an_api"):
                    fault = self._cut()
                if fault is not None:
                    events += reader.unsaid()
                if events:
                    yield events
                if fault is not None:
                    raise fault
            answer.release()
        finally:
            learned.saw_reasoning(reader.reasoned_in)
            answer.close()

    def _whole(self, text: bytes, split: Splitter, reader: EventReader) -> list[ChatEvent]:
        """Read what calls itself JSON: a whole answer, an error with status 200, or a stream all the same."""
        if payloads := [*split.feed(text), *split.close()]:
            events, fault = self._read(reader, payloads)
            if fault is None and not reader.ended:
                fault = self._cut()
            if fault is not None:
                raise fault
            return events
        told = decode(text)
        if not isinstance(told, dict):
            raise failure("broken_off", f"{self.http.where} answered 200 with JSON that is not whole: {text[:120]!r}.")
        try:
            return reader.whole(told)
        except _MISSHAPEN as error:
            said = f"{self.http.where} answered with an object of another form than its API's: {text[:120]!r}"
            raise failure("not_an_api", said) from error

    def _cut(self) -> ModelError:
        return failure("broken_off", f"{self.http.where} ended its stream in the middle of the answer.")

    def _read(self, reader: EventReader, payloads: Sequence[bytes]) -> tuple[list[ChatEvent], ModelError | None]:
        """Read what arrived together; what was said before a fault stays said."""
        events: list[ChatEvent] = []
        try:
            for payload in payloads:
                if payload.strip() in _NO_EVENT:
                    continue
                event = decode(payload)
                if not isinstance(event, dict):
                    raise failure("not_an_api", f"{self.http.where} sent an event that is no JSON: {payload[:120]!r}")
                events += reader.feed(event)
                if reader.ended:
                    break
        except ModelError as error:
            return events, error
        except _MISSHAPEN as error:
            said = f"{self.http.where} sent an event of another form than its API's: {payload[:120]!r}"
            fault = failure("not_an_api", said)
            fault.__cause__ = error
            return events, fault
        return events, None

    async def _ask(self, request: ChatRequest) -> tuple[Reply, AnswerReader, Learned]:
        """Ask until the endpoint takes the request in one of its forms; see `adapt`."""
        tries = self.tries(request, self.schemas, self.http.where)
        while True:
            answer = await self.http.post(self.path, encode(self.written(tries)))
            if answer.status >= 400:
                tries.refused(await self.http.refusal(answer))
            elif reader := tries.taken():
                return answer, reader, tries.learned
            else:
                answer.close()

    def written(self, tries: Tries) -> JsonObject:
        """Return the body of the next try."""
        sent, offered = tries.next()
        return self.body(sent, tries.model, offered.declared(sent), tries.profile)

    async def models(self) -> Sequence[str]:
        """Return the names of the models that the endpoint lists."""
        path, field, names = self.listing
        try:
            listed = decode(await self.http.get(path))
        except ModelError as error:
            return self.unlisted(error)
        rows = listed.get(field) if isinstance(listed, dict) else None
        if not isinstance(rows, list):
            raise failure("not_an_api", f"{self.http.where} does not list its models at {path} as its API does.")
        named = [next(filter(None, map(row.get, names)), None) for row in rows if isinstance(row, dict)]
        return [str(name) for name in named if name]

    async def close(self) -> None:
        """Close the connections."""
        await self.http.close()
