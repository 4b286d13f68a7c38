"""POST /v1/responses/compact: a long conversation made short by its model, as the API's clients ask for it.

What comes back is what the person said, and an item that stands for all the rest: a summary, which only Naru reads.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from naru.errors import ModelError, NaruError
from naru.messages import JsonObject, Message, Text, Usage
from naru.models.transport.json_text import encode
from naru.web.face.seam import Face, FaceEvent, StreamWriter
from naru.web.responses.listed import listed
from naru.web.responses.output import made_id
from naru.web.responses.request import ResponsesCall
from naru.web.responses.seals import sealed_summary
from naru.web.responses.wire import usage_object

_ASKED = (
    "Summarise the conversation above, so that it can be gone on with from your summary alone: what is wanted, what "
    "was decided and found out (names, numbers, paths, results of calls, word for word), what was done and what is "
    "still to do. Write in the conversation's language, and nothing but the summary."
)


class Compaction(Face[ResponsesCall]):
    """Summarise a conversation into one item that stands for it from then on."""

    def __init__(self, face: Face[ResponsesCall]) -> None:
        """Read requests as another face does."""
        self._face = face

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> ResponsesCall:
        """Read the conversation; the model is offered no tools and held to no form."""
        beside = {"stream": False, "store": False, "background": False, "tool_choice": "none", "text": None}
        call = await self._face.read({**body, **beside}, headers, caller)
        asked = replace(call.request, messages=(*call.request.messages, Message("user", _ASKED)))
        return replace(call, request=asked, approved=())

    def stream(self, asked: ResponsesCall) -> StreamWriter:
        """Write events: no request gets here, as none of this API is streamed."""
        return self._face.stream(asked)

    def whole(self, asked: ResponsesCall) -> CompactionWriter:
        """Write the items that stand for the conversation."""
        return CompactionWriter(asked)

    def refused(self, error: NaruError) -> bytes:
        """Say an error."""
        return self._face.refused(error)

    def failed(self, error: NaruError) -> bytes:
        """Say an error in a stream."""
        return self._face.failed(error)


class CompactionWriter:
    """Collects the summary."""

    def __init__(self, asked: ResponsesCall) -> None:
        self._said = [item for item in asked.items if item.get("role") == "user"]
        self._text: list[str] = []
        self._usage = Usage()

    def feed(self, event: FaceEvent) -> None:
        """Take one event."""
        if isinstance(event, Text):
            self._text.append(event.text)
        elif isinstance(event, Usage):
            self._usage = event

    def body(self) -> bytes:
        """Return the JSON body.

        Raises:
            ModelError: the model has summarised nothing.
        """
        summary = "".join(self._text).strip()
        if not summary:
            raise ModelError("The model gave no summary of the conversation.", remedy="Ask again.", retryable=True)
        compaction = {"id": made_id("cmp"), "type": "compaction", "encrypted_content": sealed_summary(summary)}
        return encode(
            {
                "id": made_id("resp"),
                "object": "response.compaction",
                "created_at": int(time.time()),
                "output": [*(listed(item, made_id("msg")) for item in self._said), compaction],
                "usage": usage_object(self._usage),
            }
        )
