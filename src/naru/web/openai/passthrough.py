"""Endpoints that Naru hands on as they are: embeddings and plain completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naru.errors import ModelError, NaruError
from naru.http1.reply import Reply
from naru.messages import JsonObject
from naru.models.backend import Backend, for_model
from naru.models.limits.bounded import BoundedBackend
from naru.models.narrowed import Narrowed
from naru.models.transport.endpoint import WHOLE_BODY_BYTES
from naru.models.transport.json_text import encode
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_http import OpenAIBackend
from naru.models.wires.responses import ResponsesBackend
from naru.web.face.client import ChatClient, ClientGoneError, read_body, respond_error
from naru.web.face.core import Core
from naru.web.face.names import HUB_TOOLS_SUFFIX
from naru.web.face.reading.body import Kinds, check_kinds, check_routing, decode_body
from naru.web.face.seam import Form

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


_KINDS: Kinds = {"model": (str,), "dimensions": (float,), **dict.fromkeys(("input", "prompt"), (str, list))}
RawBackend = OpenAIBackend | OllamaBackend | ResponsesBackend
"""Those whose endpoints have OpenAI's older paths too."""


def raw_backend(backend: Backend, model: str) -> tuple[RawBackend, str] | None:
    """Return the HTTP endpoint of a model, whatever it is wrapped in, and the model's name there.

    None when it has none of OpenAI's paths.

    Raises:
        NotFoundError: no endpoint serves the model.
    """
    seen: object = for_model(backend, model)
    while seen is not None and not isinstance(seen, RawBackend):
        model = seen.model if isinstance(seen, Narrowed) else model
        seen = getattr(seen, "backend", None)
    return (seen, model or seen.model) if seen is not None else None


async def as_reached(backend: Backend, model: str, size: int) -> Backend:
    """Return a backend for a request that it does not read, of `size` bytes, as whoever asks may use it.

    Raises:
        NotFoundError, ModelError: the model is hidden, or the budget used up.
    """
    return await backend.raw(model, size) if isinstance(backend, BoundedBackend) else backend


class PassThrough:
    """Pass a request on to the model's endpoint; the answer comes back byte by byte, streams included."""

    def __init__(self, core: Core, path: str, form: Form) -> None:
        self._core = core
        self._form = form
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward one request."""
        try:
            body = await read_body(receive)
            asked = decode_body(body)
            check_routing(asked)
            check_kinds(asked, _KINDS)
        except ClientGoneError:
            return
        except NaruError as error:
            await respond_error(send, self._form, error)
            return
        async with ChatClient(scope, receive, send, self._form) as client:
            try:
                await self._forward(body, asked, client)
            except NaruError as error:
                await client.fail(error)

    async def _forward(self, body: bytes, asked: JsonObject, client: ChatClient) -> None:
        asked_model = asked.get("model")
        wanted, _ = await self._core.names.resolve((asked_model or "").removesuffix(HUB_TOOLS_SUFFIX))
        found = raw_backend(await as_reached(self._core.hub.backend, wanted, len(body)), wanted)
        if found is None:
            raise ModelError(f"This model's endpoint has no {self._path}.", status=404)
        backend, model = found
        if model != asked_model:
            body = encode({**asked, "model": model})
        answer = await backend.http.post(backend.openai_path + self._path, body)
        try:
            await _relay(answer, backend, client)
            answer.release()
        finally:
            answer.close()


async def _relay(answer: Reply, backend: RawBackend, client: ChatClient) -> None:
    if answer.status >= 400:
        raise await backend.http.refusal(answer)
    if answer.content_type == "text/event-stream":
        await answer.each(client.put)
        await client.end()
        return
    body = await answer.read_some(WHOLE_BODY_BYTES + 1)
    if answer.content_type != "application/json":
        shown = body[:200].decode("utf-8", "replace")
        raise ModelError(f"{backend.http.where} answered {answer.status} with {answer.content_type}: {shown}")
    if len(body) > WHOLE_BODY_BYTES:
        raise ModelError(
            f"{backend.http.where} answered with more than {WHOLE_BODY_BYTES >> 20} MB: ask for less at once."
        )
    await client.answer(body)
