"""A model endpoint that speaks OpenAI's Responses API."""

from __future__ import annotations

from naru.messages import ChatRequest, JsonObject, MediaPart
from naru.models.answers.normalise import AnswerReader
from naru.models.known.profile import Profile
from naru.models.wires.frame import WireBackend
from naru.models.wires.responses_wire import TAKES, EventReader, carries, responses_body


class ResponsesBackend(WireBackend):
    """A `Backend` over /v1/responses; nothing is kept there."""

    path = "/responses"
    openai_path = ""
    """Where the endpoint has embeddings and plain completions in OpenAI's form."""
    schemas = "openai"
    takes = TAKES

    def body(self, sent: ChatRequest, model: str, tools: list[JsonObject], profile: Profile) -> JsonObject:
        """Build the body."""
        return responses_body(sent, model=model, tools=tools, profile=profile)

    def events(self, reader: AnswerReader) -> EventReader:
        """Read the stream's events."""
        return EventReader(reader, self.http.where)

    def carries(self, part: MediaPart) -> bool:
        """Take pictures and files."""
        return carries(part)
