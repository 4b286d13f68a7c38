"""The answer reader for a request: the dialects' parser knows which tools were offered, and nothing else is a call."""

from __future__ import annotations

from naru.dialects import StreamParser, Tool
from naru.messages import ChatRequest
from naru.models.normalise import AnswerReader
from naru.models.profile import Profile


def answer_reader(request: ChatRequest, profile: Profile) -> AnswerReader:
    """Return a reader for the answer to this request."""
    tools = [Tool(tool.name, tool.input_schema) for tool in request.tools]
    return AnswerReader(StreamParser(tools, hint=profile.dialect or None))
