"""Offers and choices of tools are taken in every form that clients write."""

from __future__ import annotations

from typing import Any

import pytest

from naru.messages import ToolDefinition
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.tools import allowed_tools, chosen_tools, read_tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "f", "description": "d", "parameters": SCHEMA}
OPENAI = {"type": "function", "function": FUNCTION}
NAMED = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    "body",
    [
        {"tools": [OPENAI]},
        {"functions": [FUNCTION]},
        {"tools": [{"type": "function", **FUNCTION}]},
        {"tools": [{"name": "f", "description": "d", "input_schema": SCHEMA}]},
        {"tools": [OPENAI, OPENAI]},
        {"tools": [OPENAI, {"type": "function", **FUNCTION}]},
    ],
    ids=["openai", "older", "flat", "anthropic", "twice", "twice in two forms"],
)
def test_every_form_of_an_offer_is_the_same_tool(body: dict[str, Any]) -> None:
    (tool,) = read_tools(body)
    assert (tool.name, tool.description, tool.input_schema) == ("f", "d", SCHEMA)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([{"type": "web_search"}], r"tools\[0\] is of the type 'web_search'"),
        ([OPENAI, {"type": "web", "web": {"name": "c"}}], r"tools\[1\] is of the type 'web'"),
        ([{}], r"tools\[0\] has no function name"),
        ([OPENAI, {"type": "function", "function": {"name": "f"}}], r"tools\[1\] repeats the name 'f' with another"),
        ({"f": FUNCTION}, "tools must be a list, not dict"),
    ],
)
def test_what_cannot_be_offered_is_named(tools: Any, said: str) -> None:
    with pytest.raises(BadRequestError, match=said):
        read_tools({"tools": tools})


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (None, None),
        ("auto", "auto"),
        ("required", "required"),
        ("any", "required"),
        ({"type": "any"}, "required"),
        ({"type": "auto"}, "auto"),
        ({"type": "none"}, "none"),
        (NAMED, NAMED),
        ({"type": "function", "name": "f"}, NAMED),
        ({"type": "tool", "name": "f"}, NAMED),
        ({"name": "f"}, NAMED),
    ],
)
def test_every_form_of_a_choice_is_openais(choice: Any, wanted: Any) -> None:
    tools = read_tools({"tools": [OPENAI]})
    assert chosen_tools(tools, {"tool_choice": choice}, others=False) == (tools, wanted)


def test_allowed_tools_leave_the_others_out() -> None:
    tools = read_tools({"tools": [OPENAI, {"name": "g"}]})
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}
    assert chosen_tools(tools, {"tool_choice": choice}, others=False) == (tools[:1], "required")


@pytest.mark.parametrize(
    ("listed", "left"),
    [
        ([NAMED], []),
        ([{"type": "function", "function": {"name": "shop__buy"}}], ["shop__buy"]),
        ([{"type": "mcp", "server_label": "shop"}], ["shop__buy", "shop__look"]),
        ([{"type": "mcp", "server_label": "shop", "name": "look"}, NAMED], ["shop__look"]),
        ([{"type": "mcp", "server_label": "bank"}, {"type": "image_generation"}], ["bank__look"]),
    ],
)
@pytest.mark.parametrize("nested", [True, False])
def test_allowed_tools_leave_the_hubs_others_out_too(listed: list[Any], left: list[str], nested: bool) -> None:
    hub = [
        ToolDefinition(f"{server}__{name}", "", {}, server=server)
        for server, name in (("shop", "buy"), ("shop", "look"), ("bank", "look"))
    ]
    said = {"mode": "auto", "tools": listed}
    choice = {"type": "allowed_tools", "allowed_tools": said} if nested else {"type": "allowed_tools", **said}
    pick = allowed_tools({"tool_choice": choice})
    assert pick is not None
    assert sorted(tool.name for tool in hub if pick.takes(tool)) == left
    assert allowed_tools({"tool_choice": "required"}) is None


@pytest.mark.parametrize("choice", ["sometimes", {"type": "function"}, {"name": "g"}, 5])
def test_a_choice_that_nobody_can_follow_is_refused(choice: Any) -> None:
    with pytest.raises(BadRequestError, match="tool_choice"):
        chosen_tools(read_tools({"tools": [OPENAI]}), {"tool_choice": choice}, others=False)


def test_a_tool_of_the_hub_may_be_named() -> None:
    choice = {"type": "function", "function": {"name": "hub__echo"}}
    tools = read_tools({"tools": [OPENAI]})
    assert chosen_tools(tools, {"tool_choice": choice}, others=True) == (tools, choice)
