"""What an MCP client hears while its call waits for a person, and how it may answer (N9)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from naru.gateway.upstreams.approval import asks_client
from naru.gateway.wire.protocol import METHOD_NOT_FOUND, RpcError
from naru.messages import Json, JsonObject


@dataclass
class Client:
    """The client's side of one call."""

    answer: Json = None
    refuses: bool = False
    caller: str = "key_1"
    heard: list[JsonObject] = field(default_factory=list)
    asked: list[JsonObject] = field(default_factory=list)

    def progress(self, params: JsonObject) -> None:
        self.heard.append(params)

    def notify(self, method: str, params: JsonObject) -> None: ...

    async def ask(self, method: str, params: JsonObject) -> Json:
        assert method == "elicitation/create"
        self.asked.append(params)
        if self.refuses:
            raise RpcError(METHOD_NOT_FOUND, "cannot be asked")
        return self.answer


async def test_it_is_told_that_its_call_waits() -> None:
    client = Client()
    asking = asyncio.ensure_future(asks_client(client, "files/delete", {})("w1", may_answer=False))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not asking.done(), "others answer"
    asking.cancel()
    assert "w1" in client.heard[0]["message"]
    assert client.asked == []


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ({"action": "accept", "content": {"decision": "once"}}, "once"),
        ({"action": "accept", "content": {"decision": "always"}}, "always"),
        ({"action": "decline"}, "deny"),
    ],
)
async def test_its_person_may_answer_where_the_settings_allow_it(answer: JsonObject, decision: str) -> None:
    client = Client(answer)
    ask = asks_client(client, "files/delete", {"path": "/a", "api_key": "sk-abcdefghijklmnop"})
    async with asyncio.timeout(30):
        assert await ask("w1", may_answer=True) == decision
    assert "files/delete" in client.asked[0]["message"]
    assert "abcdefghijklmnop" not in client.asked[0]["message"]


@pytest.mark.parametrize(
    "client",
    [
        Client({"action": "cancel"}),
        Client({"action": "accept", "content": {"decision": "perhaps"}}),
        Client("nonsense"),
        Client(refuses=True),
    ],
    ids=["cancels", "says something else", "nonsense", "cannot be asked"],
)
async def test_a_client_that_says_nothing_usable_leaves_it_to_others(client: Client) -> None:
    asking = asyncio.ensure_future(asks_client(client, "files/delete", {})("w1", may_answer=True))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not asking.done()
    asking.cancel()
