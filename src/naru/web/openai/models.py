"""GET /v1/models in OpenAI's form."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from naru.errors import NaruError, NotFoundError
from naru.models.json_text import encode
from naru.web.face.errors import status_of
from naru.web.face.names import ModelNames
from naru.web.openai.wire import error_object


class Models:
    """Answers the list of models, and one of them."""

    def __init__(self, names: ModelNames) -> None:
        self._names = names
        self._created = int(time.time())

    async def list(self, request: Request) -> Response:
        """Answer GET /v1/models."""
        try:
            names = await self._names.all()
        except NaruError as error:
            return _json(error_object(error), status_of(error))
        return _json({"object": "list", "data": [self._row(name) for name in names]})

    async def one(self, request: Request) -> Response:
        """Answer GET /v1/models/{model}."""
        wanted = request.path_params["model"]
        try:
            names = await self._names.all()
        except NaruError as error:
            return _json(error_object(error), status_of(error))
        if wanted not in names:
            return _json(error_object(NotFoundError(f"There is no model {wanted!r}; GET /v1/models lists them.")), 404)
        return _json(self._row(wanted))

    def _row(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": self._created, "owned_by": "naru"}


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return Response(encode(value), status, media_type="application/json")
