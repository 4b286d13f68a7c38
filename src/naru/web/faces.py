"""The APIs for models, one room each: a new one is a folder and a row here (docs/architecture.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from starlette.requests import Request
from starlette.responses import Response

from naru.errors import NotFoundError
from naru.web import models
from naru.web.anthropic import messages as anthropic
from naru.web.face.core import Core
from naru.web.face.hub import ChatHub
from naru.web.face.profiles import Signs, no_profile, recognise
from naru.web.ollama import ollama
from naru.web.openai import chat as openai
from naru.web.problems import in_the_apis_words, problem_of
from naru.web.responses import responses
from naru.web.routes import Endpoint, Handler

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

FACES = (models, openai, responses, anthropic, ollama)


def endpoints(hub: ChatHub) -> list[Endpoint]:
    """Return the rows of every face, on one core; those under /v1 also for clients that are named in the path."""
    core = Core(hub)
    rows = [row for face in FACES for row in face.endpoints(core)]
    return [*core.endpoints(), *rows, *(_for_client(row) for row in rows if row.path.startswith("/v1/"))]


def _for_client(row: Endpoint) -> Endpoint:
    """Return a row under /clients/NAME, for clients that can set nothing but a base URL; 404 for a NAME of nobody."""

    async def answer(request: Request) -> Response:
        _check_name(request.path_params["client"])
        return await cast("Handler", row.handler)(request)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            _check_name(scope["path_params"]["client"])
        except NotFoundError as error:
            await in_the_apis_words(scope["path"], problem_of(error))(scope, receive, send)
            return
        await cast("ASGIApp", row.handler)(scope, receive, send)

    handler = serve if row.raw else answer
    handler.__doc__ = row.handler.__doc__
    return replace(row, path=f"/clients/{{client}}{row.path}", handler=handler)


def _check_name(client: str) -> None:
    if recognise(Signs(path=client)) is None:
        raise NotFoundError(no_profile(client))
