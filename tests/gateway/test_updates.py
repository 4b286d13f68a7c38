"""Updates of resources come under the address that the client asked under, and to no other's subscribers."""

from __future__ import annotations

from typing import Any

import pytest

from naru.gateway.upstreams.upstream import Change
from tests.gateway.by_hand import META, Client, gateway, next_event, request
from tests.gateway.scripted import ScriptedUpstream

SHARED = "file:///notes"
OF_B = "naru://b/file%3A%2F%2F%2Fnotes"
MODERN = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}


def two_servers() -> list[ScriptedUpstream]:
    """Both list the same address: the second one's is shown as the hub's own."""
    return [ScriptedUpstream(name, items={"resources": [{"uri": SHARED, "name": "n"}]}) for name in ("a", "b")]


def updated(client: Client, server: str, uri: str) -> None:
    client.upstreams.tell(Change(server, "updated", {"uri": uri}))


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize(
    ("asked", "server", "others", "said", "told"),
    [
        (SHARED, "a", "b", SHARED, SHARED),
        (OF_B, "b", "a", SHARED, OF_B),
        ("naru://a/file%3A%2F%2F%2Fnotes", "a", "b", SHARED, "naru://a/file%3A%2F%2F%2Fnotes"),
        ("file:///n%6Ftes", "a", "b", SHARED, "file:///n%6Ftes"),
        (SHARED, "a", "b", f"{SHARED}/one", f"{SHARED}/one"),
        (OF_B, "b", "a", f"{SHARED}/one", "naru://b/file%3A%2F%2F%2Fnotes%2Fone"),
    ],
    ids=["its own", "the hub's", "the hub's of the first", "percents", "a part", "a part of the hub's"],
)
async def test_an_update_names_what_was_subscribed_to(
    modern: bool, asked: str, server: str, others: str, said: str, told: str
) -> None:
    async with gateway(*two_servers()) as client:
        if modern:
            params = {"_meta": META, "notifications": {"resourceSubscriptions": [asked]}}
            body: Any = request("subscriptions/listen", params, "sub")
            stream = client.http.post(f"{client.url}/mcp", json=body, headers=MODERN)
        else:
            session = await client.initialize()
            heads = {"mcp-session-id": session, "accept": "text/event-stream"}
            stream = client.http.get(f"{client.url}/mcp", headers=heads)
            await client.post(request("resources/subscribe", {"uri": asked}), mcp_session_id=session)
        async with stream as events:
            if modern:
                assert (await next_event(events))["method"] == "notifications/subscriptions/acknowledged"
            updated(client, others, said)
            updated(client, server, f"{SHARED}-of-somebody-else")
            updated(client, server, said)
            note = await next_event(events)
            assert (note["method"], note["params"]["uri"]) == ("notifications/resources/updated", told)


async def test_a_slip_in_what_is_said_of_an_update_costs_nobody_else_it() -> None:
    async with gateway(*two_servers()) as client:
        params = {"_meta": META, "notifications": {"resourceSubscriptions": [SHARED]}}
        body: Any = request("subscriptions/listen", params, "sub")
        async with client.http.post(f"{client.url}/mcp", json=body, headers=MODERN) as events:
            assert (await next_event(events))["method"] == "notifications/subscriptions/acknowledged"
            slip = {"uri": SHARED, "_meta": ["no", "object"]}
            client.upstreams.tell(Change("a", "updated", slip))
            assert (await next_event(events))["params"]["uri"] == SHARED


async def test_unsubscribing_ends_the_updates() -> None:
    async with gateway(*two_servers()) as client:
        session = await client.initialize()
        heads = {"mcp-session-id": session, "accept": "text/event-stream"}
        for uri in (SHARED, OF_B):
            await client.post(request("resources/subscribe", {"uri": uri}), mcp_session_id=session)
        await client.post(request("resources/unsubscribe", {"uri": SHARED}), mcp_session_id=session)
        async with client.http.get(f"{client.url}/mcp", headers=heads) as events:
            updated(client, "a", SHARED)
            updated(client, "b", SHARED)
            assert (await next_event(events))["params"]["uri"] == OF_B
