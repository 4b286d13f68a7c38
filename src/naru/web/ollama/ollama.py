"""/api/chat, /api/generate and their neighbours, in Ollama's form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from naru.errors import NaruError
from naru.messages import ChatRequest, JsonObject
from naru.models.limits.queue import Place
from naru.models.transport.json_text import encode
from naru.models.wires.ollama import OllamaBackend
from naru.web.face.core import Core
from naru.web.face.endpoint import FaceEndpoint
from naru.web.face.errors import BadRequestError
from naru.web.face.seam import Face
from naru.web.ollama.models import Models, untagged
from naru.web.ollama.request import OllamaCall, read_call
from naru.web.ollama.wire import Lines, error_object
from naru.web.openai.passthrough import as_reached, raw_backend
from naru.web.routes import Access, Endpoint

_REFUSED = ("pull", "push", "create", "copy", "delete", "blobs/{digest}")


def endpoints(core: Core) -> list[Endpoint]:
    """Return the rows of Ollama's API."""
    chat, generate = (FaceEndpoint(core, Ollama(core, generates=generates)) for generates in (False, True))
    models = Models(core)
    return [
        Endpoint("/api/chat", ("POST",), chat, Access.USER, raw=True, media=True),
        Endpoint("/api/generate", ("POST",), generate, Access.USER, raw=True, media=True),
        Endpoint("/api/tags", ("GET",), models.tags, Access.READ),
        Endpoint("/api/show", ("POST",), models.show, Access.READ),
        Endpoint("/api/ps", ("GET",), models.running, Access.READ),
        Endpoint("/api/version", ("GET",), models.version, Access.READ),
        Endpoint("/api/embed", ("POST",), models.embed, Access.USER),
        Endpoint("/api/embeddings", ("POST",), models.embed_one, Access.USER),
        *(Endpoint(f"/api/{name}", ("POST", "DELETE"), refuse, Access.USER) for name in _REFUSED),
    ]


async def refuse(request: Request) -> Response:
    """Refuse what changes the models: Naru serves those of its settings."""
    what = request.scope["path"].split("/")[2]
    error = BadRequestError(f"{what} is not possible here: the models are those of Naru's settings (model.model, ...).")
    return Response(encode(error_object(error)), 400, media_type="application/json")


class Ollama(Face[OllamaCall]):
    """Answer in the form of Ollama's API, for programs that find models by it."""

    stream_type = b"application/x-ndjson"

    def __init__(self, core: Core, *, generates: bool) -> None:
        self._core = core
        self._generates = generates
        said: JsonObject = {"response": ""} if generates else {"message": {"role": "assistant", "content": ""}}
        # This API has no comments: a line that says nothing keeps the connection open.
        self.quiet = encode({"model": "", "created_at": "1970-01-01T00:00:00Z", **said, "done": False}) + b"\n"

    def waiting(self, place: Place) -> bytes:
        """Say nothing of the place: there is no field for it."""
        return self.quiet

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> OllamaCall:
        """Read a request; a name's `:latest` is Ollama's way to say that it has no tag."""
        if isinstance(model := body.get("model"), str):
            body = {**body, "model": await untagged(self._core.names, model)}
        call = read_call(body, headers, generates=self._generates)
        if call.answer:
            await self._load(call.request)
        return call

    async def _load(self, request: ChatRequest) -> None:
        """Have the model loaded or unloaded where it runs in an Ollama; others have it ready, or say nothing of it."""
        hub = self._core.hub
        name, _ = await self._core.names.resolve(request.model)
        found = raw_backend(await as_reached(hub.backend, name, 0), name)
        if found is not None and isinstance(found[0], OllamaBackend):
            await found[0].load(replace(request, model=found[1]))

    def stream(self, asked: OllamaCall) -> Lines:
        """Write lines."""
        return Lines(asked.model_shown, generates=asked.generates, thinks=asked.thinks)

    def whole(self, asked: OllamaCall) -> Lines:
        """Write one object."""
        return self.stream(asked)

    def refused(self, error: NaruError) -> bytes:
        """Say an error."""
        return encode(error_object(error))

    def failed(self, error: NaruError) -> bytes:
        """Say an error in a stream."""
        return encode(error_object(error)) + b"\n"
