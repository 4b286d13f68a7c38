"""R8, S-51, N6: many servers as one Toolset."""

from __future__ import annotations

import pytest

from naru.errors import ConnectionFailedError, UnknownToolError
from naru.tools.combined import CombinedToolset
from naru.tools.functions import FunctionToolset
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


async def test_an_unknown_tool_is_told_with_the_nearest_names():
    combined = CombinedToolset({"prod": FunctionToolset([query])})
    with pytest.raises(UnknownToolError, match="Did you mean prod__query"):
        await combined.call("prod__qery", {}, CallContext())
