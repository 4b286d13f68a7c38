"""GET /v1/models: every model of the backend, and the names that ask for more with it."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from naru.errors import NaruError
from naru.web.openai_hub import ChatHub
from naru.web.openai_request import HUB_TOOLS_SUFFIX
from naru.web.openai_wire import encode, error_object, status_of


def names_of(model: str) -> list[str]:
    """Return the names under which a model can be asked for."""
    return [model, model + HUB_TOOLS_SUFFIX]


class Models:
    """Answers the list of models, and one of them."""

    def __init__(self, hub: ChatHub) -> None:
        self._hub = hub
        self._created = int(time.time())

    async def list(self, request: Request) -> Response:
        """Answer GET /v1/models."""
        try:
            models = await self._hub.backend.models()
        except NaruError as error:
            return _json(error_object(error), status_of(error))
        rows = [self._row(name) for model in models for name in names_of(model)]
        return _json({"object": "list", "data": rows})

    async def one(self, request: Request) -> Response:
        """Answer GET /v1/models/{model}."""
        wanted = request.path_params["model"]
        try:
            models = await self._hub.backend.models()
        except NaruError as error:
            return _json(error_object(error), status_of(error))
        if not any(wanted in names_of(model) for model in models):
            details = {
                "message": f"There is no model {wanted!r}; GET /v1/models lists them.",
                "type": "not_found_error",
            }
            return _json({"error": {**details, "param": "model", "code": "model_not_found"}}, 404)
        return _json(self._row(wanted))

    def _row(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": self._created, "owned_by": "naru"}


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return Response(encode(value), status, media_type="application/json")
