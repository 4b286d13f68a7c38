"""Every report of area c (Python functions), by id."""

from __future__ import annotations

import base64
import inspect
import json
import uuid
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from pydantic import BaseModel, Field
from tests.tools.reports import Reports

from naru.errors import InvalidArgumentsError
from naru.messages import ToolResult
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.execute import execute_tool
from naru.tools.functions.inject import ToolContext
from naru.tools.functions.registry import ToolRegistry, generate_tool_config, register_tool
from naru.tools.functions.signature import build_tool_schema
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.serialise import UnserialisableError
from naru.tools.toolset import CallContext

REPORTS = Reports("c")


@pytest.mark.parametrize("case_id", REPORTS.cases)
async def test_report(case_id: str) -> None:
    outcome = REPORTS.checks[case_id](REPORTS.cases[case_id]["input"])
    if inspect.isawaitable(outcome):
        await outcome


def schema_of(function: Any) -> dict[str, Any]:
    return build_tool_schema(function)["function"]["parameters"]


async def call(function: Any, arguments: dict[str, Any]) -> ToolResult:
    toolset = FunctionToolset([function])
    return await toolset.call((await toolset.tools())[0].name, arguments, CallContext())


class Cur(BaseModel):
    code: str


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@REPORTS.check("c01")
async def _(given):
    def convert(amount: int, cur: Cur, m: Literal["a", "b"] = "a", p: Path | None = None) -> str:
        return f"{amount + 1} {type(cur).__name__} {cur.code}"

    properties = schema_of(convert)["properties"]
    assert properties["amount"] == {"type": "integer"}
    assert (properties["cur"]["type"], list(properties["cur"]["properties"])) == ("object", ["code"])
    assert (properties["m"]["enum"], properties["m"]["default"]) == (["a", "b"], "a")
    assert {branch["type"] for branch in properties["p"]["anyOf"]} == {"string", "null"}
    assert (await call(convert, {"amount": 1, "cur": {"code": "EUR"}})).text == "2 Cur EUR"


@REPORTS.check("c04")
async def _(given):
    async def run_sql(query: str, ctx: ToolContext) -> list:
        return [query, type(ctx).__name__]

    assert list(schema_of(run_sql)["properties"]) == ["query"]
    assert (await call(run_sql, {"query": "q", "ctx": "evil"})).structured == {"result": ["q", "ToolContext"]}


@REPORTS.check("c09")
def _(given):
    @register_tool(registry=ToolRegistry())
    def add(a: int, b: int) -> int:
        return a + b

    assert add(1, 2) == 3


@REPORTS.check("c10")
def _(given):
    registry = ToolRegistry()

    def a(): ...

    register_tool(a, registry=registry)

    @register_tool(registry=registry)
    def b(): ...

    @register_tool("c2", description="d", registry=registry)
    def c(): ...

    config = generate_tool_config(registry)
    assert list(config.available_tools) == ["a", "b", "c2"]
    assert config.tools_schema[2]["function"]["description"] == "d"
    for wrong in (Color, 7, None):
        with pytest.raises(TypeError, match="register"):
            register_tool(registry=registry)(wrong)


@REPORTS.check("c11")
async def _(given):
    def f(a: Optional[int] = None, b: Union[int, str] = 0, c: Literal[1, 2] = 1, d: Color = Color.RED):  # noqa: UP007, UP045  # the report's own spelling
        return d is Color.BLUE

    schema = schema_of(f)
    assert {branch["type"] for branch in schema["properties"]["a"]["anyOf"]} == {"integer", "null"}
    assert {branch["type"] for branch in schema["properties"]["b"]["anyOf"]} == {"integer", "string"}
    assert schema["properties"]["c"]["enum"] == [1, 2]
    assert (schema["properties"]["d"]["enum"], schema["properties"]["d"]["default"]) == (["red", "blue"], "red")
    assert schema["required"] == []
    assert (await call(f, {"d": "blue"})).structured == {"result": True}


@REPORTS.check("c12")
async def _(given):
    async def gen(prompt: str, parts: list[tuple[bytes, str]] | None = None) -> dict:
        return {"got": [[type(data).__name__, len(data), name] for data, name in parts or []]}

    pair = next(b for b in schema_of(gen)["properties"]["parts"]["anyOf"] if b["type"] == "array")["items"]
    assert (pair["minItems"], pair["maxItems"]) == (2, 2)
    assert pair["prefixItems"] == [{"type": "string", "contentEncoding": "base64"}, {"type": "string"}]
    sent = base64.b64encode(b"\x00\xff").decode()
    assert (await call(gen, {"prompt": "x", "parts": [[sent, "n"]]})).structured == {"got": [["bytes", 2, "n"]]}
    assert (await call(gen, {"prompt": "x", "parts": None})).structured == {"got": []}


@REPORTS.check("c13")
async def _(given):
    def list_issues(state="open", per_page=10, deep=False, tags=()):
        return [state, per_page, deep, list(tags)]

    schema = schema_of(list_issues)
    assert [part["type"] for part in schema["properties"].values()] == ["string", "integer", "boolean", "array"]
    assert schema["required"] == []
    assert (await call(list_issues, {"per_page": "5"})).structured == {"result": ["open", 5, False, []]}

    def anything(x):
        return x

    assert schema_of(anything) == {"type": "object", "properties": {"x": {}}, "required": ["x"]}
    assert (await call(anything, {"x": {"y": [1]}})).structured == {"y": [1]}


@REPORTS.check("c14")
async def _(given):
    ran: list[Any] = []

    class Req(BaseModel):
        query: str
        k: int
        f: str = ""

    def search(request: Req) -> list:
        ran.append(request)
        return [request.query]

    assert schema_of(search)["properties"]["request"]["required"] == ["query", "k"]
    assert (await call(search, {"request": {"query": "x", "k": 1}})).structured == {"result": ["x"]}
    assert isinstance(ran.pop(), Req)
    with pytest.raises(InvalidArgumentsError, match=r"request\.k"):
        await call(search, {"request": {"query": "x"}})
    assert not ran


@REPORTS.check("c15")
async def _(given):
    def f(
        n: Annotated[int, Field(description="how many", ge=1, le=5)],
        s: Annotated[str, "a note"],
        e: str = Field(default="x", description="E"),
    ):
        """Do.

        Args:
            n: loses
            s: loses too
        """
        return e

    properties = schema_of(f)["properties"]
    assert properties["n"] == {"type": "integer", "description": "how many", "minimum": 1, "maximum": 5}
    assert properties["s"] == {"type": "string", "description": "a note"}
    assert properties["e"] == {"type": "string", "description": "E", "default": "x"}
    assert schema_of(f)["required"] == ["n", "s"]
    assert (await call(f, {"n": 1, "s": ""})).text == "x"


@REPORTS.check("c16")
def _(given):
    async def w(local: str | None = None, n: int | float = 0) -> str: ...

    properties = schema_of(w)["properties"]
    assert {branch["type"] for branch in properties["local"]["anyOf"]} == {"string", "null"}
    assert {branch["type"] for branch in properties["n"]["anyOf"]} == {"integer", "number"}
    assert schema_of(w)["required"] == []


@REPORTS.check("c21")
def _(given):
    def w(city: str, units: str = "c"):
        """Get weather.
        Args:
            city: The city.
            units: Units
                to use.
        """

    function = build_tool_schema(w)["function"]
    assert function["description"] == "Get weather."
    assert function["parameters"]["properties"]["city"]["description"] == "The city."
    assert function["parameters"]["properties"]["units"]["description"] == "Units to use."


@REPORTS.check("c22")
def _(given):
    def f(mode: str, n: int = 3):
        """Do.

        Parameters
        ----------
        mode : str
            One of:
            - fast
            - slow
        n : int, optional
            Count.

        Returns
        -------
        str
        """

    function = build_tool_schema(f)["function"]
    assert function["description"] == "Do."
    assert "fast" in function["parameters"]["properties"]["mode"]["description"]
    assert "slow" in function["parameters"]["properties"]["mode"]["description"]
    assert function["parameters"]["properties"]["n"]["description"] == "Count."


@REPORTS.check("c24")
def _(given):
    def ping():
        """Ping."""

    def now(ctx: ToolContext):
        """Time."""

    def bare(x: int):
        return x

    described = {function.__name__: build_tool_schema(function)["function"] for function in (ping, now, bare)}
    assert [described[name]["description"] for name in ("ping", "now", "bare")] == ["Ping.", "Time.", ""]
    assert described["now"]["parameters"]["properties"] == {}


@REPORTS.check("c25")
async def _(given):
    def f(a: str, b: Optional[int]):  # noqa: UP045  # the report's own spelling
        return b

    assert schema_of(f)["required"] == ["a"]
    assert (await call(f, {"a": "x"})).text == "null"
    assert (await call(f, {"a": "x", "b": None})).text == "null"
    with pytest.raises(InvalidArgumentsError, match="a: "):
        await call(f, {"b": 1})


@REPORTS.check("c26")
async def _(given):
    def temp(city: str, celsius: bool = False):
        return int(celsius)

    assert schema_of(temp)["properties"]["celsius"] == {"type": "boolean", "default": False}
    assert (await call(temp, given["call"])).text == "0"


@REPORTS.check("c28")
async def _(given):
    def p(data: str, o: dict | None = None):
        return [type(data).__name__, type(o).__name__]

    first, second = given["calls"]
    assert (await call(p, first)).structured == {"result": ["str", "NoneType"]}
    assert (await call(p, second)).structured == {"result": ["str", "dict"]}


@REPORTS.check("c29")
async def _(given):
    right = {"cmd": {"op": "view"}, "ids": [1, 2], "n": 3}
    validator = ArgumentsValidator(given["schema"])
    assert validator.validate(given["call"]) == right

    def run(cmd: dict, ids: list[int], n: int):
        return {"cmd": cmd, "ids": ids, "n": n}

    assert (await call(run, given["call"])).structured == right
    for field, text in (("cmd", "{op: "), ("ids", "[1,"), ("n", "three")):
        with pytest.raises(InvalidArgumentsError, match=field):
            validator.validate({**given["call"], field: text})
        with pytest.raises(InvalidArgumentsError, match=field):
            await call(run, {**given["call"], field: text})


@REPORTS.check("c30")
async def _(given):
    def f():
        return {"s": {1, 2}, "o": object()}

    with pytest.raises(UnserialisableError, match="object"):
        await call(f, {})
    answer = await execute_tool("f", {}, toolset=FunctionToolset([f]))
    assert answer["success"] is False
    assert "0x" not in answer["error"]

    def g():
        return {"s": {1, 2}}

    assert (await call(g, {})).structured == {"s": [1, 2]}


@REPORTS.check("c31")
async def _(given):
    def acc():
        value = {
            "id": uuid.UUID(int=7),
            "b": Decimal("1.50"),
            "d": date(2024, 1, 2),
            "t": datetime(2024, 1, 2, 3, 4, tzinfo=timezone.utc),  # noqa: UP017  # the report's own spelling
            "x": b"\x00\xff",
            "p": Path("/a"),
            "e": Color.RED,
        }
        return {**value, "nested": [value], uuid.UUID(int=1): 1, date(2024, 1, 2): 2, Color.BLUE: 3}

    found = (await call(acc, {})).structured
    right = {
        "id": "00000000-0000-0000-0000-000000000007",
        "b": "1.50",
        "d": "2024-01-02",
        "t": "2024-01-02T03:04:00Z",
        "x": "AP8=",
        "p": "/a",
        "e": "red",
    }
    assert found["nested"] == [right]
    assert found["00000000-0000-0000-0000-000000000001"] == 1
    assert found["2024-01-02"] == 2
    assert found["blue"] == 3
    assert json.loads((await call(acc, {})).text) == found
