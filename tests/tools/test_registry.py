"""S1, S4: the decorator, what it collects, and discovery."""

from __future__ import annotations

import pytest

from naru.errors import ConfigError, ConflictError
from naru.tools.functions.registry import (
    REGISTRY,
    ToolRegistry,
    discover,
    generate_tool_config,
    get_registered_tools,
    register_tool,
)
from naru.tools.functions.toolset import FunctionToolset


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


async def test_a_method_is_the_tool_that_it_was_registered_as_however_often_it_is_looked_up():
    class Service:
        def get(self, n: int) -> int:
            return n

    service = Service()
    register_tool("weather", description="D")(service.get)
    try:
        offered = await FunctionToolset([service.get, service.get]).tools()
    finally:
        REGISTRY.remove("weather")
    assert [(tool.name, tool.description) for tool in offered] == [("weather", "D")]


def test_discovery_of_a_package_that_is_not_there_says_so():
    with pytest.raises(ConfigError, match="importing 'no_such_package'"):
        discover("no_such_package")


def test_discovery_imports_every_module_of_a_package_and_signatures_are_read_anew(tmp_path, monkeypatch):
    package = tmp_path / "found_tools"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "inner.py").write_text(
        "from naru.tools.functions.registry import register_tool\n"
        "@register_tool\ndef found_by_discovery(a: int): ...\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert discover("found_tools") == ["found_tools", "found_tools.inner"]
    (tool,) = REGISTRY.of_modules("found_tools")
    try:
        assert tool.function in get_registered_tools()
        assert "found_by_discovery" in generate_tool_config().available_tools
        assert tool.definition.input_schema["required"] == ["a"]
    finally:
        REGISTRY.remove("found_by_discovery")


@pytest.mark.parametrize("name", ["", "a b", "x\n", "\x1b[31m", "a" * 129])
def test_a_name_that_nobody_could_call_is_refused(name):
    registry = ToolRegistry()
    if not name:
        with pytest.raises(TypeError, match="lambda has no name"):
            register_tool(registry=registry)(lambda: 1)
        return
    with pytest.raises(ValueError, match="is not allowed"):
        register_tool(name, registry=registry)(lambda: 1)
