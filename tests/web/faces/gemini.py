"""Gemini's API as an endpoint, in the shapes that it sends: what a scripted model says, as its chunks.

Its own SDK asks it in one way alone, by a stream, for streamed and whole answers of the faces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naru.errors import ModelError
from naru.messages import (
    CallEnd,
    CallStart,
    ChatRequest,
    Finish,
    ImagePart,
    Message,
    Reasoning,
    Text,
    TextPart,
    ToolDefinition,
    Usage,
)
from naru.models.scripted import Answer
from tests.models.fake_endpoint import Reply, json_reply, sse

_ENDS = {"length": "MAX_TOKENS"}
SIGNATURE = "c2lnbmVk"


def answering(script: Callable[[ChatRequest], Answer]) -> Callable[[dict[str, Any]], Reply]:
    """Return what answers requests of Gemini's form by a script."""

    def answer(body: dict[str, Any]) -> Reply:
        declared = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations") or ()]
        tools = [ToolDefinition(one["name"], one.get("description") or "", {"type": "object"}) for one in declared]
        said = script(ChatRequest("m", [_turn(content) for content in body["contents"]], tools))
        if isinstance(said, ModelError):
            error = {"code": said.status, "message": said.message, "status": "INVALID_ARGUMENT"}
            return json_reply({"error": error}, said.status or 500)
        assert isinstance(said, list)
        return Reply(sse(*_chunks(said), done=False))

    return answer


def chunk(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Make one piece of an answer."""
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **more}
    return {"candidates": [candidate], "modelVersion": "gemini-2.5-flash", "responseId": "r"}


def _turn(content: dict[str, Any]) -> Message:
    parts = content["parts"]
    given = next((part["functionResponse"] for part in parts if "functionResponse" in part), None)
    if given is not None:
        return Message("tool", _said(given["response"]), tool_call_id="c", name=given["name"])
    read = [
        ImagePart(part["inlineData"]["mime_type"], data=part["inlineData"]["data"])
        if "inlineData" in part
        else TextPart(part.get("text") or "")
        for part in parts
    ]
    return Message("assistant" if content["role"] == "model" else "user", tuple(read))


def _said(response: dict[str, Any]) -> str:
    """Return what a tool gave; Gemini's clients name it as they like."""
    return str(next(iter(response.values())))


def _chunks(events: list[Any]) -> list[dict[str, Any]]:
    """Write a model's events as pieces; the last one tells the end and the tokens."""
    made: list[dict[str, Any]] = []
    names: dict[int, str] = {}
    last: dict[str, Any] = {}
    for event in events:
        match event:
            case Text(text=text):
                made.append(chunk({"text": text}))
            case Reasoning(text=text):
                made.append(chunk({"text": text, "thought": True}))
            case CallStart(index=index, name=name):
                names[index] = name
            case CallEnd(index=index, arguments=arguments):
                signed = {} if made else {"thoughtSignature": SIGNATURE}  # the first call of a turn alone has one
                made.append(chunk({"functionCall": {"name": names[index], "args": arguments}, **signed}))
            case Usage():
                last["usageMetadata"] = {
                    "promptTokenCount": event.prompt_tokens,
                    "candidatesTokenCount": event.completion_tokens,
                    "totalTokenCount": event.total_tokens,
                }
            case Finish(reason=reason):
                last |= chunk({"text": ""}, finishReason=_ENDS.get(reason, "STOP"))
    return [*made, last]
