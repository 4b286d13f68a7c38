"""Issue 19 line 2: a bad tool is told when it is registered, and never costs the others."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from naru.errors import UnknownToolError
from naru.messages import ToolDefinition
from naru.tools.combined import CombinedToolset, SetAside
from naru.tools.functions import registry as registry_module
from naru.tools.functions.registry import ToolRegistry, ToolWarning, generate_tool_config, problems, register_tool
from naru.tools.functions.signature import read_signature
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext
from naru.tools.wrappers import PrefixedToolset


def good(n: int) -> int:
    return n + 1


class Owner:
    def method(self, n: int) -> int:
        return n


class Opaque:
    pass


class HookRaises:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        raise RuntimeError("no hook today")


class SchemaHookRaises:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler.generate_schema(str)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        raise ZeroDivisionError("no schema today")


def opaque(n: int, lock: Opaque) -> int:
    return n


def in_a_list(n: int, locks: list[threading.Lock]) -> int:
    return n


def hook(n: int, odd: HookRaises) -> int:
    return n


def schema_hook(n: int, odd: Annotated[SchemaHookRaises, "odd"]) -> int:
    return n


def a_class(n: int, kind: type[int]) -> int:
    return n


def functions(n: int, steps: list[Callable[[int], int]]) -> int:
    return n


def no_such_schema(n: int, odd: type[int] | complex) -> int:
    return n


BAD = {
    "method": (Owner.method, r"method without its object.*instance\.method"),
    "max": (max, r"max tells no signature.*a function of your own"),
    "opaque": (opaque, r"parameter 'lock' \(Opaque\).*Annotate with .*Depends"),
    "in_a_list": (in_a_list, r"parameter 'locks'.*Depends"),
    "a_class": (a_class, r"parameter 'kind' \(type\[int\]\): there is no such value in JSON.*Depends"),
    "functions": (functions, r"parameter 'steps'.*no such value in JSON"),
    "hook": (hook, r"parameter 'odd' \(HookRaises\): RuntimeError: no hook today"),
    "schema_hook": (schema_hook, r"parameter 'odd'.*no schema today"),
}


@pytest.mark.parametrize("name", BAD)
async def test_registration_says_what_is_wrong_and_every_listing_goes_on_without_it(name):
    function, told = BAD[name]
    registry = ToolRegistry()
    with pytest.warns(ToolWarning, match=told) as warned:
        register_tool(function, registry=registry)
    assert warned[0].filename == __file__, "the warning points at the line that registers"
    with pytest.warns(ToolWarning, match=told):
        register_tool("by_name", registry=registry)(function)
    register_tool(good, registry=registry)

    assert list(problems(registry)) == [name, "by_name"]
    assert re.search(told, problems(registry)[name])
    assert list(generate_tool_config(registry).available_tools) == ["good"]
    assert [tool["function"]["name"] for tool in generate_tool_config(registry).tools_schema] == ["good"]

    toolset = FunctionToolset(registry.tools())
    assert [tool.name for tool in await toolset.tools()] == ["good"]
    assert set(toolset.set_aside) == {name, "by_name"}
    assert (await toolset.call("good", {"n": 1}, CallContext())).text == "2"
    with pytest.raises(UnknownToolError):
        await toolset.call(name, {"n": 1}, CallContext())


async def test_the_combination_goes_on_and_names_the_tool():
    combined = CombinedToolset(
        {
            "mine": PrefixedToolset(FunctionToolset([good, opaque, hook]), "my_"),
            "yours": FunctionToolset([good]),
        }
    )
    assert [tool.name for tool in await combined.tools()] == ["mine__my_good", "yours__good"]
    assert [(each.server, each.tool) for each in combined.set_aside] == [("mine", "opaque"), ("mine", "hook")]
    assert "'lock'" in combined.set_aside[0].reason


async def test_a_toolset_that_fails_in_any_way_costs_only_itself():
    class Broken(FunctionToolset):
        async def open(self) -> None:
            raise RuntimeError("no opening today")

        async def tools(self) -> list[ToolDefinition]:
            raise KeyError("tools")

    combined = CombinedToolset({"broken": Broken([]), "mine": FunctionToolset([good])})
    await combined.open()
    assert [tool.name for tool in await combined.tools()] == ["mine__good"]
    assert combined.set_aside == [SetAside("broken", "", "KeyError: 'tools'")]


def test_the_modules_own_attributes_go_on_too():
    with pytest.warns(ToolWarning, match="lock"):
        register_tool("issue_19_opaque")(opaque)
    register_tool("issue_19_good")(good)
    try:
        names = [tool["function"]["name"] for tool in registry_module.tools_schema]
        assert "issue_19_good" in names
        assert "issue_19_opaque" not in names
        assert "issue_19_opaque" in registry_module.problems()
    finally:
        registry_module.REGISTRY.remove("issue_19_opaque")
        registry_module.REGISTRY.remove("issue_19_good")


def test_what_a_module_defines_later_is_no_problem_yet(recwarn):
    registry = ToolRegistry()
    space: dict[str, Any] = {"register": lambda function: register_tool(function, registry=registry)}
    exec(  # a module in the middle of its own reading
        "from __future__ import annotations\n"
        "@register\ndef late(query: Query) -> str: ...\n"
        "from pydantic import BaseModel\n"
        "class Query(BaseModel):\n    text: str\n",
        space,
    )
    assert not [each for each in recwarn if issubclass(each.category, ToolWarning)]
    assert problems(registry) == {}
    schema = generate_tool_config(registry).tools_schema[0]["function"]["parameters"]
    assert schema["properties"]["query"]["properties"] == {"text": {"type": "string"}}


def test_a_method_marked_in_its_class_body_does_not_break_the_class():
    registry = ToolRegistry()
    with pytest.warns(ToolWarning, match="without its object"):

        class Service:
            @register_tool(registry=registry)
            def look(self, n: int) -> int:
                return n

    assert Service().look(1) == 1
    assert list(problems(registry)) == ["look"]


@dataclasses.dataclass
class Plan:
    days: int
    told: Callable[[int], None] | None = None
    kind: type[int] = int


async def test_what_no_json_can_say_is_left_out_where_it_has_a_default():
    def told(
        plan: Plan, at: int | Callable[[], int], done: Callable[[int], str] = str, kind: type | None = None
    ) -> str:
        return f"{done(plan.days)} {plan.kind.__name__} {kind}"

    toolset = FunctionToolset([told])
    (tool,) = await toolset.tools()
    plan = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
    assert tool.input_schema["properties"] == {"plan": plan, "at": {"type": "integer"}}
    assert (await toolset.call("told", {"plan": {"days": 2}, "at": 1}, CallContext())).text == "2 int None"


def test_every_parameter_that_is_wrong_is_named():
    def two(first: Opaque, second: int, third: Callable[[HookRaises], None] | Opaque) -> None: ...

    registry = ToolRegistry()
    with pytest.warns(ToolWarning):
        register_tool(two, registry=registry)
    told = problems(registry)["two"]
    assert "'first'" in told
    assert "'third'" in told
    assert "'second'" not in told
    assert "arbitrary_types_allowed" not in told, "which would not make it a tool"


@pytest.mark.parametrize("annotation", [Callable[[int], int], type[int], list[type[int]]], ids=str)
def test_what_no_json_value_is_is_asked_of_no_model(annotation: Any) -> None:
    def needs(value: annotation) -> str:  # type: ignore[valid-type]
        return ""

    def may(count: int, value: annotation = print, other: annotation | None = None) -> str:  # type: ignore[valid-type]
        return ""

    with pytest.raises(TypeError, match=r"'value'.*no such value in JSON"):
        read_signature(needs)
    assert read_signature(may).schema["properties"].keys() - {"other"} == {"count"}
