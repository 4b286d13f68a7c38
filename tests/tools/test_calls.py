"""Issue 19 line 7: calls that failed or ran otherwise than the schema said."""

from __future__ import annotations

import ast
import base64
import dataclasses
import datetime
import decimal
import enum
import functools
import uuid
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import pytest
from pydantic import Base64Bytes, Base64UrlBytes, BaseModel, ConfigDict, Field, Strict

from naru.errors import InvalidArgumentsError
from naru.messages import ToolDefinition, ToolResult
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.combined import CombinedToolset
from naru.tools.functions.signature import build_tool_schema
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext


class Color(enum.Enum):
    RED = "r"
    BLUE = "b"


class Kind(enum.Enum):
    CAT = "cat"
    DOG = "dog"


class Cat(BaseModel):
    kind: Literal[Kind.CAT]
    lives: int


class Dog(BaseModel):
    kind: Literal[Kind.DOG]
    tricks: int


class Corner(enum.Enum):
    TOP = (0, 1)
    SIDE = (1, 0)


class Holiday(enum.Enum):
    CHRISTMAS = datetime.date(2024, 12, 25)


class Placed(BaseModel):
    corner: Corner


class Exact(BaseModel):
    model_config = ConfigDict(strict=True)
    day: datetime.date
    key: uuid.UUID
    color: Color


@dataclasses.dataclass
class Blob:
    data: Base64Bytes


async def got(annotation: Any, sent: Any) -> Any:
    """Return what a function gets for one argument."""
    seen: list[Any] = []

    def tool(x):
        seen.append(x)

    tool.__annotations__ = {"x": annotation}
    result = await FunctionToolset([tool]).call("tool", {"x": sent}, CallContext())
    assert not result.is_error, result.text
    return seen[0]


KEY = uuid.UUID(int=5)
TEXT = base64.b64encode(b"hi there\xff").decode()


@pytest.mark.parametrize(
    ("annotation", "sent", "right"),
    [
        pytest.param(Base64Bytes, TEXT, b"hi there\xff", id="base64"),
        pytest.param(Base64UrlBytes, base64.urlsafe_b64encode(b"\xff\xfe?").decode(), b"\xff\xfe?", id="base64url"),
        pytest.param(list[Base64Bytes], [TEXT], [b"hi there\xff"], id="list of base64"),
        pytest.param(Base64Bytes | None, TEXT, b"hi there\xff", id="optional base64"),
        pytest.param(Blob, {"data": TEXT}, Blob(b"hi there\xff"), id="base64 in a dataclass"),
        pytest.param(bytes, TEXT, b"hi there\xff", id="bytes"),
        pytest.param(Annotated[datetime.date, Field(strict=True)], "2024-01-02", datetime.date(2024, 1, 2), id="date"),
        pytest.param(Annotated[decimal.Decimal, Strict()], "1.5", decimal.Decimal("1.5"), id="decimal"),
        pytest.param(Annotated[Color, Field(strict=True)], "b", Color.BLUE, id="enum"),
        pytest.param(Annotated[tuple[int, ...], Strict()], [1, 2], (1, 2), id="tuple"),
        pytest.param(Annotated[set[int], Strict()], [1], {1}, id="set"),
        pytest.param(Annotated[int, Field(strict=True)], 3, 3, id="int"),
        pytest.param(
            Exact,
            {"day": "2024-01-02", "key": str(KEY), "color": "r"},
            Exact(day=datetime.date(2024, 1, 2), key=KEY, color=Color.RED),
            id="strict model",
        ),
        pytest.param(Literal[Color.BLUE], "b", Color.BLUE, id="literal of a member"),
        pytest.param(Literal[Color.BLUE, "x", 3], "b", Color.BLUE, id="literal of members and texts"),
        pytest.param(Literal[Color.BLUE, "x", 3], 3, 3, id="literal of members and numbers"),
        pytest.param(dict[str, list[Literal[Color.RED]]], {"a": ["r"]}, {"a": [Color.RED]}, id="nested literal"),
        pytest.param(
            Annotated[Cat | Dog, Field(discriminator="kind")],
            {"kind": "dog", "tricks": 2},
            Dog(kind=Kind.DOG, tricks=2),
            id="discriminated by members",
        ),
        pytest.param(Corner, [0, 1], Corner.TOP, id="enum of tuples"),
        pytest.param(Holiday, "2024-12-25", Holiday.CHRISTMAS, id="enum of dates"),
        pytest.param(dict[Holiday, Corner], {"2024-12-25": [1, 0]}, {Holiday.CHRISTMAS: Corner.SIDE}, id="enum as key"),
        pytest.param(Placed, {"corner": [1, 0]}, Placed(corner=Corner.SIDE), id="enum of tuples in a model"),
        pytest.param(Iterable[int], ["1", 2], [1, 2], id="iterable"),
    ],
)
async def test_a_value_is_read_as_the_schema_says_it(annotation, sent, right):
    found = await got(annotation, sent)
    assert found == right
    assert type(found) is type(right)


@pytest.mark.parametrize(
    ("annotation", "sent"),
    [(Literal[Color.BLUE], "r"), (Base64Bytes, 3), (Corner, [1, 1]), (Iterable[int], ["x"])],
)
async def test_what_does_not_fit_is_still_refused(annotation, sent):
    with pytest.raises(InvalidArgumentsError):
        await got(annotation, sent)


async def test_what_a_call_does_to_a_default_is_no_later_calls():
    def tool(x: int, seen: list[int] = Field(default=[0])) -> list[int]:  # noqa: B008
        seen.append(x)
        return seen

    tools = FunctionToolset([tool])
    found = [(await tools.call("tool", {"x": x}, CallContext())).text for x in (1, 2)]
    assert found == ["[0,1]", "[0,2]"]


def test_a_schema_refers_to_nothing_that_is_not_in_it():
    def tool(x):
        pass

    tool.__annotations__["x"] = Annotated[Cat | Dog, Field(discriminator="kind")]
    assert "#/$defs" not in str(build_tool_schema(tool))


async def test_bytes_of_a_model_with_its_own_settings_are_offered_as_it_reads_them():
    class Model(BaseModel):
        data: bytes

    def tool(x: Model) -> str:
        return x.data.decode()

    tool.__annotations__["x"] = Model
    schema = build_tool_schema(tool)["function"]["parameters"]["properties"]["x"]
    assert schema["properties"]["data"] == {"type": "string"}
    assert (await FunctionToolset([tool]).call("tool", {"x": {"data": "plain"}}, CallContext())).text == "plain"


# A name with a slip in it


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    user_id: int
    max_rows: int = 10


def search(query: str, limit: int = 10, page_token: str = "") -> list:
    return [query, limit, page_token]


def nested(where: Closed) -> int:
    return where.max_rows


def open_rest(query: str, limit: int = 10, **rest: int) -> list:
    return [query, limit, rest]


@pytest.mark.parametrize(
    ("function", "arguments", "told"),
    [
        (search, {"query": "x", "limt": 5}, "limt is not known: did you mean limit?"),
        (search, {"query": "x", "pageToken": "p"}, "pageToken is not known: did you mean page_token?"),
        (search, {"qurey": "x"}, "qurey is not known: did you mean query?"),
        (nested, {"where": {"userId": 1}}, "userId is not known: did you mean user_id?"),
        (nested, {"where": {"user_id": "1", "maxrows": 3}}, "maxrows is not known: did you mean max_rows?"),
    ],
)
async def test_a_misspelt_argument_is_told_with_the_right_name_and_the_default_does_not_stand_in(
    function, arguments, told
):
    with pytest.raises(InvalidArgumentsError, match="was not run") as refused:
        await FunctionToolset([function]).call(function.__name__, arguments, CallContext())
    assert told in str(refused.value)


async def test_what_is_no_slip_of_a_name_is_dropped_as_before():
    result = await FunctionToolset([search]).call(
        "search", {"query": "x", "limit": 3, "limt": 5, "zebra": 1}, CallContext()
    )
    assert result.text == '["x",3,""]'
    result = await FunctionToolset([open_rest]).call("open_rest", {"query": "x", "limt": 5}, CallContext())
    assert result.text == '["x",10,{"limt":5}]'


CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


async def test_a_servers_closed_schema_tells_it_as_well():
    class Server:
        async def open(self) -> None: ...
        async def close(self) -> None: ...
        async def tools(self) -> list[ToolDefinition]:
            return [ToolDefinition("weather", input_schema=CLOSED)]

        async def call(self, name: str, arguments: dict, context: CallContext) -> ToolResult:
            return ToolResult.of_text(str(arguments))

    combined = CombinedToolset({"s": Server()})
    with pytest.raises(InvalidArgumentsError, match=r"uint is not known: did you mean unit\?"):
        await combined.call("s__weather", {"city": "Busan", "uint": "C"}, CallContext())
    assert (await combined.call("s__weather", {"city": "Busan", "other": 1}, CallContext())).text == "{'city': 'Busan'}"
    assert ArgumentsValidator(CLOSED).validate({"city": "x", "unit": "C", "units": "C"}) == {"city": "x", "unit": "C"}


# Decorators


def by_keyword(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, session="real", **kwargs)

    return wrapper


def by_place(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        session = "real"
        return function(session, *args, **kwargs)

    return wrapper


def by_setting(function):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        kwargs["session"] = "real"
        return function(*args, **kwargs)

    return wrapper


def closed(function):
    @functools.wraps(function)
    def wrapper(query: str):
        return function("real", query)

    return wrapper


class AsObject:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function("real", *args, **kwargs)


def passes_on(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        session = kwargs.pop("session", "default")
        return function(*args, session=session, **kwargs)

    return wrapper


def transparent(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def ask(session: str, query: str) -> list:
    """Ask."""
    return [session, query]


@pytest.mark.parametrize(
    "decorated",
    [
        by_keyword(ask),
        by_place(ask),
        by_setting(ask),
        closed(ask),
        AsObject(ask),
        transparent(by_keyword(ask)),
        by_place(transparent(ask)),
        functools.partial(by_keyword(ask)),
    ],
    ids=["keyword", "place", "setting", "closed", "object", "below another", "over another", "in a partial"],
)
async def test_what_a_decorator_supplies_is_hidden_and_the_models_word_for_it_is_not_used(decorated):
    schema = build_tool_schema(decorated)["function"]
    assert (schema["name"], list(schema["parameters"]["properties"])) == ("ask", ["query"])
    for arguments in ({"query": "q"}, {"query": "q", "session": "forged"}):
        assert (await FunctionToolset([decorated]).call("ask", arguments, CallContext())).text == '["real","q"]'


@pytest.mark.parametrize("decorator", [passes_on, transparent])
async def test_what_a_decorator_passes_on_stays_open(decorator):
    decorated = decorator(ask)
    assert list(build_tool_schema(decorated)["function"]["parameters"]["properties"]) == ["session", "query"]
    arguments = {"session": "mine", "query": "q"}
    assert (await FunctionToolset([decorated]).call("ask", arguments, CallContext())).text == '["mine","q"]'


def test_a_parse_that_python_lost_count_of_is_done_again(monkeypatch):
    """Python before 3.11.8 fails a parse during which another ran (gh-106905); `session` would be the model's."""
    parse, lost = ast.parse, [SystemError("AST constructor recursion depth mismatch")]

    def once_lost(source, *rest, **more):
        if lost:
            raise lost.pop()
        return parse(source, *rest, **more)

    monkeypatch.setattr(ast, "parse", once_lost)
    assert list(build_tool_schema(by_keyword(ask))["function"]["parameters"]["properties"]) == ["query"]


@functools.singledispatch
def describe(value, unit: str = "") -> str:
    return f"other {value}{unit}"


@describe.register
def _(value: int, unit: str = "") -> str:
    return f"number {value}{unit}"


@describe.register
async def _(value: str, unit: str = "") -> str:
    return f"text {value}{unit}"


@pytest.mark.parametrize(
    ("value", "right"), [(3, "number 3m"), ("3", "text 3m"), (None, "other Nonem"), ([1], "other [1]m")]
)
async def test_a_single_dispatch_chooses_by_the_value_that_came(value, right):
    result = await FunctionToolset([describe]).call("describe", {"value": value, "unit": "m"}, CallContext())
    assert (result.text, result.is_error) == (right, False)
