"""POST /v1/responses, and what was kept of them: get, delete, input items, cancel."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from naru.errors import NaruError, NotFoundError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.stores.responses import Kept, ResponseStore
from naru.web.face.core import Core
from naru.web.face.endpoint import FaceEndpoint
from naru.web.face.errors import BadRequestError, status_of
from naru.web.face.plan_b import caller_of
from naru.web.face.seam import Face
from naru.web.openai.wire import error_object
from naru.web.responses.items import as_items
from naru.web.responses.request import ResponsesCall, check_body, read_call
from naru.web.responses.wire import Answer, EventWriter, Keep, ObjectWriter
from naru.web.routes import Access, Endpoint

FILE = "responses.db"
_PAGE = 20


def endpoints(core: Core) -> list[Endpoint]:
    """Return the rows of the Responses API, each also under /clients/NAME."""
    settings = core.hub.settings
    where = core.hub.tables or settings.hub.data_dir / FILE
    store = ResponseStore(where, days=settings.chat.keep_responses_days)
    responses, desk = FaceEndpoint(core, Responses(store)), Desk(store)
    rows: list[Endpoint] = []
    for prefix in ("", "/clients/{client}"):
        path = f"{prefix}/v1/responses"
        rows += [
            Endpoint(path, ("POST",), responses, Access.USER, raw=True, media=True),
            Endpoint(f"{path}/{{response}}", ("GET",), desk.show, Access.USER),
            Endpoint(f"{path}/{{response}}", ("DELETE",), desk.delete, Access.USER),
            Endpoint(f"{path}/{{response}}/input_items", ("GET",), desk.input_items, Access.USER),
            Endpoint(f"{path}/{{response}}/cancel", ("POST",), desk.cancel, Access.USER),
        ]
    return rows


class Responses(Face[ResponsesCall]):
    """Answer a turn in the form of OpenAI's Responses API, for Codex and the newer clients."""

    def __init__(self, store: ResponseStore) -> None:
        self._store = store

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> ResponsesCall:
        """Read a request, and what was kept of the conversation that it goes on with."""
        check_body(body)
        if "input" not in body:
            raise BadRequestError("input is missing: text, or a list of items.", param="input")
        previous = body.get("previous_response_id")
        before: list[JsonObject] | None = []
        if previous:
            before = await self._store.conversation(caller, str(previous))
        if before is None:
            raise NotFoundError(
                f"No response {str(previous)[:80]!r} is kept here.",
                remedy="Send the whole conversation as input; responses are kept for chat.keep_responses_days.",
            )
        items = [{**item} for item in as_items(body["input"])]
        for position, item in enumerate(items):
            if item.get("type") == "item_reference":
                items[position] = await self._referred(item, caller, before, f"input[{position}]")
        return read_call(body, headers, caller, items, before)

    async def _referred(self, item: JsonObject, caller: str, before: list[JsonObject], where: str) -> JsonObject:
        found = next((one for one in before if one.get("id") == item.get("id")), None)
        if found is None:
            raise BadRequestError(f"{where} refers to {item.get('id')!r}, which is not kept here.", param=where)
        return found

    def stream(self, asked: ResponsesCall) -> EventWriter:
        """Write events."""
        return EventWriter(self._answer(asked))

    def whole(self, asked: ResponsesCall) -> ObjectWriter:
        """Write one response."""
        return ObjectWriter(self._answer(asked))

    def refused(self, error: NaruError) -> bytes:
        """Say an error."""
        return encode(error_object(error))

    def failed(self, error: NaruError) -> bytes:
        """Say an error in a stream that has no response yet."""
        said = error_object(error)["error"]
        fields = {"code": said["code"], "message": said["message"], "param": said["param"], "sequence_number": 0}
        return b"event: error\ndata: " + encode({"type": "error", **fields}) + b"\n\n"

    def _answer(self, asked: ResponsesCall) -> Answer:
        keep = self._keeper(asked) if asked.stores and self._store.days > 0 else None
        return Answer(asked.body, asked.model_shown, asked.shown, keep)

    def _keeper(self, asked: ResponsesCall) -> Keep:
        async def keep(response: JsonObject) -> None:
            previous = asked.body.get("previous_response_id") or None
            await self._store.save(asked.caller, Kept(response, asked.items, previous))

        return keep


class Desk:
    """What was kept: a caller sees its own."""

    def __init__(self, store: ResponseStore) -> None:
        self._store = store

    async def show(self, request: Request) -> Response:
        """Return a response that was kept."""
        try:
            return _json((await self._kept(request)).response)
        except NaruError as error:
            return _refused(error)

    async def delete(self, request: Request) -> Response:
        """Forget a response; later ones that go on with it lose what was before."""
        response_id = request.path_params["response"]
        try:
            if not await self._store.delete(caller_of(request.scope.get("state")), response_id):
                raise _unknown(response_id)
        except NaruError as error:
            return _refused(error)
        return _json({"id": response_id, "object": "response", "deleted": True})

    async def input_items(self, request: Request) -> Response:
        """List what was sent for a response, newest first unless `order=asc`."""
        try:
            kept = await self._kept(request)
            items = [_listed(item, position, kept.response["id"]) for position, item in enumerate(kept.input)]
            asked = request.query_params
            if asked.get("order", "desc") != "asc":
                items.reverse()
            names = [item["id"] for item in items]
            start = names.index(asked["after"]) + 1 if asked.get("after") in names else 0
            limit = int(asked.get("limit") or _PAGE)
        except NaruError as error:
            return _refused(error)
        except ValueError:
            return _refused(BadRequestError("limit must be a number.", param="limit"))
        page = items[start : start + max(1, limit)]
        ends = {"first_id": page[0]["id"] if page else None, "last_id": page[-1]["id"] if page else None}
        return _json({"object": "list", "data": page, "has_more": start + len(page) < len(items), **ends})

    async def cancel(self, request: Request) -> Response:
        """Refuse: only answers in the background can be cancelled, and none is made there."""
        try:
            status = (await self._kept(request)).response["status"]
            raise BadRequestError(
                f"This response is {status}; there is nothing to cancel. Close the connection to end one that is "
                "being written."
            )
        except NaruError as error:
            return _refused(error)

    async def _kept(self, request: Request) -> Kept:
        response_id = request.path_params["response"]
        kept = await self._store.get(caller_of(request.scope.get("state")), response_id)
        if kept is None:
            raise _unknown(response_id)
        return kept


def _unknown(response_id: str) -> NotFoundError:
    return NotFoundError(f"No response {response_id[:80]!r} is kept here.")


def _listed(item: JsonObject, position: int, response_id: str) -> JsonObject:
    """Return an input item as the API lists it: with an id, its content in parts."""
    kind = item.get("type") or "message"
    named = {"id": f"{response_id.replace('resp_', 'item_')}_{position}", **item, "type": kind}
    if kind == "message":
        content = item.get("content")
        spoken = item.get("role") == "assistant"
        if isinstance(content, str):
            part: JsonObject = {"type": "output_text", "text": content, "annotations": []}
            named["content"] = [part if spoken else {"type": "input_text", "text": content}]
        named.setdefault("status", "completed")
    return named


def _json(value: JsonObject) -> Response:
    return Response(encode(value), media_type="application/json")


def _refused(error: NaruError) -> Response:
    return Response(encode(error_object(error)), status_of(error), media_type="application/json")
