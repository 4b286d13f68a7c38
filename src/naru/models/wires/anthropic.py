"""A model endpoint that speaks Anthropic's Messages API."""

from __future__ import annotations

import re
from dataclasses import replace

from naru.messages import ChatRequest, JsonObject, MediaPart
from naru.models.answers.normalise import AnswerReader
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.anthropic_wire import TAKES, EventReader, carries, messages_body, thinks
from naru.models.wires.frame import WireBackend

_VERSION = "2023-06-01"
_VERSIONED = re.compile(r"/v\d+$")


class AnthropicBackend(WireBackend):
    """A `Backend` over /v1/messages."""

    path = "/messages"
    schemas = "anthropic"
    listing = ("/models?limit=1000", "data", ("id",))  # It gives twenty where nothing is said, a thousand at most.
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
        base = endpoint.base_url.removesuffix("/messages")
        # As ANTHROPIC_BASE_URL has it, to which the packages add the version.
        base = base if _VERSIONED.search(base) else f"{base}/v1"
        told = replace(endpoint, base_url=base, api_key="", extra_headers=headers)
        super().__init__(told, profile, model=model, timeout_seconds=timeout_seconds)

    def body(self, sent: ChatRequest, model: str, tools: list[JsonObject], profile: Profile) -> JsonObject:
        """Build the body."""
        return messages_body(sent, model=model, tools=tools, profile=profile)

    def events(self, reader: AnswerReader) -> EventReader:
        """Read the stream's events."""
        return EventReader(reader, self.http.where)

    def leaves_out(self, request: ChatRequest) -> frozenset[str]:
        """Thoughts go with no temperature but their own, 1."""
        left = {"temperature"} if thinks(request) and request.temperature not in (None, 1) else frozenset()
        return super().leaves_out(request) | left

    def carries(self, part: MediaPart) -> bool:
        """Take pictures and PDF."""
        return carries(part)
