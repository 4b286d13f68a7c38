"""The console's playground: a run on chosen servers, every step of the loop as a Server-Sent Event."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from naru.agent.events import (
    AgentEvent,
    AnswerText,
    CallFinished,
    CallStarted,
    ModelAnswered,
    Prompted,
    RoundStarted,
    RunFinished,
)
from naru.agent.loop import run
from naru.agent.trace import message_data
from naru.dialects import Tool, parse
from naru.encoding import encode
from naru.errors import NaruError, UserError
from naru.hub import Hub
from naru.messages import (
    AudioPart,
    ChatRequest,
    ImagePart,
    JsonObject,
    Part,
    ResourcePart,
    TextPart,
    ToolDefinition,
    ToolResult,
)
from naru.models.limits.queue import Caller, current_caller
from naru.tools.toolset import CallContext, Toolset
from naru.web.bodies import parse_body
from naru.web.face.client import ChatClient, ClientGoneError, read_body
from naru.web.face.names import ModelNames
from naru.web.face.plan_b import caller_of
from naru.web.face.reading.body import decode_body
from naru.web.face.reading.history import read_messages
from naru.web.korean import spoken
from naru.web.openai.chat import OPENAI
from naru.web.problems import problem_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class PlayBody(BaseModel):
    """A question for the playground."""

    model_config = ConfigDict(extra="forbid")

    model: str = ""
    messages: list[JsonObject] = Field(min_length=1)
    servers: list[str] | None = None
    temperature: float | None = Field(None, ge=0, le=2)


class Playground:
    """Answer a question of the playground, as a stream of its steps."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._names = ModelNames(hub)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream one run."""
        caller = caller_of(scope.get("state"))
        current_caller.set(Caller(caller))
        try:
            body = parse_body(PlayBody, decode_body(await read_body(receive)))
            messages = read_messages(body.messages)
            toolset = None if body.servers == [] else self._hub.tools(body.servers)
        except ClientGoneError:
            return
        except UserError as error:
            await problem_of(error)(scope, receive, send)
            return
        request = ChatRequest(await self._names.chosen(body.model), messages, temperature=body.temperature)
        async with ChatClient(scope, receive, send, OPENAI, streaming=True, grace_seconds=1.0) as client:
            try:
                async for data in self._steps(request, toolset, CallContext(caller=caller)):
                    await client.write(b"data: " + encode(data) + b"\n\n")
                await client.end()
            except NaruError as error:
                await client.write(b"data: " + encode(_failed(error)) + b"\n\n")
                await client.end()

    async def _steps(
        self, request: ChatRequest, toolset: Toolset | None, context: CallContext
    ) -> AsyncGenerator[JsonObject, None]:
        offered = await toolset.tools() if toolset else ()
        readable = _readable(offered)
        work = run(
            self._hub.backend,
            toolset,
            request,
            limits=self._hub.limits,
            context=context,
            hooks=self._hub.hooks,
        )
        async with aclosing(work) as events:
            async for event in events:
                if (data := step_data(event, readable)) is not None:
                    yield data


def _failed(error: NaruError) -> JsonObject:
    return {"step": "error", "message": spoken(str(error), f"api:{error.code}")}


def _readable(offered: Sequence[ToolDefinition]) -> tuple[Tool, ...]:
    """Return the tools as the reader knows them, also under their server's own names, which models write as well."""
    tools = {tool.name.rsplit("__", 1)[-1]: tool.input_schema for tool in offered}
    tools |= {tool.name: tool.input_schema for tool in offered}
    return tuple(Tool(name, schema) for name, schema in tools.items())


def step_data(event: AgentEvent, readable: Sequence[Tool] = ()) -> JsonObject | None:
    """Return an event of the loop as the console shows it, or None for those that it does not."""
    match event:
        case RoundStarted(round=number, final=final, offered=offered):
            return {"step": "round", "round": number, "final": final, "offered": list(offered)}
        case Prompted(round=number, messages=messages):
            return {"step": "prompt", "round": number, "messages": [message_data(turn) for turn in messages]}
        case ModelAnswered(round=number, raw=raw, seconds=seconds):
            read = parse(raw, readable)
            return {
                "step": "model",
                "round": number,
                "raw": raw,
                "seconds": seconds,
                "spans": [span.as_data() for span in read.spans],
                "repairs": [repair.as_data() for repair in read.repairs],
            }
        case CallStarted(call=call):
            return {"step": "call", "id": call.id, "name": call.name, "arguments": call.arguments}
        case CallFinished(call=call, result=result, seconds=seconds, ran=ran):
            told = {"step": "result", "id": call.id, "name": call.name, "ran": ran, "seconds": seconds}
            return {**told, "writer": event.writer, "mended": event.mended, **result_data(result)}
        case AnswerText(text=text):
            return {"step": "text", "text": text}
        case RunFinished(reason=reason, answer=answer, rounds=rounds, usage=usage, note=note):
            end = {"reason": reason, "answer": answer, "rounds": rounds, "note": spoken(note)}
            return {"step": "end", **end, "usage": asdict(usage)}
    return None


def result_data(result: ToolResult) -> JsonObject:
    """Return a tool's result as the console shows it: typed parts."""
    return {
        "isError": result.is_error,
        "structured": result.structured,
        "content": [_part_data(part) for part in result.content],
    }


def _part_data(part: Part) -> JsonObject:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(mime_type=mime_type, data=data, url=url):
            return {"type": "image", "mimeType": mime_type, "data": data, "url": url}
        case AudioPart(mime_type=mime_type, data=data):
            return {"type": "audio", "mimeType": mime_type, "data": data}
        case ResourcePart(uri=uri, mime_type=mime_type, text=said):
            about = {"name": part.name, "title": part.title, "description": part.description}
            link = {key: text for key, text in about.items() if text}
            return {"type": "resource", "uri": uri, "mimeType": mime_type, "text": said, **link}
