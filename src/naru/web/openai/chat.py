"""POST /v1/chat/completions and its neighbours: OpenAI's older API, which every client and server speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from naru.errors import NaruError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.web.face.core import Core
from naru.web.face.endpoint import FaceEndpoint
from naru.web.face.seam import Face
from naru.web.openai.passthrough import PassThrough
from naru.web.openai.request import ChatCall, read_chat
from naru.web.openai.thoughts import Thoughts
from naru.web.openai.wire import CallForm, ChunkWriter, WholeAnswer, error_object, failed_stream
from naru.web.routes import Access, Endpoint


def endpoints(core: Core) -> list[Endpoint]:
    """Return the chat face's rows."""
    chat = FaceEndpoint(core, ChatCompletions())
    embeddings, completions = (
        PassThrough(core, "/embeddings", OPENAI),
        PassThrough(core, "/completions", OPENAI),
    )
    return [
        Endpoint("/v1/chat/completions", ("POST",), chat, Access.USER, raw=True, media=True),
        Endpoint("/v1/embeddings", ("POST",), embeddings, Access.USER, raw=True),
        Endpoint("/v1/completions", ("POST",), completions, Access.USER, raw=True),
    ]


class ChatCompletions(Face[ChatCall]):
    """Answer a chat completion: OpenAI's older API, which every client speaks."""

    def __init__(self) -> None:
        self._thoughts = Thoughts()

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> ChatCall:
        """Read a request, with what its client has dropped of the model's thoughts."""
        call = read_chat(body, headers)
        messages = self._thoughts.restored(call.request.messages)
        if messages is call.request.messages:
            return call
        return replace(call, request=replace(call.request, messages=messages))

    def stream(self, asked: ChatCall) -> ChunkWriter:
        """Write chunks."""
        form = CallForm(asked.older, asked.custom)
        return ChunkWriter(asked.model_shown, include_usage=asked.include_usage, thoughts=self._thoughts, form=form)

    def whole(self, asked: ChatCall) -> WholeAnswer:
        """Write one `chat.completion`."""
        return WholeAnswer(asked.model_shown, thoughts=self._thoughts, form=CallForm(asked.older, asked.custom))

    def refused(self, error: NaruError) -> bytes:
        """Say an error."""
        return encode(error_object(error))

    def failed(self, error: NaruError) -> bytes:
        """Say an error in a stream."""
        return failed_stream(error)


OPENAI = ChatCompletions()
