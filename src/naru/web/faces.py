"""The APIs for models, one room each: a new one is a folder and a row here (docs/architecture.md)."""

from __future__ import annotations

from naru.web import models
from naru.web.anthropic import messages as anthropic
from naru.web.face.core import Core
from naru.web.face.hub import ChatHub
from naru.web.ollama import ollama
from naru.web.openai import chat as openai
from naru.web.responses import responses
from naru.web.routes import Endpoint

FACES = (models, openai, responses, anthropic, ollama)


def endpoints(hub: ChatHub) -> list[Endpoint]:
    """Return the rows of every face, on one core."""
    core = Core(hub)
    return [*core.endpoints(), *(row for face in FACES for row in face.endpoints(core))]
