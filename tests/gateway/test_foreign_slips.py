"""A foreign server's slips stay its own (issue 16, line 5): official clients read every list of a hub with them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from mcp import Client as SdkClient
from pydantic import AnyUrl

from naru.connections.wire.soundness import sound_item, sound_schema
from naru.hub import Hub
from naru.messages import Message, ResourcePart
from naru.stores.json_file import JsonFileStore
from tests.connections.conftest import managed
from tests.connections.fake_http import FakeHttpServer, refused
from tests.gateway.serving import Served, http_record, serving

SCHEMAS: dict[str, Any] = {
    "missing": ...,
    "null": None,
    "empty": {},
    "type null": {"type": None},
    "type array": {"type": "array", "items": {"type": "string"}},
    "type list": {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
    "no type": {"properties": {"a": {"type": "string"}}, "required": ["a"]},
    "properties null": {"type": "object", "properties": None},
}
SLIPS: dict[str, Any] = {
    "title": 5, "description": None, "annotations": [], "icons": "x.png", "outputSchema": "none", "_meta": 1,
    "execution": True,
}  # fmt: skip


class Slips(FakeHttpServer):
    """Lists what no official SDK can read."""

    def result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            found = super().result(method, message)
            return {**found, "capabilities": {"tools": {}, "resources": {}, "prompts": {}}}
        if method == "tools/list":
            # Whatever a stateless server may list, clients of sessions know objects alone.
            tools = [{"name": "good", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}]
            for number, schema in enumerate(SCHEMAS.values()):
                tools.append({"name": f"schema{number}", **({} if schema is ... else {"inputSchema": schema})})
            tools += [
                {"name": f"slip_{key}", "inputSchema": {"type": "object"}, key: value} for key, value in SLIPS.items()
            ]
            return {"tools": tools}
        if method == "resources/list":
            return {
                "resources": [{"uri": "file:///a"}, {"name": "without address"}, {"uri": "file:///b", "name": 5}, 7]
            }
        if method == "prompts/list":
            return {"prompts": [{"name": "p", "arguments": [{"name": "a"}, "b"]}, {"name": None}]}
        if method == "tools/call" and message["params"]["name"] == "good":
            return {"content": [{"type": "text", "text": "ok"}], "structuredContent": [1]}
        return super().result(method, message)


@contextlib.asynccontextmanager
async def hub_before_slips() -> AsyncIterator[Served]:
    async with Slips() as server, serving([http_record("s", server.url)]) as served:
        yield served


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_official_client_reads_every_list_and_result(mode: Any) -> None:
    async with (
        hub_before_slips() as served,
        SdkClient(f"{served.url}/mcp", mode=mode, read_timeout_seconds=30) as client,
    ):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert len(tools) == 1 + len(SCHEMAS) + len(SLIPS)
        assert {tool.input_schema["type"] for tool in tools.values()} == {"object"}
        assert tools["s__good"].output_schema == (None if mode == "legacy" else {"type": "array"})
        kept = tools[f"s__schema{list(SCHEMAS).index('no type')}"].input_schema
        assert kept["required"] == ["a"]
        assert kept["properties"] == {"a": {"type": "string"}}
        assert {str(one.uri) for one in (await client.list_resources()).resources} == {"file:///a", "file:///b"}
        (prompt,) = (await client.list_prompts()).prompts
        assert [argument.name for argument in prompt.arguments or ()] == ["a"]
        assert (await client.call_tool("s__good", {})).content[0].text == "ok"  # type: ignore[union-attr]


class Addresses(FakeHttpServer):
    """Names its resources as people do."""

    uris = ("notes.md", "문서://하나", "doc:하나 둘", "doc:plain")

    def result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
        if method in ("initialize", "server/discover"):
            return {**super().result(method, message), "capabilities": {"resources": {}}}
        if method == "resources/list":
            return {"resources": [{"uri": uri, "name": uri} for uri in self.uris]}
        if method == "resources/read":
            uri = message["params"]["uri"]
            assert uri in self.uris
            return {"contents": [{"uri": uri, "text": f"this is {uri}"}]}
        return super().result(method, message)


async def knows_no_templates(_: Any, message: dict[str, Any]) -> Any:
    return refused(message["id"], -32601, 200) if message.get("method") == "resources/templates/list" else None


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_addresses_that_are_no_uris_break_no_clients_list_and_every_one_can_be_read(
    mode: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """V2, V4: SDKs read a list's addresses with `AnyUrl` and ask for them in its spelling."""
    async with (
        Addresses() as server,
        serving([http_record("s", server.url)]) as served,
        SdkClient(f"{served.url}/mcp", mode=mode, read_timeout_seconds=30) as client,
    ):
        server.behave = knows_no_templates
        listed = {one.name: AnyUrl(one.uri) for one in (await client.list_resources()).resources}
        assert tuple(listed) == Addresses.uris
        for name, uri in listed.items():
            (content,) = (await client.read_resource(str(uri))).contents
            assert content.text == f"this is {name}"  # type: ignore[union-attr]
            assert AnyUrl(content.uri) == uri, "clients refuse contents of an address that is none"
        assert (await client.list_resource_templates()).resource_templates == []
    assert "cannot list" not in caplog.text, "few servers with resources know templates"


async def test_the_fact_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async with hub_before_slips() as served, aiohttp.ClientSession():
        upstream = served.gateway.engine.upstreams.find("s")
        assert upstream is not None
        for _ in range(3):
            await upstream.list("tools")
        assert caplog.text.count("tool 'schema0' is offered with what the protocol wants") == 1


ANY, NONE = {"type": "object", "properties": {}}, {"type": "object"}
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("tools", {"annotations": {"readOnlyHint": "yes", "custom": 1}}, {"annotations": {"custom": 1}}),
    ("tools", {"annotations": {"title": None, "destructiveHint": True}}, {"annotations": {"destructiveHint": True}}),
    ("tools", {"icons": [{"src": "x", "sizes": "48x48"}, {"src": None}, 5]}, {"icons": [{"src": "x"}]}),
    ("tools", {"icons": [{"src": "x", "mimeType": None, "theme": "blue"}]}, {"icons": [{"src": "x"}]}),
    ("tools", {"inputSchema": {**ANY, "required": None}}, {"inputSchema": ANY}),
    ("tools", {"inputSchema": {**ANY, "required": "a"}}, {"inputSchema": ANY}),
    (
        "tools",
        {"inputSchema": {"type": "object", "properties": {"a": True, "b": False, "c": None, "d": {"x": True}}}},
        {"inputSchema": {"type": "object", "properties": {"a": {}, "b": {"not": {}}, "c": {}, "d": {"x": True}}}},
    ),
    ("tools", {"outputSchema": {**ANY, "properties": None, "required": None}}, {"outputSchema": NONE}),
    ("tools", {"outputSchema": {"type": "object", "properties": {"a": True}}},
     {"outputSchema": {"type": "object", "properties": {"a": {}}}}),
    ("prompts", {"arguments": [{"name": "a", "description": None, "required": "true", "v": 1}, {"name": 5}]},
     {"arguments": [{"name": "a", "v": 1}]}),
    ("resources", {"annotations": {"audience": ["model"], "priority": 5, "lastModified": "yesterday"}},
     {"annotations": {}}),
    ("resources", {"annotations": {"audience": "user", "priority": None}}, {"annotations": {}}),
    ("resources", {"size": "5"}, {}),
    ("templates", {"annotations": {"lastModified": None}}, {"annotations": {}}),
]  # fmt: skip
"""What an item says → what of it goes on. The official TypeScript SDK refuses a whole list for each of these."""


@pytest.mark.parametrize(("kind", "said", "told"), REFUSED, ids=range(len(REFUSED)))
def test_a_slip_within_an_item_costs_what_is_wrong_alone(kind: str, said: dict[str, Any], told: dict[str, Any]) -> None:
    item = {"name": "a", "uri": "x:y", **({"inputSchema": ANY} if kind == "tools" else {})}
    assert sound_item(kind, {**item, **said}) == {**item, **told}


def test_what_is_sound_stays_the_very_same() -> None:
    tool = {
        "name": "a", "inputSchema": {"type": "object", "$defs": {}, "properties": {"a": {}}, "required": ["a"]},
        "vendor": 1, "icons": [{"src": "x", "sizes": ["any"], "v": 1}], "outputSchema": {"type": "array"},
        "annotations": {"readOnlyHint": True, "lastModified": "2025-01-12T15:00:58Z", "priority": 1, "v": None},
    }  # fmt: skip
    assert sound_item("tools", tool) is tool
    assert sound_schema(tool["inputSchema"]) is tool["inputSchema"]


async def test_a_resource_link_keeps_what_it_says() -> None:
    """For models and over REST."""
    link = {"type": "resource_link", "uri": "file:///r", "name": "r.md", "title": "Report", "description": "Of May."}

    class Links(FakeHttpServer):
        def result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
            return {"content": [link]} if method == "tools/call" else super().result(method, message)

    async with Links() as server, managed() as manager:
        await manager.register(http_record("s", server.url))
        assert await manager.connect("s")
        (part,) = (await manager.call_tool("s", "echo", {})).content
    assert isinstance(part, ResourcePart)
    assert (part.name, part.title, part.description) == ("r.md", "Report", "Of May.")
    assert Message("tool", (part,)).text == "[Resource: Report (file:///r): Of May.]"


async def test_a_broken_file_of_servers_shows_in_readyz(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"a": {"url": "http://h/mcp"}}}', encoding="utf-8")
    store = JsonFileStore(file)
    await store.open()
    async with managed() as manager:
        manager._store = store
        file.write_text("{ broken", encoding="utf-8")
        await store.list()
        problems = Hub.not_ready(type("Some", (), {"manager": manager, "waiting_settings": ()})())  # type: ignore[arg-type]
        assert any("mcp.json cannot be read" in problem for problem in problems), problems
