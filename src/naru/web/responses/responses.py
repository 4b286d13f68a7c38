"""POST /v1/responses, and what was kept of them: get, delete, input items, cancel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from naru.errors import NaruError, NotFoundError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.stores.kept.conversations import ConversationStore
from naru.stores.kept.responses import MIB, UNDER_WAY, Kept, ResponseStore, Sizes
from naru.stores.shared.commons import Commons
from naru.web.face.core import Core
from naru.web.face.counting import TokenCount
from naru.web.face.endpoint import FaceEndpoint
from naru.web.face.errors import BadRequestError, status_of
from naru.web.face.plan_b import caller_of
from naru.web.face.reading.parts import text_of
from naru.web.face.seam import Face
from naru.web.openai.wire import error_object
from naru.web.responses.background import HUB, Background, current
from naru.web.responses.compaction import Compaction
from naru.web.responses.conversations import endpoints as conversation_endpoints
from naru.web.responses.conversations import items_of
from naru.web.responses.items import as_items
from naru.web.responses.listed import listed, page
from naru.web.responses.output import made_id, response_of
from naru.web.responses.request import ResponsesCall, check_body, read_call
from naru.web.responses.wire import Answer, EventWriter, Keep, ObjectWriter
from naru.web.routes import Access, Endpoint

FILE, CONVERSATIONS = "responses.db", "conversations.db"
_CANCEL, _DROP = "response.cancel", "response.drop"
_MOST_DIGITS = 15
"""Of a sequence number."""


def endpoints(core: Core) -> list[Endpoint]:
    """Return the rows of the Responses API."""
    settings, tables = core.hub.settings, core.hub.tables
    days = settings.chat.keep_responses_days
    sizes = Sizes(settings.chat.keep_responses_mib * MIB, settings.chat.keep_responses_mib_in_all * MIB)
    store = ResponseStore(tables or settings.hub.data_dir / FILE, days=days, sizes=sizes)
    conversations = ConversationStore(tables or settings.hub.data_dir / CONVERSATIONS, days=days)
    face = Responses(store, conversations)
    responses = Background(FaceEndpoint(core, face), store, core.hub.commons.me)
    compact = FaceEndpoint(core, Compaction(face))
    counted = TokenCount(core, face, lambda tokens: {"object": "response.input_tokens", "input_tokens": tokens})
    desk = Desk(store, responses, core.hub.commons)
    return [
        Endpoint("/v1/responses", ("POST",), responses, Access.USER, raw=True, media=True, close=responses.close),
        Endpoint("/v1/responses/compact", ("POST",), compact, Access.USER, raw=True, media=True),
        Endpoint("/v1/responses/input_tokens", ("POST",), counted.answer, Access.USER),
        Endpoint("/v1/responses/{response}", ("GET",), desk.show, Access.USER),
        Endpoint("/v1/responses/{response}", ("DELETE",), desk.delete, Access.USER),
        Endpoint("/v1/responses/{response}/input_items", ("GET",), desk.input_items, Access.USER),
        Endpoint("/v1/responses/{response}/cancel", ("POST",), desk.cancel, Access.USER),
        *conversation_endpoints(conversations),
    ]


class Responses(Face[ResponsesCall]):
    """Answer a turn in the form of OpenAI's Responses API, for Codex and the newer clients."""

    def __init__(self, store: ResponseStore, conversations: ConversationStore) -> None:
        self._store = store
        self._conversations = conversations

    async def read(self, body: JsonObject, headers: Mapping[bytes, bytes], caller: str) -> ResponsesCall:
        """Read a request, and what was kept of the conversation that it goes on with."""
        check_body(body)
        if body.get("background") and self._store.days <= 0:
            raise BadRequestError("Answers in the background are kept, and chat.keep_responses_days is 0 here.")
        previous, conversation = body.get("previous_response_id"), ""
        if "input" not in body and not (previous or body.get("conversation")):
            raise BadRequestError("input is missing: text, or a list of items.", param="input")
        before: list[JsonObject] | None = []
        if previous:
            await self._check_ended(caller, str(previous))
            before = await self._store.conversation(caller, str(previous))
        elif body.get("conversation"):
            conversation, held = await items_of(self._conversations, caller, body["conversation"])
            before = list(held)
        if before is None:
            missing = NotFoundError(
                f"No response {str(previous)[:80]!r} is kept here.",
                remedy="Send the whole conversation as input; responses are kept for chat.keep_responses_days.",
            )
            missing.param = "previous_response_id"
            raise missing
        items = [{**item} for item in as_items(body.get("input", []))]
        for position, item in enumerate(items):
            if item.get("type") == "item_reference":
                items[position] = await self._referred(item, caller, before, f"input[{position}]")
        call = read_call(body, headers, caller, items, before)
        return replace(call, conversation=conversation) if conversation else call

    async def _check_ended(self, caller: str, previous: str) -> None:
        kept = await self._store.get(caller, previous)
        if kept is not None and kept.response["status"] in UNDER_WAY:
            raise BadRequestError(
                f"previous_response_id names {previous!r}, which is still being made: wait until it has ended "
                f"(GET /v1/responses/{previous}), or cancel it.",
                param="previous_response_id",
            )

    async def _referred(self, item: JsonObject, caller: str, before: list[JsonObject], where: str) -> JsonObject:
        """Return the item that is meant: one of the conversation, or of any response that is kept for the caller."""
        item_id = text_of(item.get("id"))
        if not (held := [one for one in before if one.get("id") == item_id]):
            kept = await self._store.get(caller, response_of(item_id))
            items = [*_input_of(kept), *kept.response["output"]] if kept is not None else []
            held = [one for one in items if one["id"] == item_id]
        if not held:
            raise BadRequestError(
                f"{where} refers to {item_id[:80]!r}, which is not kept here. Send the item itself; responses are kept "
                "for chat.keep_responses_days.",
                param=where,
            )
        return held[0]

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
        keep = self._keeper(asked) if self._store.days > 0 and (asked.stores or asked.conversation) else None
        answer = Answer(asked.body, asked.model_shown, asked.shown, keep, conversation=asked.conversation)
        if (answering := current.get()) is not None:
            answering.begin(answer.object("in_progress"), partial(_kept_of, asked))
        return answer

    def _keeper(self, asked: ResponsesCall) -> Keep:
        async def keep(response: JsonObject) -> None:
            if (answering := current.get()) is not None:
                await answering.noted.wait()
            if asked.stores:
                await self._store.save(asked.caller, _kept_of(asked, response))
            if asked.conversation:
                said = [listed(item, made_id("item")) for item in (*asked.items, *response["output"])]
                await self._conversations.add(asked.caller, asked.conversation, said)

        return keep


def _kept_of(asked: ResponsesCall, response: JsonObject) -> Kept:
    return Kept(response, asked.items, asked.body.get("previous_response_id") or None)


def _input_of(kept: Kept) -> list[JsonObject]:
    """Return what was sent for a response as items that have ids."""
    head = kept.response["id"].replace("resp_", "item_")
    return [listed(item, f"{head}_{position}") for position, item in enumerate(kept.input)]


class Desk:
    """What was kept, and what is being made in the background: a caller sees its own."""

    def __init__(self, store: ResponseStore, background: Background, commons: Commons) -> None:
        self._store = store
        self._background = background
        self._commons = commons
        commons.hear(_CANCEL, background.cancel)
        commons.hear(_DROP, background.drop)

    async def show(self, request: Request) -> Response:
        """Return a response that was kept, or its events (`stream=true`) while it is made in the background."""
        try:
            kept = await self._kept(request)
            if request.query_params.get("stream") == "true":
                return self._events(kept.response["id"], request.query_params.get("starting_after", "-1"))
            return _json(kept.response)
        except NaruError as error:
            return _refused(error)

    async def delete(self, request: Request) -> Response:
        """Forget a response; later ones that go on with it lose what was before."""
        response_id = request.path_params["response"]
        try:
            await self._kept(request)
            self._background.drop(response_id)
            await self._background.stopped(response_id)
            self._commons.tell(_DROP, response_id)
            await self._store.delete(caller_of(request.scope.get("state")), response_id)
        except NaruError as error:
            return _refused(error)
        return _json({"id": response_id, "object": "response", "deleted": True})

    async def input_items(self, request: Request) -> Response:
        """List what was sent for a response, newest first unless `order=asc`."""
        try:
            kept = await self._kept(request)
            return _json(page(_input_of(kept), request.query_params))
        except NaruError as error:
            return _refused(error)

    async def cancel(self, request: Request) -> Response:
        """Stop an answer in the background; one that has ended stays as it is."""
        try:
            response = (await self._kept(request)).response
            if response.get("background") is not True:
                raise BadRequestError(
                    f"This response is {response['status']} and was not made in the background; there is nothing to "
                    "cancel. Close the connection to end one that is being written."
                )
            if response["status"] in UNDER_WAY and not await self._background.stopped(response["id"]):
                self._commons.tell(_CANCEL, response["id"])
                response = {**response, "status": "cancelled"}
            elif response["status"] in UNDER_WAY:
                response = (await self._kept(request)).response
            return _json(response)
        except NaruError as error:
            return _refused(error)

    def _events(self, response_id: str, after: str) -> Response:
        answering = self._background.running.get(response_id)
        if answering is None:
            raise BadRequestError(
                "The events of this response are not kept any more; ask for it without stream.", param="stream"
            )
        if not after.removeprefix("-").isdecimal() or len(after) > _MOST_DIGITS:
            raise BadRequestError("starting_after must be a sequence number.", param="starting_after")
        return StreamingResponse(answering.follow(int(after)), media_type="text/event-stream")

    async def _kept(self, request: Request) -> Kept:
        response_id, caller = request.path_params["response"], caller_of(request.scope.get("state"))
        kept = await self._store.get(caller, response_id)
        if kept is None:
            raise NotFoundError(f"No response {response_id[:80]!r} is kept here.")
        hub = kept.response.pop(HUB, "")
        if kept.response["status"] in UNDER_WAY and response_id not in self._background.running:
            is_alone = not self._commons.me
            if is_alone or (hub and hub not in self._commons.members()):
                error = {"code": "server_error", "message": "Naru was stopped while it answered; ask again."}
                kept = replace(kept, response={**kept.response, "status": "failed", "error": error})
            if is_alone:  # A hub that only could not be heard may keep the answer still.
                await self._store.save(caller, kept)
        return kept


def _json(value: JsonObject) -> Response:
    return Response(encode(value), media_type="application/json")


def _refused(error: NaruError) -> Response:
    return Response(encode(error_object(error)), status_of(error), media_type="application/json")
