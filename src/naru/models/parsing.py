"""The answer reader for a request: with the dialects' parser when calls may come, without it when none can."""

from __future__ import annotations

import importlib
from typing import Any

from naru.messages import ChatRequest
from naru.models.normalise import AnswerReader, PlainParser
from naru.models.profile import Profile


def answer_reader(request: ChatRequest, profile: Profile) -> AnswerReader:
    """Return a reader for the answer to this request."""
    dialects: Any = importlib.import_module("naru.dialects")
    if not hasattr(dialects, "StreamParser"):
        return AnswerReader(PlainParser())
    tools = [dialects.Tool(tool.name, tool.input_schema) for tool in request.tools]
    return AnswerReader(dialects.StreamParser(tools, hint=profile.dialect or None))
