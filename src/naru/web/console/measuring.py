"""`Probe now`: measure a model from the console, each check as a Server-Sent Event when it is done (N4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING

import orjson
from pydantic import BaseModel, ConfigDict, Field

from naru.errors import ConflictError, NaruError
from naru.hub import Hub
from naru.measuring import measure
from naru.messages import JsonObject
from naru.models.limits.queue import Caller, current_caller
from naru.models.measurable import Measurable, measurable
from naru.models.probe import Check
from naru.web.bodies import parse_body
from naru.web.face.client import ChatClient, ClientGoneError, read_body
from naru.web.face.plan_b import caller_of
from naru.web.face.reading.body import decode_body
from naru.web.korean import spoken
from naru.web.openai.chat import OPENAI
from naru.web.problems import problem_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class ProbeBody(BaseModel):
    """The model to be measured."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(min_length=1, max_length=400)


class Measuring:
    """Measure a model, as `naru probe` does; a client that leaves ends it, and nothing is kept."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._under_way: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream one probe."""
        current_caller.set(Caller(caller_of(scope.get("state"))))
        try:
            model = parse_body(ProbeBody, decode_body(await read_body(receive))).model
            await self._hub.backend.models()  # so that a router knows whose each is
            subject = measurable(self._hub.backend, model)
            if model in self._under_way:
                raise ConflictError(f"{model} is being measured already.", remedy="Wait for that probe to end.")
        except ClientGoneError:
            return
        except NaruError as error:
            await problem_of(error)(scope, receive, send)
            return
        self._under_way.add(model)
        try:
            async with ChatClient(scope, receive, send, OPENAI, streaming=True, grace_seconds=1.0) as client:
                try:
                    async for data in _steps(subject, self._hub):
                        await client.write(b"data: " + orjson.dumps(data) + b"\n\n")
                except NaruError as error:
                    said = spoken(str(error), f"api:{error.code}")
                    await client.write(b"data: " + orjson.dumps({"step": "error", "message": said}) + b"\n\n")
                await client.end()
        finally:
            self._under_way.discard(model)


def told(check: JsonObject) -> JsonObject:
    """Return a check with its note in the language of who asks."""
    return {**check, "note": spoken(str(check.get("note") or ""))}


async def _steps(subject: Measurable, hub: Hub) -> AsyncGenerator[JsonObject]:
    own = await hub.tools().tools()
    async with aclosing(measure(subject.backend, subject.fresh, subject.model, own, hub.hooks.rank)) as found:
        async for step in found:
            if isinstance(step, Check):
                yield {"step": "check", **told(asdict(step))}
                continue
            checks = [asdict(check) for check in step.checks]
            await asyncio.to_thread(subject.live.keep, subject.model, step.profile, checks)
            yield {"step": "end"}
