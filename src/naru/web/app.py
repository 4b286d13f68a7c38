"""All HTTP faces as one ASGI application: rows from each module, one gate before them, no middleware stack."""

from __future__ import annotations

import logging
from typing import cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from naru.errors import NaruError
from naru.hub import Hub
from naru.web import health, openai_chat
from naru.web.problems import problem, problem_of
from naru.web.routes import Endpoint, Handler
from naru.web.security import guard

logger = logging.getLogger(__name__)

FACES = (health, openai_chat)
"""Modules with `endpoints(hub) -> list[Endpoint]`."""


def all_endpoints(hub: Hub) -> list[Endpoint]:
    """Return the whole route table."""
    return [row for face in FACES for row in face.endpoints(hub)]


def create_app(hub: Hub) -> ASGIApp:
    """Build the application over an open hub.

    Raises:
        ConfigError: this configuration would serve an open port (S-01).
    """
    return guard(dispatch, all_endpoints(hub), hub.settings.server)


async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
    """Hand a request to the row that the gate has matched; an error that nobody caught becomes a problem document."""
    if scope["type"] != "http":
        return
    endpoint: Endpoint = scope["state"]["endpoint"]
    if endpoint.raw:
        await cast("ASGIApp", endpoint.handler)(scope, receive, send)
        return
    response: Response
    try:
        response = await cast("Handler", endpoint.handler)(Request(scope, receive, send))
    except NaruError as error:
        response = problem_of(error)
    except Exception:  # noqa: BLE001 - the outermost edge: a bug becomes an answer and a traceback in the log
        logger.exception("request failed: %s %s", scope["method"], scope["path"])
        response = problem(500, "Naru failed on this request; its log says more.", code="internal_error")
    await response(scope, receive, send)
