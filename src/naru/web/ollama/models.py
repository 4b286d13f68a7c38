"""What Ollama's clients ask of models: the list, one of them, those that run, embeddings, the version."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from naru.errors import ModelError, NaruError, NotFoundError
from naru.messages import JsonObject
from naru.models.backend import for_model, inform
from naru.models.known.count import count
from naru.models.transport.endpoint import WHOLE_BODY_BYTES
from naru.models.transport.json_text import encode
from naru.web.face.core import Core
from naru.web.face.errors import BadRequestError, status_of
from naru.web.face.names import HUB_TOOLS_SUFFIX, ModelNames
from naru.web.face.reading.body import check_kinds, decode_body
from naru.web.ollama.request import LATEST
from naru.web.ollama.wire import error_object, now
from naru.web.openai.passthrough import as_reached, raw_backend

VERSION = "0.13.0"
"""Of Ollama's API as it is answered here; some clients ask for a least version."""
_KEPT_UNTIL = "2318-01-01T00:00:00Z"


async def untagged(names: ModelNames, name: str) -> str:
    """Return a name without the tag that Ollama's clients put after each, where no model is called so with it."""
    try:
        is_own = not name.endswith(LATEST) or name in await names.all()
    except NaruError:  # What is wrong is told by the answer.
        is_own = False
    return name if is_own else name.removesuffix(LATEST)


class Models:
    """The handlers."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._since = now()

    async def tags(self, request: Request) -> Response:
        """List the models, those with `+tools` and aliases too."""
        return await _answered(self._tags)

    async def show(self, request: Request) -> Response:
        """Tell of one model: its family, its context, what it can do."""
        return await _answered(lambda: self._show(request))

    async def running(self, request: Request) -> Response:
        """List the models as running: they are there when they are asked."""

        async def rows() -> JsonObject:
            beside = {"expires_at": _KEPT_UNTIL, "size_vram": 0}
            return {"models": [{**self._row(name), **beside} for name in await self._core.hub.backend.models()]}

        return await _answered(rows)

    async def version(self, request: Request) -> Response:
        """Tell which of Ollama's versions this API is like."""
        return _json({"version": VERSION})

    async def embed(self, request: Request) -> Response:
        """Embed one text or several."""

        async def embedded() -> JsonObject:
            began = time.monotonic_ns()
            body = decode_body(await request.body())
            model, found, tokens = await self._embedded(body, body.get("input"))
            durations = {"total_duration": time.monotonic_ns() - began, "load_duration": 0}
            return {"model": model, "embeddings": found, **durations, "prompt_eval_count": tokens}

        return await _answered(embedded)

    async def embed_one(self, request: Request) -> Response:
        """Embed one text, in the older form."""

        async def embedded() -> JsonObject:
            body = decode_body(await request.body())
            if not isinstance(body.get("prompt"), str):
                raise BadRequestError("prompt must be text.", param="prompt")
            _, found, _ = await self._embedded(body, body["prompt"])
            return {"embedding": found[0] if found else []}

        return await _answered(embedded)

    async def _tags(self) -> JsonObject:
        return {"models": [self._row(name) for name in await self._core.names.all()]}

    async def _show(self, request: Request) -> JsonObject:
        body = decode_body(await request.body())
        name = str(body.get("model") or body.get("name") or "")
        known = await self._core.names.all()
        if name not in known and name.removesuffix(LATEST) in known:
            name = name.removesuffix(LATEST)
        if name not in known:
            raise NotFoundError(f"model '{name[:80]}' not found", remedy="GET /api/tags lists them.")
        hub = self._core.hub
        model, _ = await self._core.names.resolve(name.removesuffix(HUB_TOOLS_SUFFIX))
        await inform(hub.backend, model)
        profile = for_model(hub.backend, model).profile
        abilities = ["completion", "tools"]
        abilities += [] if profile.sees is False else ["vision"]
        abilities += [] if profile.reasoning in ("", "none") else ["thinking"]
        context = profile.context_tokens or hub.settings.model.context_tokens
        family: JsonObject = {"general.architecture": profile.family}
        if context:  # Clients take no length for their own default, and 0 for no room at all.
            family[f"{profile.family}.context_length"] = context
        told = {"license": "", "modelfile": "", "parameters": "", "template": "{{ .Prompt }}"}
        return {
            **told,
            "details": _details(profile.family),
            "model_info": family,
            "capabilities": abilities,
            "modified_at": self._since,
        }

    def _row(self, name: str) -> JsonObject:
        digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        about = {"modified_at": self._since, "size": 0, "digest": digest, "details": _details("")}
        return {"name": name, "model": name, **about}

    async def _embedded(self, body: JsonObject, text: Any) -> tuple[str, list[list[float]], int]:
        shown = str(body.get("model") or "")
        names = self._core.names
        model, _ = await names.resolve((await untagged(names, shown)).removesuffix(HUB_TOOLS_SUFFIX))
        if not isinstance(text, str | list):
            raise BadRequestError("input must be text or a list of texts.", param="input")
        check_kinds(body, {"dimensions": (float,)})
        if not text:  # So a client has a model loaded.
            return shown, [], 0
        found = raw_backend(await as_reached(self._core.hub.backend, model, len(str(text))), model)
        if found is None:
            raise ModelError("This model's endpoint has no /embeddings.", status=404)
        backend, name = found
        asked: JsonObject = {"model": name, "input": text}
        if body.get("dimensions"):
            asked["dimensions"] = body["dimensions"]
        reply = await backend.http.post(f"{backend.openai_path}/embeddings", encode(asked))
        try:
            if reply.status >= 400:
                raise await backend.http.refusal(reply)
            answer = orjson.loads(await reply.read_some(WHOLE_BODY_BYTES))
            vectors = [row["embedding"] for row in sorted(answer["data"], key=lambda row: row.get("index", 0))]
            if len(vectors) != (1 if isinstance(text, str) else len(text)):
                raise ValueError("one for each text was asked for")
            tokens = count((answer.get("usage") or {}).get("prompt_tokens"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{backend.http.where} answered with something that is no list of embeddings.") from error
        finally:
            reply.close()
        return shown, vectors, tokens


def _details(family: str) -> JsonObject:
    sizes = {"parameter_size": "", "quantization_level": ""}
    return {"parent_model": "", "format": "", "family": family, "families": [family] if family else [], **sizes}


async def _answered(work: Callable[[], Awaitable[JsonObject]]) -> Response:
    try:
        return _json(await work())
    except NaruError as error:
        return Response(encode(error_object(error)), status_of(error), media_type="application/json")


def _json(value: JsonObject) -> Response:
    return Response(encode(value), media_type="application/json")
