"""S1, S4: the decorator, what it collects, and discovery."""

from __future__ import annotations

import pytest

from naru.errors import ConfigError, ConflictError
from naru.tools.registry import ToolRegistry, discover, generate_tool_config, register_tool


def test_the_decorator_works_with_and_without_brackets_and_returns_the_function():
    registry = ToolRegistry()
    register = lambda *a, **k: register_tool(*a, registry=registry, **k)  # noqa: E731

    @register()
    def b(): ...

    @register("c2", description="d")
    def c(x: int, y: int) -> int:
        return x + y

    assert c(1, 2) == 3
    assert [tool.name for tool in registry.tools()] == ["b", "c2"]
    assert generate_tool_config(registry).tools_schema[1]["function"]["description"] == "d"


def test_the_same_function_twice_is_one_entry_and_another_of_that_name_is_refused():
    registry = ToolRegistry()

    def f(): ...

    register_tool(name="same", registry=registry)(f)
    register_tool(name="same", registry=registry)(f)

    def g(): ...

    with pytest.raises(ConflictError, match="cannot be tool 'same'"):
        register_tool(name="same", registry=registry)(g)
    assert generate_tool_config(registry).available_tools == {"same": f}


@pytest.mark.parametrize("target", [int, 3, None, classmethod(lambda cls: 1)])
def test_what_cannot_be_called_is_refused_with_a_hint(target):
    with pytest.raises(TypeError, match="register"):
        register_tool()(target)


def test_discovery_of_a_package_that_is_not_there_says_so():
    with pytest.raises(ConfigError, match="importing 'no_such_package'"):
        discover("no_such_package")
