"""Signatures with what is sent, what the function has to get, and what the schema has to refuse."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import ipaddress
import pathlib
import typing as t
import uuid

import pydantic as p
import typing_extensions as te

T = t.TypeVar("T")


class Color(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Name(enum.StrEnum):
    A = "a"


class Point(p.BaseModel):
    x: int
    y: int = 0


class Tree(p.BaseModel):
    value: int
    children: list[Tree] = []


class Closed(p.BaseModel):
    model_config = p.ConfigDict(extra="forbid")
    a: int


class Strict(p.BaseModel):
    model_config = p.ConfigDict(strict=True)
    day: dt.date


class Aliased(p.BaseModel):
    first: int = p.Field(alias="firstName")


class Box(p.BaseModel, t.Generic[T]):
    item: T


class Cat(p.BaseModel):
    kind: t.Literal["cat"]
    lives: int


class Dog(p.BaseModel):
    kind: t.Literal["dog"]
    tricks: int


Pet = t.Annotated[Cat | Dog, p.Field(discriminator="kind")]
CAT, DOG = Cat(kind="cat", lives=9), Dog(kind="dog", tricks=2)


@dataclasses.dataclass
class Pair:
    left: int
    right: str = "r"


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    a: int


@p.dataclasses.dataclass
class Checked:
    a: t.Annotated[int, p.Field(gt=0)]


class Movie(te.TypedDict):
    title: te.Required[str]
    year: te.NotRequired[int]


class Partial(te.TypedDict, total=False):
    a: te.Required[int]
    b: str


class Row(t.NamedTuple):
    a: int
    b: str = "x"


UserId = t.NewType("UserId", int)
Alias = te.TypeAliasType("Alias", list[int])
Maybe = te.TypeAliasType("Maybe", t.Optional[T], type_params=(T,))  # noqa: UP045  # as it is written
Json = te.TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")
F = p.Field
A = t.Annotated
NOTHING: list[t.Any] = []
U = "12345678-1234-5678-1234-567812345678"

TYPES: list[tuple[str, t.Any, t.Any, t.Any, list[t.Any]]] = [
    # name, annotation, what is sent, what the function gets, what the schema refuses
    ("str", str, "a", "a", [1, None]),
    ("int", int, 3, 3, ["x", 1.5]),
    ("float", float, 1.5, 1.5, ["x"]),
    ("bool", bool, True, True, ["x"]),
    ("none", None, None, None, [1]),
    ("any", t.Any, {"a": [1]}, {"a": [1]}, NOTHING),
    ("bytes as base64", bytes, "aGk=", b"hi", [1]),
    ("datetime", dt.datetime, "2024-01-02T03:04:05Z", dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC), [[]]),
    ("date", dt.date, "2024-01-02", dt.date(2024, 1, 2), [[]]),
    ("time", dt.time, "03:04:05", dt.time(3, 4, 5), [[]]),
    ("timedelta", dt.timedelta, "PT60S", dt.timedelta(seconds=60), [[]]),
    ("uuid", uuid.UUID, U, uuid.UUID(U), [[]]),
    ("decimal", decimal.Decimal, "1.50", decimal.Decimal("1.50"), [[]]),
    ("path", pathlib.Path, "/a/b", pathlib.Path("/a/b"), [1]),
    ("ipv4", ipaddress.IPv4Address, "1.2.3.4", ipaddress.IPv4Address("1.2.3.4"), [[]]),
    ("url", p.AnyUrl, "https://x.y/", p.AnyUrl("https://x.y/"), [1]),
    ("secret", p.SecretStr, "s", p.SecretStr("s"), [1]),
    ("base64 bytes", p.Base64Bytes, "aGkgdGhlcmU=", b"hi there", [1]),
    ("base64 text", p.Base64Str, "aGk=", "hi", [1]),
    ("list", list[int], [1], [1], [1, ["x"]]),
    ("bare list", list, [1, "a"], [1, "a"], ["x"]),
    ("dict", dict[str, int], {"a": 1}, {"a": 1}, [{"a": "x"}, 1]),
    ("bare dict", dict, {"a": 1}, {"a": 1}, [1]),
    ("int keys", dict[int, str], {"1": "a"}, {1: "a"}, [1]),
    ("tuple", tuple[int, str], [1, "a"], (1, "a"), [[1], ["a", 1], [1, "a", 2]]),
    ("tuple of any length", tuple[int, ...], [1, 2], (1, 2), [["a"]]),
    ("set", set[int], [1, 2], {1, 2}, [["a"]]),
    ("frozenset", frozenset[str], ["a"], frozenset({"a"}), [[1]]),
    ("deque", collections.deque[int], [1], collections.deque([1]), [["a"]]),
    ("sequence", t.Sequence[int], [1], [1], [["a"]]),
    ("mapping", t.Mapping[str, int], {"a": 1}, {"a": 1}, [{"a": "x"}]),
    ("nested", dict[str, list[tuple[int, str]]], {"a": [[1, "b"]]}, {"a": [(1, "b")]}, [{"a": [["b", 1]]}]),
    ("optional", int | None, None, None, ["x"]),
    ("union", int | str, "a", "a", [None, []]),
    ("union of models", Point | Pair, {"left": 1}, Pair(1), [1]),
    ("literal", t.Literal["a", "b"], "b", "b", ["c"]),
    ("literal of numbers", t.Literal[1, 2], 2, 2, [3]),
    ("mixed literal", t.Literal["a", 1, None], None, None, ["b"]),
    ("literal of a member", t.Literal[Color.BLUE], "b", Color.BLUE, ["r"]),
    ("literal of members", t.Literal[Color.BLUE, Color.RED], "r", Color.RED, ["x"]),
    ("enum", Color, "r", Color.RED, ["x"]),
    ("int enum", Level, 2, Level.HIGH, [3]),
    ("str enum", Name, "a", Name.A, ["x"]),
    ("optional enum", Color | None, "b", Color.BLUE, ["x"]),
    ("dict by enum", dict[Name, int], {"a": 1}, {Name.A: 1}, [1]),
    ("model", Point, {"x": 1}, Point(x=1), [{}, {"x": "a"}]),
    ("list of models", list[Point], [{"x": 1, "y": 2}], [Point(x=1, y=2)], [[{}]]),
    ("optional model", Point | None, {"x": 1}, Point(x=1), [{}]),
    ("recursive model", Tree, {"value": 1, "children": [{"value": 2}]}, Tree(value=1, children=[Tree(value=2)]), [{}]),
    ("closed model", Closed, {"a": 1}, Closed(a=1), [{"a": 1, "b": 2}]),
    ("strict model", Strict, {"day": "2024-01-02"}, Strict(day=dt.date(2024, 1, 2)), [{}]),
    ("model with an alias", Aliased, {"firstName": 1}, Aliased(firstName=1), [{}]),
    ("generic model", Box[int], {"item": 1}, Box[int](item=1), [{"item": "a"}]),
    ("generic of a model", Box[Point], {"item": {"x": 1}}, Box[Point](item=Point(x=1)), [{"item": {}}]),
    ("tagged union", Pet, {"kind": "dog", "tricks": 2}, DOG, [{"kind": "cow"}]),
    ("list of tagged", list[Pet], [{"kind": "cat", "lives": 9}], [CAT], [[{"kind": "cow"}]]),
    ("dataclass", Pair, {"left": 1}, Pair(1), [{}]),
    ("dataclass with slots", Slotted, {"a": 1}, Slotted(1), [{}]),
    ("pydantic dataclass", Checked, {"a": 1}, Checked(1), [{"a": 0}]),
    ("typed dict", Movie, {"title": "a"}, {"title": "a"}, [{}, {"title": 1}]),
    ("typed dict with Required", Partial, {"a": 1}, {"a": 1}, [{}]),
    ("named tuple", Row, [1, "b"], Row(1, "b"), [["x"]]),
    ("new type", UserId, 5, 5, ["x"]),
    ("type alias", Alias, [1], [1], [["a"]]),
    ("generic type alias", Maybe[int], None, None, ["a"]),
    ("recursive type alias", Json, {"a": [1, "b", None]}, {"a": [1, "b", None]}, [1.5]),
    ("bounds", A[int, F(ge=1, le=5)], 3, 3, [0, 6]),
    ("exclusive bounds", A[float, F(gt=0, lt=1)], 0.5, 0.5, [0, 1]),
    ("multiple", A[int, F(multiple_of=5)], 10, 10, [3]),
    ("length", A[str, F(min_length=2, max_length=3)], "ab", "ab", ["a", "abcd"]),
    ("pattern", A[str, F(pattern="^a+$")], "aa", "aa", ["b"]),
    ("item counts", A[list[int], F(min_length=1, max_length=2)], [1], [1], [[], [1, 2, 3]]),
    ("strict int", A[int, F(strict=True)], 3, 3, ["x"]),
    ("strict date", A[dt.date, F(strict=True)], "2024-01-02", dt.date(2024, 1, 2), [[]]),
    ("strict enum", A[Color, p.Strict()], "b", Color.BLUE, ["x"]),
    ("strict tuple", A[tuple[int, ...], p.Strict()], [1], (1,), [["a"]]),
    ("before validator", A[list[str], p.BeforeValidator(lambda v: v)], ["a"], ["a"], [[1]]),
    ("after validator", A[int, p.AfterValidator(lambda v: v + 1)], 1, 2, ["x"]),
    ("annotated twice", A[A[int, F(ge=1)], F(le=3)], 2, 2, [0, 4]),
    ("note", A[int, "how many"], 2, 2, ["x"]),
    ("doc", A[int, te.Doc("how many")], 2, 2, ["x"]),
    ("json text", p.Json[list[int]], "[1]", [1], [1]),
    ("positive", p.PositiveInt, 1, 1, [0]),
    ("constrained", p.conint(ge=2), 2, 2, [1]),
    ("pattern object", t.Pattern[str], "a+", __import__("re").compile("a+"), [1]),
    ("byte size", p.ByteSize, "1kb", p.ByteSize(1000), NOTHING),
    ("optional list", list[int] | None, [1], [1], [["a"]]),
    ("optional union", int | str | None, None, None, [[]]),
    ("counter", collections.Counter[str], {"a": 1}, collections.Counter({"a": 1}), [1]),
    ("default dict", collections.defaultdict[str, int], {"a": 1}, collections.defaultdict(int, a=1), [1]),
    ("ordered dict", collections.OrderedDict[str, int], {"a": 1}, collections.OrderedDict(a=1), [1]),
]  # fmt: skip


def _wrapped(function: t.Any) -> t.Any:
    @functools.wraps(function)
    def wrapper(*args: t.Any, **kwargs: t.Any) -> t.Any:
        return function(*args, session="real", **kwargs)

    return wrapper


def positional(a: int, /, b: int) -> str:
    return repr((a, b))


def keyword_only(*, a: int, b: int = 2) -> str:
    return repr((a, b))


def with_rest(a: int, **rest: int) -> str:
    return repr((a, rest))


def with_more(a: int, *more: int) -> str:
    return repr((a, more))


def with_default(color: Color = Color.RED, n: int = 3) -> str:
    return repr((color, n))


def with_field(n: int = F(5, ge=1)) -> str:
    return repr(n)


@_wrapped
def decorated(query: str, session: str) -> str:
    return repr((query, session))


def base(token: str, query: str) -> str:
    return repr((token, query))


bound = functools.update_wrapper(functools.partial(base, "real"), base)


@functools.singledispatch
def dispatched(value: t.Any) -> str:
    return "other"


@dispatched.register
def _(value: int) -> str:
    return f"int {value}"


class Service:
    def method(self, n: int) -> str:
        return repr(n)

    def __call__(self, n: int) -> str:
        return repr(n + 1)


SERVICE = Service()
FUNCTIONS: list[tuple[str, t.Any, dict[str, t.Any], str, list[str]]] = [
    # name, function, arguments, what it returns, the parameters to show
    ("positional only", positional, {"a": 1, "b": 2}, "(1, 2)", ["a", "b"]),
    ("keyword only", keyword_only, {"a": 1}, "(1, 2)", ["a", "b"]),
    ("**rest", with_rest, {"a": 1, "z": 2}, "(1, {'z': 2})", ["a"]),
    ("*more", with_more, {"a": 1, "more": [2, 3]}, "(1, (2, 3))", ["a", "more"]),
    ("defaults", with_default, {}, "(<Color.RED: 'r'>, 3)", ["color", "n"]),
    ("Field default", with_field, {}, "5", ["n"]),
    ("bound method", SERVICE.method, {"n": 1}, "1", ["n"]),
    ("decorator supplies", decorated, {"query": "q"}, "('q', 'real')", ["query"]),
    ("partial, update_wrapper", bound, {"query": "q"}, "('real', 'q')", ["query"]),
    ("singledispatch", dispatched, {"value": 3}, "int 3", ["value"]),
]
