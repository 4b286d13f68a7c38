"""Random annotations with values of theirs, nested four deep: what a person would annotate with (S3)."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import typing
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, create_model

from naru.tools.functions import typed_dicts

MAX_DEPTH = 4


@dataclass(frozen=True)
class Typed:
    """An annotation and a strategy for Python values of it."""

    annotation: Any
    values: st.SearchStrategy[Any]
    kind: str
    """What such a value is in JSON: no union joins two that JSON could not tell apart."""
    is_key: bool = False
    """Whether it can stand in a set or as a key."""


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Level(enum.IntEnum):
    ONE = 1
    TWO = 2


class Tree(BaseModel):
    """Contains itself."""

    value: int
    children: list[Tree] = []


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
TREES = st.recursive(
    st.builds(Tree, value=st.integers(0, 9)),
    lambda inner: st.builds(Tree, value=st.integers(0, 9), children=st.lists(inner, max_size=2)),
    max_leaves=4,
)
MOMENTS = st.datetimes(datetime.datetime(1970, 1, 2), datetime.datetime(2100, 1, 1), timezones=st.just(datetime.UTC))
LEAVES = [
    Typed(str, TEXT, "text", is_key=True),
    Typed(int, st.integers(-(2**70), 2**70), "number", is_key=True),
    Typed(float, FLOATS, "number"),
    Typed(bool, st.booleans(), "boolean"),
    Typed(type(None), st.none(), "null"),
    Typed(bytes, st.binary(max_size=8), "bytes"),
    Typed(datetime.datetime, MOMENTS, "text"),
    Typed(datetime.date, st.dates(), "text", is_key=True),
    Typed(datetime.time, st.times(), "text"),
    Typed(datetime.timedelta, st.timedeltas(datetime.timedelta(-999), datetime.timedelta(999)), "text"),
    Typed(uuid.UUID, st.uuids(), "text", is_key=True),
    Typed(decimal.Decimal, st.decimals(-1_000_000, 1_000_000, allow_nan=False, allow_infinity=False, places=2), "text"),
    Typed(pathlib.Path, st.sampled_from([pathlib.Path("/a/b"), pathlib.Path("c")]), "text"),
    Typed(ipaddress.IPv4Address, st.ip_addresses(v=4), "text"),
    Typed(Size, st.sampled_from(Size), "text", is_key=True),
    Typed(Level, st.sampled_from(Level), "number"),
    Typed(Literal["x", "y"], st.sampled_from(["x", "y"]), "text"),
    Typed(Literal[1, 2], st.sampled_from([1, 2]), "number"),
    Typed(Annotated[int, Field(ge=1, le=5, description="one to five")], st.integers(1, 5), "number"),
    Typed(Annotated[str, Field(min_length=2, max_length=6)], st.text("ab가", min_size=2, max_size=6), "text"),
    Typed(Tree, TREES, "object"),
]


def typed(depth: int = MAX_DEPTH) -> st.SearchStrategy[Typed]:
    """Return random annotations, nested up to a depth."""
    leaf = st.sampled_from(LEAVES)
    if depth == 0:
        return leaf
    inner = typed(depth - 1)
    keys = st.sampled_from([each for each in LEAVES if each.is_key])
    members = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        leaf,
        inner.map(_list),
        keys.map(_set),
        inner.map(_many),
        members.map(_tuple),
        st.builds(_mapping, keys, inner),
        inner.map(_optional),
        members.map(_union),
        members.map(_typed_dict),
        members.map(_dataclass),
        members.map(_model),
        members.map(_named_tuple),
    )


def _list(inner: Typed) -> Typed:
    return Typed(list[inner.annotation], st.lists(inner.values, max_size=3), "array")


def _set(inner: Typed) -> Typed:
    return Typed(set[inner.annotation], st.sets(inner.values, max_size=1), "array")


def _many(inner: Typed) -> Typed:
    return Typed(tuple[inner.annotation, ...], st.lists(inner.values, max_size=3).map(tuple), "array")


def _tuple(members: list[Typed]) -> Typed:
    annotation = tuple[tuple(member.annotation for member in members)]
    return Typed(annotation, st.tuples(*(member.values for member in members)), "array")


def _mapping(key: Typed, inner: Typed) -> Typed:
    return Typed(
        dict[key.annotation, inner.annotation], st.dictionaries(key.values, inner.values, max_size=3), "object"
    )


def _optional(inner: Typed) -> Typed:
    return Typed(typing.Optional[inner.annotation], st.none() | inner.values, "optional")  # noqa: UP045  # of a value


def _union(members: list[Typed]) -> Typed:
    """Join members that JSON can tell apart; bytes are text there, and an optional holds anything."""
    seen: set[str] = set()
    chosen = []
    for member in members:
        kind = "text" if member.kind == "bytes" else member.kind
        if kind not in seen and kind not in ("optional", "union"):
            seen.add(kind)
            chosen.append(member)
    if not chosen:
        return members[0]
    union = typing.Union[tuple(member.annotation for member in chosen)]  # noqa: UP007  # of values
    return Typed(union, st.one_of(*(member.values for member in chosen)), "union")


def _names(members: list[Typed]) -> list[str]:
    return [f"field_{index}" for index in range(len(members))]


def _typed_dict(members: list[Typed]) -> Typed:
    names = _names(members)
    shape: Any = typing.TypedDict("Shape", {n: m.annotation for n, m in zip(names, members, strict=True)})
    values = st.fixed_dictionaries({n: m.values for n, m in zip(names, members, strict=True)})
    return Typed(shape, values, "object")


def _dataclass(members: list[Typed]) -> Typed:
    fields = [(name, member.annotation) for name, member in zip(_names(members), members, strict=True)]
    made = dataclasses.make_dataclass("Record", fields)
    return Typed(made, st.builds(made, *(member.values for member in members)), "object")


def _model(members: list[Typed]) -> Typed:
    """Make a model, of what a model writes as it reads it: its own configuration says how, not ours."""
    plain = [member for member in members if not _holds_bytes(member.annotation)] or [LEAVES[0]]
    fields: dict[str, Any] = {name: (member.annotation, ...) for name, member in zip(_names(plain), plain, strict=True)}
    made = create_model("Model", **fields)
    values = {name: member.values for name, member in zip(_names(plain), plain, strict=True)}
    return Typed(made, st.builds(made, **values), "object")


def _holds_bytes(annotation: Any) -> bool:
    typed_dicts.adopt(annotation)
    return "'bytes'" in str(TypeAdapter(annotation).core_schema)


def _named_tuple(members: list[Typed]) -> Typed:
    fields = [(name, member.annotation) for name, member in zip(_names(members), members, strict=True)]
    made = NamedTuple("Pair", fields)  # type: ignore[misc]  # made at run time
    return Typed(made, st.builds(made, *(member.values for member in members)), "array")
