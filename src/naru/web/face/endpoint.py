"""A face's endpoint: reads, finds out who asks and for which model, has it answered, tells the client (V7, V8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Generic

from naru.dialects.writers import ElementXml, Writer
from naru.errors import NaruError
from naru.messages import ToolDefinition
from naru.models.limits.queue import Caller, current_caller
from naru.persons import current_request
from naru.web.face.client import ChatClient, ClientGoneError, headers_of, read_body, respond_error
from naru.web.face.core import Core
from naru.web.face.errors import BadRequestError, StoppingError
from naru.web.face.exchange import Exchange, prepare, system_text
from naru.web.face.plan_b import caller_of, shell_writer
from naru.web.face.profiles import ClientProfile, Signs, no_profile, recognise
from naru.web.face.reading.body import decode_body
from naru.web.face.seam import Asked, AskedT, Face
from naru.web.face.told import Dialect, Streamed, Whole

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PROXY_GRACE_SECONDS = 5.0
AGENT_GRACE_SECONDS = 1.0
"""How long a stream may say nothing before it is started; until then errors are true HTTP statuses."""
_NO_WRITER: Writer = ElementXml()
logger = logging.getLogger(__name__)


class FaceEndpoint(Generic[AskedT]):
    """One endpoint of a face, as an ASGI application."""

    def __init__(self, core: Core, face: Face[AskedT]) -> None:
        self._core = core
        self._face = face
        self.__doc__ = face.__doc__

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        face = self._face
        caller = caller_of(scope.get("state"))
        headers = headers_of(scope)
        try:
            asked = await face.read(decode_body(await read_body(receive)), headers, caller)
        except ClientGoneError:
            return
        except NaruError as error:
            await respond_error(send, face, error)
            return
        grace = PROXY_GRACE_SECONDS if asked.servers is None else AGENT_GRACE_SECONDS
        async with ChatClient(scope, receive, send, face, streaming=asked.stream, grace_seconds=grace) as client:
            current_caller.set(Caller(caller, on_place=client.tell_place))
            try:
                path = scope.get("path_params", {}).get("client", "")
                exchange = await self._exchange(asked, headers, caller, path)
                await self._answer(asked, exchange, client, caller)
            except NaruError as error:
                await client.fail(error)
            except asyncio.CancelledError:
                if not client.gone:
                    await client.fail(StoppingError())
                raise
            except Exception:  # noqa: BLE001 - the outermost edge: a bug becomes an answer and a traceback in the log
                logger.exception("chat request failed")
                remedy = f"See its log for {current_request.get()}."
                await client.fail(NaruError("Naru failed on this request.", remedy=remedy))

    async def _exchange(self, asked: Asked, headers: Mapping[bytes, bytes], caller: str, path: str) -> Exchange:
        """Find out who asks and for which model, and read the history in that client's dialect."""
        core = self._core
        model, alias = await core.names.resolve(asked.request.model)
        request = asked.request if model == asked.request.model else replace(asked.request, model=model)
        profile = self._profile(asked, headers, caller, path, alias=alias)
        if profile.dialect != "shell":
            return prepare(request, profile, _NO_WRITER)
        if asked.guests:
            raise BadRequestError(
                "This client runs calls as shell commands, later: it can call servers of the hub alone, none that is "
                "named by URL."
            )
        tools: tuple[ToolDefinition, ...] = tuple(await core.hub.tools(asked.servers or None).tools())
        request = replace(request, tools=tools)
        minting = core.tickets.minting(caller)

        def prepared() -> Exchange:
            writer = shell_writer(core.hub.settings, core.tickets, minting, caller, tools)
            return replace(prepare(request, profile, writer), minting=minting)

        return await asyncio.to_thread(prepared)  # What a command in the history stands for is in files.

    def _profile(
        self, asked: Asked, headers: Mapping[bytes, bytes], caller: str, path: str, *, alias: bool
    ) -> ClientProfile:
        settings = self._core.hub.settings.chat
        signs = Signs(
            header=headers.get(b"x-naru-client", b"").decode("latin-1"),
            path=path,
            key=settings.client_by_key.get(caller, "") if settings.client_by_key else "",
            user_agent=headers.get(b"user-agent", b"").decode("latin-1"),
            title=headers.get(b"x-title", b"").decode("latin-1"),
            alias=alias,
            prompt="" if asked.request.tools else system_text(asked.request.messages),
        )
        profile = recognise(signs, settings.client)
        if profile is None:
            raise BadRequestError(no_profile(signs.header or signs.path or signs.key), param="x-naru-client")
        if profile.name in settings.steps:
            profile = replace(profile, steps=settings.steps[profile.name])
        return replace(profile, single_call=True) if asked.single_call else profile

    async def _answer(self, asked: AskedT, exchange: Exchange, client: ChatClient, caller: str) -> None:
        face, dialect, answers = self._face, Dialect(exchange), self._core.answers
        told = (
            Streamed(face.stream(asked), client, dialect) if asked.stream else Whole(face.whole(asked), client, dialect)
        )
        await answers.deliver(exchange, caller, asked, told.take)
        await told.end()
        if dialect.outgoing is not None:
            answers.keep(dialect.outgoing, caller)
