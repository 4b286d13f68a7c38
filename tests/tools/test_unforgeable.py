"""Issue 19 line 1: what the host supplies is never the model's, however the parameter is spelled."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Annotated, Any, Optional, Required, TypedDict, TypeVar

import pytest
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from naru.messages import JsonObject, ToolResult
from naru.tools.functions.inject import Depends, ToolContext
from naru.tools.functions.registry import ToolRegistry, ToolWarning, generate_tool_config, problems, register_tool
from naru.tools.functions.signature import build_tool_schema
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext

T = TypeVar("T")
FORGED = {"query": "q", "token": "forged", "ctx": "forged", "rest": ["forged"], "secret": "forged"}


def get_token() -> str:
    return "real"


class TheirDepends:
    """As FastAPI's `Depends` looks from outside."""

    def __init__(self, dependency: Any = None, *, use_cache: bool = True) -> None:
        self.dependency = dependency
        self.use_cache = use_cache


TheirDepends.__name__ = "Depends"
Token = Annotated[str, Depends(get_token)]
Aliased = TypeAliasType("Aliased", Annotated[str, Depends(get_token)])
Twice = TypeAliasType("Twice", Aliased)
MayBe = TypeAliasType("MayBe", Annotated[T, Depends(get_token)] | None, type_params=(T,))
Context = TypeAliasType("Context", ToolContext)


def by_default(query: str, token: str = Depends(get_token)) -> list:
    return [query, token]


def by_default_keyword(query: str, *, token: Any = Depends(get_token)) -> list:
    return [query, token]


def by_alias(query: str, token: Token) -> list:
    return [query, token]


def by_type_alias(query: str, token: Aliased) -> list:
    return [query, token]


def by_alias_of_alias(query: str, token: Twice) -> list:
    return [query, token]


def by_generic_alias(query: str, token: MayBe[str] = None) -> list:
    return [query, token]


def in_optional(query: str, token: Optional[Token] = None) -> list:  # noqa: UP045  # the spelling under test
    return [query, token]


def in_union(query: str, token: int | Token | None = None) -> list:
    return [query, token]


def nested_annotated(query: str, token: Annotated[Annotated[str, Depends(get_token)], "the token"]) -> list:
    return [query, token]


def with_open_rest(query: str, token: str = Depends(get_token), **rest: Any) -> list:
    return [query, rest.get("token", token)]


def alias_then_rest(query: str, token: Aliased, *rest: str) -> list:
    return [query, token]


def only_by_place(token: Token, /, query: str) -> list:
    return [query, token]


def fastapi_default(query: str, token: str = TheirDepends(get_token)) -> list:
    return [query, token]


def fastapi_annotated(query: str, token: Annotated[str, TheirDepends(get_token)]) -> list:
    return [query, token]


def of_provider(secret: str = Depends(get_token)) -> str:
    return secret


def provider_with_default_style(query: str, token: str = Depends(of_provider)) -> list:
    return [query, token]


async def async_provider(secret: Aliased):
    yield secret


def provider_with_alias(query: str, token: Annotated[str, Depends(async_provider)]) -> list:
    return [query, token]


def provider_by_place(secret: str = Depends(get_token), /) -> str:
    return secret


def wants_by_place(query: str, token: str = Depends(provider_by_place)) -> list:
    return [query, token]


class Wallet:
    def __init__(self, secret: str = Depends(get_token)) -> None:
        self.secret = secret


@dataclasses.dataclass
class Purse:
    secret: Token


def of_class(query: str, token: Wallet = Depends()) -> list:
    return [query, token.secret]


def of_dataclass(query: str, token: Annotated[Purse, Depends()]) -> list:
    return [query, token.secret]


def with_context(query: str, ctx: Context, token: Token) -> list:
    assert isinstance(ctx, ToolContext)
    return [query, token]


SPELLINGS = [
    by_default,
    by_default_keyword,
    by_alias,
    by_type_alias,
    by_alias_of_alias,
    by_generic_alias,
    in_optional,
    in_union,
    nested_annotated,
    with_open_rest,
    alias_then_rest,
    only_by_place,
    fastapi_default,
    fastapi_annotated,
    provider_with_default_style,
    provider_with_alias,
    wants_by_place,
    of_class,
    of_dataclass,
    with_context,
]


@pytest.mark.parametrize("function", SPELLINGS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("arguments", [{"query": "q"}, FORGED], ids=["honest", "forged"])
async def test_every_spelling_is_supplied_and_what_the_model_sends_for_it_is_never_used(function, arguments):
    shown = set(build_tool_schema(function)["function"]["parameters"]["properties"])
    assert shown - {"rest"} == {"query"}
    result = await FunctionToolset([function]).call(function.__name__, arguments, CallContext())
    assert (result.text, result.is_error) == ('["q","real"]', False)


async def test_an_explicit_schema_does_not_open_a_supplied_parameter():
    registry = ToolRegistry()
    schema: JsonObject = {"type": "object", "properties": {"query": {"type": "string"}, "token": {"type": "string"}}}
    register_tool("search", schema=schema, registry=registry)(with_open_rest)
    result = await FunctionToolset(registry.tools()).call("search", FORGED, CallContext())
    assert result.text == '["q","real"]'


async def test_what_a_partial_binds_is_settled_hidden_and_cannot_be_sent():
    def search(query: str, token: str, **rest: str) -> list:
        return [query, token]

    for tool in (
        functools.partial(search, token="real"),
        functools.update_wrapper(functools.partial(search, token="real"), search),
        functools.partial(functools.update_wrapper(functools.partial(search, token="real"), search)),
    ):
        assert set(build_tool_schema(tool)["function"]["parameters"]["properties"]) == {"query"}
        result = await FunctionToolset([tool]).call("search", {"query": "q", "token": "forged"}, CallContext())
        assert result.text == '["q","real"]'


async def test_a_partial_with_update_wrapper_does_not_ask_for_what_it_binds_by_place():
    def search(token: str, query: str) -> list:
        """Search."""
        return [query, token]

    tool = functools.update_wrapper(functools.partial(search, "real"), search)
    schema = build_tool_schema(tool)["function"]
    assert (schema["name"], schema["description"], list(schema["parameters"]["properties"])) == (
        "search",
        "Search.",
        ["query"],
    )
    assert (await FunctionToolset([tool]).call("search", FORGED, CallContext())).text == '["q","real"]'


async def test_one_value_a_call_unless_the_mark_says_that_each_wants_its_own():
    made: list[int] = []

    def number() -> int:
        made.append(1)
        return len(made)

    def shared(a: int = Depends(number), b: int = Depends(number)) -> list:
        return [a, b]

    def own(a: int = Depends(number), b: int = Depends(number, use_cache=False)) -> list:
        return [a, b]

    toolset = FunctionToolset([shared, own])
    assert (await toolset.call("shared", {}, CallContext())).text == "[1,1]"
    assert (await toolset.call("own", {}, CallContext())).text == "[2,3]"


class Nested(TypedDict):
    query: str
    token: Required[Annotated[str, Depends(get_token)]]


@dataclasses.dataclass
class Record:
    token: Annotated[str, Depends(get_token)]


def in_list(tokens: list[Annotated[str, Depends(get_token)]]) -> None: ...


def in_typed_dict(nested: Nested) -> None: ...


def in_dataclass(record: Record) -> None: ...


def two_providers(token: Annotated[str, Depends(get_token)] = Depends(of_provider)) -> None: ...


def no_class(token: Any = Depends()) -> None: ...


def many(*tokens: Annotated[str, Depends(get_token)]) -> None: ...


def from_request(request: dict) -> str:
    return "no"


def unsuppliable(token: str = Depends(from_request)) -> None: ...


def fine(query: str) -> str:
    return query


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (in_list, "tokens"),
        (in_typed_dict, "nested"),
        (in_dataclass, "record"),
        (two_providers, "token"),
        (no_class, "token"),
        (many, "tokens"),
        (unsuppliable, "request"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
async def test_a_mark_that_nothing_can_supply_is_told_at_registration_and_never_becomes_the_models(function, named):
    registry = ToolRegistry()
    with pytest.warns(ToolWarning, match=named):
        register_tool(function, registry=registry)
    register_tool(fine, registry=registry)
    assert named in problems(registry)[function.__name__]
    assert list(generate_tool_config(registry).available_tools) == ["fine"]
    toolset = FunctionToolset(registry.tools())
    assert [tool.name for tool in await toolset.tools()] == ["fine"]


def test_a_mark_inside_a_model_is_refused_where_the_model_is_made():
    with pytest.raises(TypeError, match="only a parameter itself can be supplied"):

        class Query(BaseModel):
            token: Annotated[str, Depends(get_token)]


async def test_the_function_itself_can_still_be_called_with_its_mark_in_place():
    assert by_default("q", "mine") == ["q", "mine"]
    assert inspect.signature(by_default).parameters["token"].default is not inspect.Parameter.empty
    result = await FunctionToolset([by_default]).call("by_default", {"query": "q"}, CallContext())
    assert isinstance(result, ToolResult)
