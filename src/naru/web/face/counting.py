"""How large a request is: an estimate, on the careful side, since most endpoints do not count for others."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from naru.agent.context import request_tokens
from naru.errors import NaruError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.web.face.client import headers_of
from naru.web.face.core import Core
from naru.web.face.errors import status_of
from naru.web.face.plan_b import caller_of
from naru.web.face.reading.body import decode_body
from naru.web.face.seam import AskedT, Face


class TokenCount:
    """Answers how many tokens a request of a face has: its turns, its tools, those of the servers it names."""

    def __init__(self, core: Core, face: Face[AskedT], told: Callable[[int], JsonObject]) -> None:
        self._core = core
        self._face = face
        self._told = told

    async def answer(self, request: Request) -> Response:
        """Estimate the tokens of a request: its turns, its tools, those of the servers it names."""
        try:
            body, caller = decode_body(await request.body()), caller_of(request.scope.get("state"))
            asked = await self._face.read(body, headers_of(request.scope), caller)
            tools = list(asked.request.tools)
            if asked.servers is not None:
                async with self._core.answers.toolset(asked) as toolset:
                    tools += await toolset.tools()
        except NaruError as error:
            return Response(self._face.refused(error), status_of(error), media_type="application/json")
        counted = self._told(request_tokens(asked.request.messages, tools))
        return Response(encode(counted), media_type="application/json")
