"""R8, S-51, N6: many servers as one Toolset."""

from __future__ import annotations

import asyncio

import pytest

from naru.errors import ConnectionFailedError, InvalidArgumentsError, UnknownToolError
from naru.messages import ToolDefinition, ToolResult
from naru.tools.combined import CombinedToolset
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext


def query() -> str:
    return "queried"


def only_here() -> str:
    return "here"


class Broken(FunctionToolset):
    async def tools(self):
        raise ConnectionFailedError("server down")


async def test_equal_names_of_two_servers_are_both_listed_and_each_call_reaches_its_own():  # b21
    combined = CombinedToolset({"staging": FunctionToolset([query]), "prod": FunctionToolset([query, only_here])})
    assert [tool.name for tool in await combined.tools()] == ["prod__query", "prod__only_here", "staging__query"]
    for name in ("prod__query", "prod.query", "staging/query", "only_here"):
        assert not (await combined.call(name, {}, CallContext())).is_error
    with pytest.raises(UnknownToolError, match="prod__query, staging__query"):
        await combined.call("query", {}, CallContext())


async def test_a_server_that_cannot_list_is_set_aside_and_the_rest_go_on():
    combined = CombinedToolset({"bad": Broken([]), "good": FunctionToolset([query])})
    assert [tool.name for tool in await combined.tools()] == ["good__query"]
    assert [(aside.server, aside.reason) for aside in combined.set_aside] == [("bad", "server down")]


async def test_a_server_whose_listing_was_cancelled_is_set_aside_and_one_that_is_removed_meanwhile_costs_nothing():
    toolsets: dict[str, FunctionToolset] = {"good": FunctionToolset([query]), "gone": FunctionToolset([only_here])}

    class Removing(FunctionToolset):
        async def tools(self):
            toolsets.pop("gone", None)
            raise asyncio.CancelledError

    toolsets["odd"] = Removing([])
    combined = CombinedToolset(toolsets)
    assert "good__query" in [tool.name for tool in await combined.tools()]
    assert [(aside.server, aside.reason) for aside in combined.set_aside] == [("odd", "CancelledError")]
    assert [tool.name for tool in await combined.tools()] == ["good__query"]


async def test_one_that_fails_to_close_keeps_no_other_open():
    closed: list[str] = []

    class Closing(FunctionToolset):
        async def close(self):
            closed.append("closed")
            raise OSError("disk full")

    combined = CombinedToolset({"a": Closing([]), "b": Closing([])})
    with pytest.raises(OSError, match="disk full"):
        await combined.close()
    assert closed == ["closed", "closed"]


async def test_an_unknown_tool_is_told_with_the_nearest_names():
    combined = CombinedToolset({"prod": FunctionToolset([query])})
    with pytest.raises(UnknownToolError, match="Did you mean prod__query"):
        await combined.call("prod__qery", {}, CallContext())


class Recording:
    """A foreign server's toolset: it checks nothing and keeps what it was called with."""

    def __init__(self, schema) -> None:
        self.schema = schema
        self.calls: list = []

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def tools(self):
        return [ToolDefinition("act", "", self.schema)]

    async def call(self, name, arguments, context):
        self.calls.append(arguments)
        return ToolResult.of_text("done")


async def test_arguments_are_checked_against_the_servers_own_schema_and_coerced_only_where_it_forbids_them():  # c29
    schema = {
        "type": "object",
        "properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "text": {"type": "string"}},
        "required": ["ids"],
    }
    server = Recording(schema)
    combined = CombinedToolset({"far": server})
    await combined.call("far__act", {"ids": "[1, 2]", "text": "[1, 2]"}, CallContext())
    assert server.calls == [{"ids": [1, 2], "text": "[1, 2]"}]
    with pytest.raises(InvalidArgumentsError, match="ids: "):
        await combined.call("far__act", {"ids": "one"}, CallContext())
    assert len(server.calls) == 1


async def test_a_newcomer_whose_name_could_be_taken_for_another_is_set_aside():  # S-51
    def named(name):
        toolset = FunctionToolset([])
        toolset.add(query, name=name)
        return toolset

    combined = CombinedToolset({"a": named("Search")})
    await combined.tools()
    combined.toolsets["A"] = named("search")
    assert [tool.name for tool in await combined.tools()] == ["a__Search"]
    assert [(aside.server, aside.tool) for aside in combined.set_aside] == [("A", "search")]
    del combined.toolsets["a"]
    assert [tool.name for tool in await combined.tools()] == ["A__search"]
