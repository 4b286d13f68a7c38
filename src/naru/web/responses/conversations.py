"""/v1/conversations: a conversation as an object of its own, whose items any response may go on with."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from naru.errors import NaruError, NotFoundError
from naru.messages import JsonObject
from naru.models.transport.json_text import encode
from naru.stores.kept.conversations import ConversationStore
from naru.web.face.errors import BadRequestError, status_of
from naru.web.face.plan_b import caller_of
from naru.web.face.reading.body import decode_body
from naru.web.openai.wire import error_object
from naru.web.responses.items import as_items
from naru.web.responses.listed import as_list, listed, page
from naru.web.responses.output import made_id
from naru.web.responses.request import check_metadata
from naru.web.routes import Access, Endpoint

_MOST_ITEMS = 20
"""That one request may add, as at OpenAI."""


def endpoints(store: ConversationStore) -> list[Endpoint]:
    """Return the rows of the conversations."""
    desk = Conversations(store)
    path = "/v1/conversations"
    one, items = f"{path}/{{conversation}}", f"{path}/{{conversation}}/items"
    item = f"{items}/{{item}}"

    def row(path: str, method: str, work: Callable[[Request], Awaitable[JsonObject]]) -> Endpoint:
        endpoint = partial(_answered, work)
        endpoint.__doc__ = work.__doc__
        return Endpoint(path, (method,), endpoint, Access.USER, media=method == "POST")

    return [
        row(path, "POST", desk.create),
        row(one, "GET", desk.show),
        row(one, "POST", desk.update),
        row(one, "DELETE", desk.delete),
        row(items, "POST", desk.add),
        row(items, "GET", desk.list),
        row(item, "GET", desk.show_item),
        row(item, "DELETE", desk.remove),
    ]


class Conversations:
    """What can be done with conversations: a caller sees its own."""

    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    async def create(self, request: Request) -> JsonObject:
        """Begin a conversation, with its first items if there are some."""
        if self._store.days <= 0:
            raise BadRequestError("Conversations are not kept here: chat.keep_responses_days is 0.")
        body = await _body(request)
        items, metadata = _items(body, at_least=0), _metadata(body)
        caller, conversation_id = _caller(request), made_id("conv")
        await self._store.create(caller, conversation_id, metadata, created_at := int(time.time()))
        await self._store.add(caller, conversation_id, items)
        return _object(conversation_id, created_at, metadata)

    async def show(self, request: Request) -> JsonObject:
        """Return a conversation."""
        return _object(_id(request), *await self._kept(request))

    async def update(self, request: Request) -> JsonObject:
        """Change a conversation's metadata."""
        created_at, _ = await self._kept(request)
        metadata = _metadata(await _body(request))
        await self._store.describe(_caller(request), _id(request), metadata)
        return _object(_id(request), created_at, metadata)

    async def delete(self, request: Request) -> JsonObject:
        """Forget a conversation and its items; responses stay."""
        await self._kept(request)
        await self._store.delete(_caller(request), _id(request))
        return {"id": _id(request), "object": "conversation.deleted", "deleted": True}

    async def add(self, request: Request) -> JsonObject:
        """Put items at a conversation's end."""
        await self._kept(request)
        items = _items(await _body(request), at_least=1)
        await self._store.add(_caller(request), _id(request), items)
        return as_list(items, count=len(items))

    async def list(self, request: Request) -> JsonObject:
        """List a conversation's items, newest first unless `order=asc`."""
        await self._kept(request)
        return page(await self._store.items(_caller(request), _id(request)), request.query_params)

    async def show_item(self, request: Request) -> JsonObject:
        """Return one item."""
        await self._kept(request)
        wanted = request.path_params["item"]
        for item in await self._store.items(_caller(request), _id(request)):
            if item["id"] == wanted:
                return item
        raise _unknown("item", wanted)

    async def remove(self, request: Request) -> JsonObject:
        """Take one item out of a conversation."""
        created_at, metadata = await self._kept(request)
        if not await self._store.remove(_caller(request), _id(request), request.path_params["item"]):
            raise _unknown("item", request.path_params["item"])
        return _object(_id(request), created_at, metadata)

    async def _kept(self, request: Request) -> tuple[int, JsonObject]:
        found = await self._store.get(_caller(request), _id(request))
        if found is None:
            raise _unknown("conversation", _id(request))
        return found


async def items_of(store: ConversationStore, caller: str, asked: Any) -> tuple[str, Sequence[JsonObject]]:
    """Return the id of the conversation that a response goes on with, and its items.

    Raises:
        BadRequestError, NotFoundError: it names none, or one that is not kept.
    """
    conversation_id = asked.get("id") if isinstance(asked, dict) else asked
    if not isinstance(conversation_id, str) or not conversation_id:
        raise BadRequestError("conversation must be an id, or an object with one.", param="conversation")
    if await store.get(caller, conversation_id) is None:
        raise _unknown("conversation", conversation_id)
    return conversation_id, await store.items(caller, conversation_id)


async def _answered(work: Callable[[Request], Awaitable[JsonObject]], request: Request) -> Response:
    try:
        return Response(encode(await work(request)), media_type="application/json")
    except NaruError as error:
        return Response(encode(error_object(error)), status_of(error), media_type="application/json")


async def _body(request: Request) -> JsonObject:
    raw = await request.body()
    return decode_body(raw) if raw.strip() else {}


def _items(body: JsonObject, *, at_least: int) -> list[JsonObject]:
    raw = body.get("items") or []
    if not isinstance(raw, list) or not at_least <= len(raw) <= _MOST_ITEMS:
        raise BadRequestError(f"items must be a list of {at_least} to {_MOST_ITEMS} items.", param="items")
    return [listed(item, made_id("msg" if item.get("role") else "item")) for item in as_items(raw, "items")]


def _metadata(body: JsonObject) -> JsonObject:
    check_metadata(body)
    return body.get("metadata") or {}


def _object(conversation_id: str, created_at: int, metadata: JsonObject) -> JsonObject:
    return {"id": conversation_id, "object": "conversation", "created_at": created_at, "metadata": metadata}


def _unknown(what: str, named: str) -> NotFoundError:
    return NotFoundError(f"No {what} {named[:80]!r} is kept here.")


def _id(request: Request) -> str:
    return str(request.path_params["conversation"])


def _caller(request: Request) -> str:
    return caller_of(request.scope.get("state"))
