"""A conversation through the hub that runs on this machine: its model and its servers, no second engine beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from naru.agent.events import AgentEvent, AnswerText, CallFinished, CallStarted, RunFinished
from naru.cli.running_hub import HubStream, RunningHub
from naru.cli.terminal.asking import Desk
from naru.config import Settings
from naru.errors import ModelError, NaruError, NotFoundError, UserError
from naru.messages import JsonObject, Message, ToolCall, ToolResult, Usage
from naru.tools.supervision.waiting_room import Waiter

_LOOK_SECONDS = 1.0
"""How long a call runs before it is asked whether it waits for a person, and how often."""


class HubTalk:
    """The model of a running hub, as the loop of `naru chat` wants it."""

    def __init__(self, hub: RunningHub, model: str, desk: Desk) -> None:
        self._hub = hub
        self._model = model
        self._desk = desk

    async def events(self, turns: Sequence[Message]) -> AsyncGenerator[AgentEvent]:
        """Ask the hub; yield what its loop tells.

        Raises:
            ConnectionFailedError: the hub went away.
            UserError: it refused.
            ModelError: its model failed.
        """
        body: JsonObject = {"messages": [{"role": turn.role, "content": turn.text} for turn in turns]}
        if self._model:
            body["model"] = self._model
        stream = await asyncio.to_thread(self._hub.stream, "/api/play", body)
        try:
            async with aclosing(self._steps(stream)) as steps:
                async for step in steps:
                    for event in _events(step):
                        yield event
        finally:
            stream.close()

    async def _steps(self, stream: HubStream) -> AsyncGenerator[JsonObject]:
        """Yield the loop's steps; while one is awaited, ask about the calls that wait for a person."""
        going: dict[str, JsonObject] = {}
        asked: set[str] = set()
        while True:
            coming = asyncio.ensure_future(asyncio.to_thread(stream.next))
            try:
                while not (await asyncio.wait({coming}, timeout=_LOOK_SECONDS if going else None))[0]:
                    await self._ask_about(going, asked)
                step = await coming
            except asyncio.CancelledError:
                stream.close()  # ends the thread's wait
                await asyncio.gather(coming, return_exceptions=True)
                raise
            if step is None:
                return
            if step["step"] == "call":
                going[step["id"]] = step
            elif step["step"] == "result":
                step = {"arguments": going.pop(step["id"], {}).get("arguments", {}), **step}
            yield step

    async def _ask_about(self, going: dict[str, JsonObject], asked: set[str]) -> None:
        """Have the person answer for the held calls of this conversation, where the key may see them."""
        try:
            waiting = (await asyncio.to_thread(self._hub.ask, "/api/approvals"))["waiting"]
        except NaruError:
            return
        for one in waiting:
            if one["id"] in asked or not any(_is_of(one, call) for call in going.values()):
                continue
            asked.add(one["id"])
            held = Waiter(
                one["id"], one["server"], one["tool"], one["arguments"], one["caller"], one["description"], one["why"],
                one["askedAt"], one["expiresAt"],
            )  # fmt: skip
            answer = await self._desk.ask(held)
            if answer is not None:
                path = f"/api/approvals/{one['id']}"
                await asyncio.to_thread(self._hub.ask, path, method="POST", body={"decision": answer.value})


def open_talk(settings: Settings, model: str, desk: Desk) -> HubTalk | None:
    """Return the running hub's talk; None where no hub runs, or it has no model of that name.

    Raises:
        UserError: a hub runs and wants another key.
    """
    hub = RunningHub(settings)
    if not hub.answers():
        return None
    try:
        listed = [one["name"] for one in hub.ask("/api/models")["models"]]
    except NotFoundError:  # a hub of another kind, such as `naru serve hr`
        return None
    except UserError as error:
        error.remedy = f"{error.remedy} Or leave that hub alone: naru chat --local"
        raise
    except NaruError:  # its endpoint is away; a question will say so
        listed = [model]
    return HubTalk(hub, model, desk) if not model or model in listed else None


def _is_of(one: JsonObject, call: JsonObject) -> bool:
    return call["name"] in (f"{one['server']}__{one['tool']}", one["tool"])


def _events(step: JsonObject) -> list[AgentEvent]:
    match step["step"]:
        case "text":
            return [AnswerText(step["text"])]
        case "call":
            return [CallStarted(0, ToolCall(step["id"], step["name"], step["arguments"]))]
        case "result":
            text = "\n".join(part.get("text") or f"[{part['type']}]" for part in step["content"])
            if not text and step["structured"] is not None:
                text = json.dumps(step["structured"], ensure_ascii=False)
            call = ToolCall(step["id"], step["name"], step["arguments"])
            result = ToolResult.of_text(text, is_error=step["isError"])
            wrote = {"writer": step["writer"], "mended": step["mended"]}
            return [CallFinished(0, call, result, step["seconds"], step["ran"], **wrote)]
        case "end":
            usage = Usage(step["usage"]["prompt_tokens"], step["usage"]["completion_tokens"])
            return [RunFinished(step["reason"], step["answer"], step["rounds"], usage, note=step["note"])]
        case "error":
            raise ModelError(step["message"])
    return []
