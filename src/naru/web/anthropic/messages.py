"""POST /v1/messages and /v1/messages/count_tokens."""

from __future__ import annotations

from collections.abc import Mapping

from naru.errors import NaruError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.web.anthropic.request import MessagesCall, read_call
from naru.web.anthropic.wire import PING, EventWriter, MessageWriter, error_object, failed_stream
from naru.web.face.core import Core
from naru.web.face.counting import TokenCount
from naru.web.face.endpoint import FaceEndpoint
from naru.web.face.seam import Face
from naru.web.routes import Access, Endpoint


def endpoints(core: Core) -> list[Endpoint]:
    """Return the rows of the Messages API."""
    counted = TokenCount(core, CountedMessages(), lambda tokens: {"input_tokens": tokens})
    return [
        Endpoint("/v1/messages", ("POST",), FaceEndpoint(core, ANTHROPIC), Access.USER, raw=True, media=True),
        Endpoint("/v1/messages/count_tokens", ("POST",), counted.answer, Access.USER),
    ]


class Messages(Face[MessagesCall]):
    """Answer a turn in the form of Anthropic's Messages API, for Claude Code and the `anthropic` packages."""

    quiet = PING

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> MessagesCall:
        """Read a request."""
        return read_call(body, headers)

    def stream(self, asked: MessagesCall) -> EventWriter:
        """Write events."""
        return EventWriter(asked.model_shown, shows_hub_calls=asked.shows_hub_calls, stops=asked.request.stop)

    def whole(self, asked: MessagesCall) -> MessageWriter:
        """Write one message."""
        return MessageWriter(asked.model_shown, shows_hub_calls=asked.shows_hub_calls, stops=asked.request.stop)

    def refused(self, error: NaruError) -> bytes:
        """Say an error."""
        return encode(error_object(error))

    def failed(self, error: NaruError) -> bytes:
        """Say an error in a stream."""
        return failed_stream(error)


class CountedMessages(Messages):
    """Read what is only counted: it has no limit of its answer."""

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> MessagesCall:
        """Read a request."""
        return read_call({**body, "max_tokens": 1}, headers)


ANTHROPIC = Messages()
