"""GET /v1/models, in the form that the asker reads: Anthropic's where its version header is sent, else OpenAI's."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from naru.errors import NaruError, NotFoundError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.web.anthropic.messages import ANTHROPIC
from naru.web.face.core import Core
from naru.web.face.errors import BadRequestError, status_of
from naru.web.face.seam import Form
from naru.web.openai.chat import OPENAI
from naru.web.routes import Access, Endpoint


def endpoints(core: Core) -> list[Endpoint]:
    """Return the rows."""
    models = Models(core)
    return [
        Endpoint("/v1/models", ("GET",), models.list, Access.READ),
        Endpoint("/v1/models/{model:path}", ("GET",), models.one, Access.READ),
    ]


_MOST, _DIGITS = 1000, 4
"""Models on a page, and the digits of such a number."""


class Models:
    """Answers the list of models, and one of them."""

    def __init__(self, core: Core) -> None:
        self._names = core.names
        self._created = int(time.time())

    async def list(self, request: Request) -> Response:
        """List the names of models, those with `+tools` and aliases too."""
        form = _form(request)
        try:
            names = await self._names.all()
            if form is OPENAI:
                return _json({"object": "list", "data": [self._row(form, name) for name in names]})
            shown, has_more = _page(names, request.query_params)
        except NaruError as error:
            return _refused(form, error)
        ends = {"first_id": shown[0] if shown else None, "last_id": shown[-1] if shown else None}
        return _json({"data": [self._row(form, name) for name in shown], "has_more": has_more, **ends})

    async def one(self, request: Request) -> Response:
        """Tell of one model."""
        form, wanted = _form(request), request.path_params["model"]
        try:
            if wanted not in await self._names.all():
                raise NotFoundError(f"There is no model {wanted!r}; GET /v1/models lists them.")
        except NaruError as error:
            return _refused(form, error)
        return _json(self._row(form, wanted))

    def _row(self, form: Form, name: str) -> JsonObject:
        if form is OPENAI:
            return {"id": name, "object": "model", "created": self._created, "owned_by": "naru"}
        created = datetime.fromtimestamp(self._created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"id": name, "type": "model", "display_name": name, "created_at": created, "lifecycle": "active"}


def _page(names: Sequence[str], asked: Mapping[str, str]) -> tuple[Sequence[str], bool]:
    """Return those that are asked for, all unless `limit` says how many, and whether more follow in that direction.

    Raises:
        BadRequestError: `limit` is none, or a name to go on from is nobody's.
    """
    limit = asked.get("limit") or str(_MOST)
    if not limit.isdecimal() or not 1 <= int(limit[:_DIGITS]) <= _MOST or len(limit) > _DIGITS:
        raise BadRequestError(f"limit must be a number from 1 to {_MOST}.", param="limit")
    for key in ("after_id", "before_id"):
        if asked.get(key) and asked[key] not in names:
            raise BadRequestError(f"{key} names {asked[key][:80]!r}, which is not among the models.", param=key)
    start = names.index(asked["after_id"]) + 1 if asked.get("after_id") else 0
    end = names.index(asked["before_id"]) if asked.get("before_id") else len(names)
    shown = names[max(start, end - int(limit)) : end] if asked.get("before_id") else names[start:end][: int(limit)]
    return shown, len(shown) < len(names[start:end])


def _form(request: Request) -> Form:
    return ANTHROPIC if "anthropic-version" in request.headers else OPENAI


def _refused(form: Form, error: NaruError) -> Response:
    return Response(form.refused(error), status_of(error), media_type="application/json")


def _json(value: JsonObject) -> Response:
    return Response(encode(value), media_type="application/json")
