"""Each version gets its own features: every feature of the face by version, as a table (issue 16, line 1)."""

from __future__ import annotations

from typing import Any

import pytest

from naru.gateway.sessions.exchange import Exchange
from naru.gateway.sessions.session import Session
from naru.gateway.upstreams.upstream import Relay
from naru.gateway.wire.protocol import LEGACY_VERSIONS, METHOD_NOT_FOUND, SINCE, RpcError, has
from naru.messages import JsonObject
from tests.gateway.by_hand import META, gateway, request
from tests.gateway.scripted import ScriptedUpstream

V1, V2, V3, V4 = LEGACY_VERSIONS
NEW = "2026-07-28"
ALL = {V1, V2, V3, V4, NEW}
AUDIO = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "file:///x", "name": "x"}
TABLE: dict[str, set[str]] = {
    "initialize": {V1, V2, V3, V4},
    "ping": {V1, V2, V3, V4},
    "logging/setLevel": {V1, V2, V3, V4},
    "resources/subscribe": {V1, V2, V3, V4},
    "server/discover": {NEW},
    "tools/list": ALL,
    "tools/call": ALL,
    "tasks/get": {NEW},
    "batch": {V1, V2},
    "empty priming event": {V4},
    "ids on streamed events": {V2, V3, V4},
    "audio in results": {V2, V3, V4, NEW},
    "resource links in results": {V3, V4, NEW},
    "resultType in results": {NEW},
    "serverInfo in the _meta of results": {NEW},
    "ttlMs of lists": {NEW},
    "a session id": {V1, V2, V3, V4},
    "unknown tool as a result": {NEW},
}
"""Feature → the versions that have it on this face."""


async def noisy(params: JsonObject, relay: Relay | None) -> JsonObject:
    """Send progress before the answer, so that it is streamed."""
    assert relay is not None
    relay.progress({"progressToken": "t", "progress": 1})
    return {"content": [AUDIO, LINK]}


async def seen(version: str) -> set[str]:
    """Try every feature of the table in one version; return those that are there."""
    found: set[str] = set()
    async with gateway(ScriptedUpstream("a", {"noisy": noisy})) as client:
        session = "" if version == NEW else await client.initialize(version)
        if session:
            found |= {"initialize", "a session id"}

        async def ask(method: str, params: JsonObject | None = None) -> Any:
            if version == NEW:
                return (await client.modern(method, params))[1]
            return (await client.post(request(method, params or {}), mcp_session_id=session))[1]

        def is_known(answer: Any) -> bool:
            last = answer[-1] if isinstance(answer, list) else answer
            return last.get("error", {}).get("code") != METHOD_NOT_FOUND

        methods: dict[str, JsonObject] = {
            "ping": {}, "logging/setLevel": {"level": "error"}, "resources/subscribe": {"uri": "a:x"},
            "server/discover": {}, "tools/list": {}, "tasks/get": {"taskId": "x"},
        }  # fmt: skip
        answers = {method: await ask(method, params) for method, params in methods.items()}
        found |= {method for method, answer in answers.items() if is_known(answer)}
        found |= {"ttlMs of lists"} if "ttlMs" in answers["tools/list"]["result"] else set()
        if session:
            batch = [request("ping", {}, 1), request("ping", {}, 2)]
            found |= {"batch"} if (await client.post(batch, mcp_session_id=session))[0] == 200 else set()
        found |= await streamed(client, version, session)
        unknown = await ask("tools/call", {"name": "nope"})
        found |= {"unknown tool as a result"} if "result" in unknown else set()
    return found


async def streamed(client: Any, version: str, session: str) -> set[str]:
    """Call a tool that streams, and look at the raw events and the result."""
    meta = {**META, "progressToken": "t"} if version == NEW else {"progressToken": "t"}
    body = request("tools/call", {"name": "a__noisy", "arguments": {}, "_meta": meta})
    heads = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    heads |= {"mcp-session-id": session} if session else {
        "mcp-protocol-version": NEW, "mcp-method": "tools/call", "mcp-name": "a__noisy"
    }  # fmt: skip
    async with client.http.post(client.url + "/mcp", json=body, headers=heads) as response:
        text = await response.text()
    found = {"empty priming event"} if "data: \n" in text else set()
    found |= {"ids on streamed events"} if "\nid: " in f"\n{text}" else set()
    found |= {"tools/call"} if '"result"' in text else set()
    found |= {"audio in results"} if '"audio"' in text else set()
    found |= {"resource links in results"} if '"resource_link"' in text else set()
    found |= {"resultType in results"} if '"resultType"' in text else set()
    return found | ({"serverInfo in the _meta of results"} if "modelcontextprotocol/serverInfo" in text else set())


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(ALL))
async def test_each_version_gets_its_own_features_and_no_other(version: str) -> None:
    expected = {feature for feature, versions in TABLE.items() if version in versions}
    assert await seen(version) == expected


QUESTIONS: list[tuple[str, JsonObject, str]] = [
    ("elicitation/create", {"message": "?", "mode": "url", "url": "https://h/"}, V4),
    ("elicitation/create", {"message": "?"}, V1),
    ("sampling/createMessage", {"messages": [], "tools": [{"name": "x"}]}, V4),
    ("sampling/createMessage", {"messages": []}, V1),
    ("roots/list", {}, V1),
]


@pytest.mark.parametrize("version", LEGACY_VERSIONS)
@pytest.mark.parametrize(
    ("method", "params", "since"), QUESTIONS, ids=["page", "form", "with tools", "sampling", "roots"]
)
async def test_a_client_is_asked_what_its_version_knows(
    method: str, params: JsonObject, since: str, version: str
) -> None:
    session = Session("ann", "")
    asked: list[bytes] = []

    def answer(frame: bytes) -> None:
        asked.append(frame)
        session.answered({"id": 1, "result": {}})

    can: JsonObject = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
    exchange = Exchange("ann", "", version, can, {}, answer, session)
    if version >= since:
        assert await exchange.ask(method, params) == {}
    else:
        with pytest.raises(RpcError, match=f"version {version} has no"):
            await exchange.ask(method, params)
    assert bool(asked) is (version >= since)


@pytest.mark.parametrize(
    ("declared", "mode", "is_asked"),
    [({}, "form", True), ({}, "", True), ({"form": {}}, "url", False), ({"url": {}}, "form", False),
     ({"url": {}}, "", False), ({"url": {}}, "url", True), ({}, "url", False)],
)  # fmt: skip
async def test_a_client_is_asked_in_the_ways_that_it_declared(declared: JsonObject, mode: str, is_asked: bool) -> None:
    session = Session("ann", "")
    exchange = Exchange(
        "ann", "", V4, {"elicitation": declared}, {}, lambda _: session.answered({"id": 1, "result": {}}), session
    )
    params: JsonObject = {"message": "?", "url": "https://h/"} | ({"mode": mode} if mode else {})
    if is_asked:
        assert await exchange.ask("elicitation/create", params) == {}
    else:
        with pytest.raises(RpcError, match="did not declare the capability 'elicitation"):
            await exchange.ask("elicitation/create", params)


def test_what_is_in_no_table_every_version_has() -> None:
    assert all(has(version, "text") for version in ALL)
    assert all(has(NEW, feature) for feature in SINCE)
