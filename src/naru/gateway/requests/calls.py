"""Requests that go to one server: tools/call, prompts/get, resources/read, completion, tasks; in any mix of eras."""

from __future__ import annotations

import asyncio
import uuid
from typing import Final

from naru.connections.state.faults import LinkError
from naru.gateway.requests import sign_in
from naru.gateway.requests.core import Core
from naru.gateway.requests.results import finish
from naru.gateway.sessions.exchange import Exchange
from naru.gateway.sessions.parked import ParkedCall, input_required
from naru.gateway.upstreams.upstream import ListKind, Upstream
from naru.gateway.view import Route, View
from naru.gateway.wire.headers import check_parameters
from naru.gateway.wire.protocol import (
    ASK_CAPABILITY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND_LEGACY,
    TASKS_EXTENSION,
    URL_ELICITATION,
    RpcError,
)
from naru.gateway.wire.seal import binding_of
from naru.messages import JsonObject

MAX_ROUNDS: Final = 10
"""How often one request may ask for input (S-58)."""
RESOURCES: Final[tuple[ListKind, ...]] = ("resources", "templates")
"""The lists by which a URI finds its server."""
_NAMED_BY: Final = {"ref/prompt": "name", "ref/resource": "uri"}
OWN_META: Final = frozenset(
    f"io.modelcontextprotocol/{key}" for key in ("protocolVersion", "clientCapabilities", "clientInfo", "logLevel")
)
"""`_meta` keys that are about the link to us; the link upstream says its own."""


async def call_tool(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer tools/call."""
    name = params.get("name")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "tools/call needs a name.")
    if not isinstance(params.get("arguments"), dict | None):
        raise RpcError(INVALID_PARAMS, "The arguments of a tool must be an object.")
    asked = False
    if "inputResponses" in params:
        params, asked = sign_in.without_answer(params)
    view = await core.catalog.view(exchange.view, ("tools",))
    route = view.tools.get(name)
    if route is None:
        if core.meta_tools is not None and core.meta_tools.has(name):
            return await core.meta_tools.call(core, exchange, params)
        absence = await core.upstreams.awaited(name)
        view = await core.catalog.view(exchange.view, ("tools",))
        route = view.tools.get(name)
        if route is None:
            shown = None if asked else sign_in.page(core, exchange, absence.server, absence.failure)
            return shown or _unknown_tool(exchange, f"Unknown tool: {name}{f'. {absence.why}' if absence.why else ''}")
    if exchange.headers is not None:
        check_parameters(view.header_parameters(name), params.get("arguments"), exchange.headers)
    try:
        return await send(core, exchange, "tools/call", params, route, "name")
    except LinkError as error:
        if asked or (shown := sign_in.page(core, exchange, route.upstream.name, error.failure)) is None:
            raise
        return shown


def _unknown_tool(exchange: Exchange, said: str) -> JsonObject:
    """Answer a call of a tool that nobody has: an error of the protocol in sessions, a result since 2026-07-28.

    There a model is to read it, as the SDKs and the official suite have it. Raises RpcError.
    """
    if not exchange.modern:
        raise RpcError(INVALID_PARAMS, said)
    return finish({"content": [{"type": "text", "text": said}], "isError": True}, exchange, "tools/call")


async def get_prompt(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer prompts/get."""
    name = params.get("name")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "prompts/get needs a name.")
    view = await core.catalog.view(exchange.view, ("prompts",))
    route = view.prompts.get(name)
    if route is None:
        why = (await core.upstreams.awaited(name)).why
        view = await core.catalog.view(exchange.view, ("prompts",))
        route = view.prompts.get(name)
        if route is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name}{f'. {why}' if why else ''}")
    return await send(core, exchange, "prompts/get", params, route, "name")


async def read_resource(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer resources/read; the server is chosen by what it offers, never by building a path (S-47)."""
    uri = params.get("uri")
    view = await core.catalog.view(exchange.view, RESOURCES)
    route = view.resource(uri) if isinstance(uri, str) else None
    if route is None:
        raise not_found(exchange, uri)
    try:
        return _as_asked(await send(core, exchange, "resources/read", params, route, "uri"), route.name, uri)
    except RpcError as error:
        # Each era has its own code for "not found"; servers of both stand behind clients of both.
        if error.code == RESOURCE_NOT_FOUND_LEGACY and exchange.modern:
            raise RpcError(INVALID_PARAMS, error.message, error.data or {"uri": uri}) from error
        raise


def _as_asked(result: JsonObject, own: str, asked: object) -> JsonObject:
    """Return contents under the address that the client knows, where the server's own is another."""
    contents = result.get("contents")
    if own == asked or not isinstance(contents, list):
        return result
    named = [{**one, "uri": asked} if isinstance(one, dict) and one.get("uri") == own else one for one in contents]
    return {**result, "contents": named}


def not_found(exchange: Exchange, uri: object) -> RpcError:
    """Return the error for a URI that nobody serves, in the client's era."""
    if not isinstance(uri, str):
        return RpcError(INVALID_PARAMS, "A resource is named by params.uri, which has to be a string.")
    code = INVALID_PARAMS if exchange.modern else RESOURCE_NOT_FOUND_LEGACY
    return RpcError(code, f"Resource not found: {str(uri)[:200]}", {"uri": uri})


async def complete(core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
    """Answer completion/complete from the server that owns what is being completed."""
    reference = params.get("ref")
    reference = reference if isinstance(reference, dict) else {}
    key = _NAMED_BY.get(str(reference.get("type")), "")
    named = reference.get(key)
    if not isinstance(named, str):
        said = "completion/complete needs a ref: of type ref/prompt with a name, or of type ref/resource with a uri."
        raise RpcError(INVALID_PARAMS, said)
    view = await core.catalog.view(exchange.view, ("prompts",) if key == "name" else RESOURCES)
    route = view.prompts.get(named) if key == "name" else _completed(view, named)
    if route is None:
        raise RpcError(INVALID_PARAMS, f"Unknown reference: {named[:200]}")
    if "completions" not in route.upstream.capabilities:
        return finish({"completion": {"values": [], "total": 0, "hasMore": False}}, exchange, "completion/complete")
    outgoing = {**params, "ref": {**reference, key: route.name}, "_meta": _meta(params)}
    result = await route.upstream.request(
        "completion/complete", outgoing, relay=exchange, envelope=core.envelope(exchange, route.upstream)
    )
    return finish(result, exchange, "completion/complete")


def _completed(view: View, uri: str) -> Route | None:
    for _, route in view.templates:
        if route.item.get("uriTemplate") == uri:
            return Route(route.upstream, uri, route.item)
    return view.resource(uri)


async def handle_task(core: Core, exchange: Exchange, method: str, params: JsonObject) -> JsonObject:
    """Answer tasks/get, tasks/update and tasks/cancel from the server that made the task."""
    extensions = exchange.capabilities.get("extensions")
    if not isinstance(extensions, dict) or TASKS_EXTENSION not in extensions:
        data: JsonObject = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
        raise RpcError(MISSING_CAPABILITY, f"{method} needs the extension {TASKS_EXTENSION}.", data)
    server, task_id = core.tasks.open(params.get("taskId"), exchange.caller)
    view = await core.catalog.view(exchange.view, ())
    upstream = view.upstreams.get(server)
    if upstream is None:
        raise RpcError(INVALID_PARAMS, "Unknown task: its server is not connected.")
    outgoing = {**params, "taskId": task_id, "_meta": _meta(params)}
    result = await upstream.request(method, outgoing, relay=exchange, envelope=core.envelope(exchange, upstream))
    return finish(_with_task(core, exchange, upstream, result), exchange, method)


def _with_task(core: Core, exchange: Exchange, upstream: Upstream, result: JsonObject) -> JsonObject:
    task_id = result.get("taskId")
    if isinstance(task_id, str):
        return {**result, "taskId": core.tasks.seal(upstream.name, task_id, exchange.caller)}
    return result


async def send(core: Core, exchange: Exchange, method: str, params: JsonObject, route: Route, key: str) -> JsonObject:
    """Send a request that may ask for input to its server, and bring the eras of client and server together."""
    upstream = route.upstream
    outgoing = {**params, key: route.name, "_meta": _meta(params)}
    outgoing.pop("task", None)  # of 2025-11-25, whose receivers leave it out of account where they declare no tasks
    if outgoing.get("arguments", "") is None:
        del outgoing["arguments"]  # some clients write what they have not as null
    if exchange.modern:
        result = await (_modern_to_modern if upstream.modern else _modern_to_legacy)(
            core, exchange, method, outgoing, upstream
        )
    else:
        outgoing.pop("inputResponses", None)
        outgoing.pop("requestState", None)
        result = await _from_legacy(core, exchange, method, outgoing, upstream)
    if result.get("resultType") == "task":
        result = _with_task(core, exchange, upstream, result)
    return finish(result, exchange, method)


def _meta(params: JsonObject) -> JsonObject:
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return {}
    return {key: value for key, value in meta.items() if key not in OWN_META and key != "progressToken"}


async def _from_legacy(
    core: Core, exchange: Exchange, method: str, outgoing: JsonObject, upstream: Upstream
) -> JsonObject:
    """Serve a client of sessions: what a stateless server asks for is pushed to it, and the request sent again."""
    envelope = core.envelope(exchange, upstream)
    for _ in range(MAX_ROUNDS):
        result = await upstream.request(method, outgoing, relay=exchange, envelope=envelope)
        if result.get("resultType") != "input_required":
            return result
        outgoing = {**outgoing, "inputResponses": await _ask_all(exchange, result.get("inputRequests"))}
        outgoing.pop("requestState", None)
        if "requestState" in result:
            outgoing["requestState"] = result["requestState"]
    raise RpcError(INTERNAL_ERROR, f"Server {upstream.name!r} asked for input {MAX_ROUNDS} times without an answer.")


async def _ask_all(exchange: Exchange, requests: object) -> JsonObject:
    if not isinstance(requests, dict):
        return {}

    async def ask(question: JsonObject) -> object:
        method, params = str(question.get("method")), question.get("params")
        params = params if isinstance(params, dict) else {}
        if params.get("mode") == "url":
            params = {"elicitationId": str(uuid.uuid4()), **params}
        return await exchange.ask(method, params)

    asking = [asyncio.ensure_future(ask(question)) for question in requests.values()]
    try:
        return dict(zip(requests, await asyncio.gather(*asking), strict=True))
    finally:
        for one in asking:
            one.cancel()  # those that nobody waits for any more, since one was refused
        await asyncio.gather(*asking, return_exceptions=True)


async def _modern_to_modern(
    core: Core, exchange: Exchange, method: str, outgoing: JsonObject, upstream: Upstream
) -> JsonObject:
    """Serve a stateless client from a stateless server; its state goes back to it alone, byte for byte (S-58)."""
    binding = binding_of(method, outgoing)
    state, rounds = outgoing.get("requestState"), 0
    if state is not None:
        opened = core.sealer.open(str(state), caller=exchange.caller, binding=binding)
        if opened.get("server") != upstream.name:
            raise RpcError(INVALID_PARAMS, "requestState is another server's.")
        outgoing["requestState"] = opened["state"]
        rounds = int(opened["round"])
    envelope = core.envelope(exchange, upstream)
    result = await upstream.request(method, outgoing, relay=exchange, envelope=envelope)
    if result.get("resultType") == "input_required" and "requestState" in result:
        if rounds >= MAX_ROUNDS:
            raise RpcError(
                INTERNAL_ERROR, f"Server {upstream.name!r} asked for input {MAX_ROUNDS} times without an end."
            )
        payload = {"server": upstream.name, "state": result["requestState"], "round": rounds + 1}
        sealed = core.sealer.seal(payload, caller=exchange.caller, binding=binding)
        return {**result, "requestState": sealed}
    return result


async def _modern_to_legacy(
    core: Core, exchange: Exchange, method: str, outgoing: JsonObject, upstream: Upstream
) -> JsonObject:
    """Serve a stateless client from a server of sessions: its questions become `input_required` results."""
    binding = binding_of(method, outgoing)
    state, responses = outgoing.pop("requestState", None), outgoing.pop("inputResponses", None)
    if responses is not None and not isinstance(responses, dict):
        raise RpcError(INVALID_PARAMS, "inputResponses must be an object.")
    if not any(capability in exchange.capabilities for capability in ASK_CAPABILITY.values()):
        return await upstream.request(method, outgoing, relay=exchange)
    opened = core.sealer.open(str(state), caller=exchange.caller, binding=binding) if state is not None else {}
    if "parked" in opened:
        call = core.parking.take(opened["parked"], exchange, responses or {})
    else:
        call = ParkedCall(exchange)
        core.parking.start(call, upstream.request(method, outgoing, relay=call))
    try:
        result = await call.next()
    except asyncio.CancelledError:
        core.parking.end(call)
        raise
    except RpcError as error:
        visits = _visits(error, exchange)
        if not visits:
            raise
        # The page is visited and the request simply made again: nothing waits upstream meanwhile.
        return input_required(visits, core.sealer.seal({}, caller=exchange.caller, binding=binding))
    if result is not None:
        return result
    questions = call.questions
    parked = {"parked": core.parking.park(call)}
    return input_required(questions, core.sealer.seal(parked, caller=exchange.caller, binding=binding))


def _visits(error: RpcError, exchange: Exchange) -> JsonObject:
    """Read the pages that a legacy server wants visited from its error."""
    if error.code != URL_ELICITATION or not exchange.may_be_asked("elicitation/create", {"mode": "url"}):
        return {}
    wanted = error.data.get("elicitations") if isinstance(error.data, dict) else None
    if not isinstance(wanted, list):
        return {}
    return {
        f"url_{index}": {"method": "elicitation/create", "params": {**entry, "mode": "url"}}
        for index, entry in enumerate(wanted)
        if isinstance(entry, dict) and str(entry.get("url", "")).startswith("https://")
    }


def unknown_method(method: str) -> RpcError:
    """Return the error for a method that is not served."""
    return RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
