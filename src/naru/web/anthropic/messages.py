"""POST /v1/messages and /v1/messages/count_tokens."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from naru.agent.context import request_tokens
from naru.errors import NaruError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.web.anthropic.request import MessagesCall, read_call
from naru.web.anthropic.wire import PING, EventWriter, MessageWriter, error_object, failed_stream
from naru.web.face.client import headers_of
from naru.web.face.core import Core
from naru.web.face.endpoint import FaceEndpoint
from naru.web.face.errors import status_of
from naru.web.face.reading.body import decode_body
from naru.web.face.seam import Face
from naru.web.routes import Access, Endpoint


def endpoints(core: Core) -> list[Endpoint]:
    """Return the rows of the Messages API."""
    return [
        Endpoint("/v1/messages", ("POST",), FaceEndpoint(core, ANTHROPIC), Access.USER, raw=True, media=True),
        Endpoint("/v1/messages/count_tokens", ("POST",), TokenCount(core).answer, Access.USER),
    ]


class Messages(Face[MessagesCall]):
    """Answer a turn in the form of Anthropic's Messages API, for Claude Code and the `anthropic` packages."""

    quiet = PING

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> MessagesCall:
        """Read a request."""
        return read_call(body, headers)

    def stream(self, asked: MessagesCall) -> EventWriter:
        """Write events."""
        return EventWriter(asked.model_shown, shows_hub_calls=asked.shows_hub_calls)

    def whole(self, asked: MessagesCall) -> MessageWriter:
        """Write one message."""
        return MessageWriter(asked.model_shown, shows_hub_calls=asked.shows_hub_calls)

    def refused(self, error: NaruError) -> bytes:
        """Say an error."""
        return encode(error_object(error))

    def failed(self, error: NaruError) -> bytes:
        """Say an error in a stream."""
        return failed_stream(error)


ANTHROPIC = Messages()


class TokenCount:
    """How large a request is: an estimate, on the careful side, since most endpoints do not count for others."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def answer(self, request: Request) -> Response:
        """Estimate the tokens of a Messages request: its turns, its tools, those of the servers it names."""
        try:
            asked = read_call(decode_body(await request.body()), headers_of(request.scope))
            tools = list(asked.request.tools)
            if asked.servers is not None:
                async with self._core.answers.toolset(asked) as toolset:
                    tools += await toolset.tools()
        except NaruError as error:
            return Response(encode(error_object(error)), status_of(error), media_type="application/json")
        counted = {"input_tokens": request_tokens(asked.request.messages, tools)}
        return Response(encode(counted), media_type="application/json")
