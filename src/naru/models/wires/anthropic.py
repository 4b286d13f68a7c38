"""A model endpoint that speaks Anthropic's Messages API."""

from __future__ import annotations

from dataclasses import replace

from naru.messages import ChatRequest, JsonObject, MediaPart
from naru.models.answers.normalise import AnswerReader
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.anthropic_wire import TAKES, EventReader, carries, messages_body
from naru.models.wires.frame import WireBackend

_VERSION = "2023-06-01"


class AnthropicBackend(WireBackend):
    """A `Backend` over /v1/messages."""

    path = "/messages"
    schemas = "anthropic"
    takes = TAKES
    forms = frozenset({"text", "json_schema"})

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile | Knowledge | None = None,
        *,
        model: str = "",
        timeout_seconds: float = 120.0,
    ) -> None:
        headers = {"anthropic-version": _VERSION, **endpoint.extra_headers}
        if endpoint.api_key:
            headers["x-api-key"] = endpoint.api_key
        told = replace(endpoint, api_key="", extra_headers=headers)
        super().__init__(told, profile, model=model, timeout_seconds=timeout_seconds)

    def body(self, sent: ChatRequest, model: str, tools: list[JsonObject], profile: Profile) -> JsonObject:
        """Build the body."""
        return messages_body(sent, model=model, tools=tools, profile=profile)

    def events(self, reader: AnswerReader) -> EventReader:
        """Read the stream's events."""
        return EventReader(reader, self.http.where)

    def carries(self, part: MediaPart) -> bool:
        """Take pictures and PDF."""
        return carries(part)
