"""One serialiser for everything that JSON can tell, an error for what it cannot."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
import sqlite3
from collections import OrderedDict, deque
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy
import orjson
import pytest
from pydantic import BaseModel

from naru.tools.serialise import UnserialisableError, to_json_text, to_jsonable


class Colour(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


class Model(BaseModel):
    when: datetime.date
    colour: Colour = Colour.RED


@dataclasses.dataclass
class Record:
    model: Model
    tags: set[str]


DAY = datetime.date(2024, 1, 2)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"n": math.nan, "i": math.inf}, {"n": None, "i": None}),
        (datetime.timedelta(hours=1, minutes=30), "PT1H30M"),
        (datetime.time(3, 4), "03:04:00"),
        (Record(Model(when=DAY), {"a"}), {"model": {"when": "2024-01-02", "colour": "red"}, "tags": ["a"]}),
        (Point(1, 2), [1, 2]),
        ({DAY: {Colour.RED: PurePosixPath("/a")}}, {"2024-01-02": {"red": "/a"}}),
        (deque([1, (2, frozenset({3}))]), [1, [2, [3]]]),
        (OrderedDict(a=1), {"a": 1}),
        ((item for item in (1, 2)), [1, 2]),
        (numpy.array([[1, 2]]), [[1, 2]]),
        (numpy.float64(0.5), 0.5),
        (10**30, 10**30),
        (b"\x00\xff", "AP8="),
        (None, None),
    ],
)
def test_a_value_has_its_json_form(value, plain):
    assert to_jsonable(value) == plain


def test_a_database_row_is_an_object():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    assert to_jsonable(connection.execute("SELECT 1 AS a, 'x' AS b").fetchall()) == [{"a": 1, "b": "x"}]
    connection.close()


@pytest.mark.parametrize("value", [object(), {"deep": [object()]}, {1: object()}, lambda: 1, open])
def test_what_json_cannot_tell_is_an_error_and_never_a_repr(value):
    with pytest.raises(UnserialisableError) as raised:
        to_jsonable(value)
    assert "0x" not in str(raised.value)


def test_a_number_with_more_digits_than_python_writes_is_an_error():
    with pytest.raises(UnserialisableError, match="4300 digits"):
        to_jsonable([10**5000])


def test_a_value_that_contains_itself_is_an_error():
    loop: list = []
    loop.append(loop)
    with pytest.raises(UnserialisableError):
        to_jsonable(loop)


@pytest.mark.parametrize("value", [{"a": 10**30}, {"한": "글"}, [1.5, None, True]])
def test_the_text_is_valid_json_of_the_same_value(value):
    assert json.loads(to_json_text(value)) == value


def test_text_is_compact_and_keeps_every_script():
    assert to_json_text({"이름": "김민준"}) == '{"이름":"김민준"}'


def test_a_models_bytes_that_are_no_text_are_told_as_base64():
    class Blob(BaseModel):
        data: bytes

    assert to_jsonable([Blob(data=b"\xff")]) == [{"data": "_w=="}]
    assert to_jsonable(Blob(data=b"text")) == {"data": "text"}


class Reading(BaseModel):
    value: float = math.nan


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("a\ud800b", "a\ufffdb"),
        ({"name": "\udc80", "\udc80": {"x": ["\ud800"]}}, {"name": "\ufffd", "\ufffd": {"x": ["\ufffd"]}}),
        ([Reading(), Reading(value=2.5)], [{"value": None}, {"value": 2.5}]),
        (range(3), [0, 1, 2]),
        ({"a": 1}.keys(), ["a"]),
        ({"a": 1}.values(), [1]),
        (memoryview(b"ab"), "YWI="),
    ],
    ids=["half of a character", "in names too", "a model's NaN", "range", "keys", "values", "memory"],
)
def test_a_strange_value_has_a_form_that_every_reader_takes(value, plain):
    assert to_jsonable(value) == plain
    assert orjson.loads(to_json_text(value)) == plain


def test_a_class_is_refused_by_name():
    with pytest.raises(UnserialisableError, match="type has no JSON form"):
        to_jsonable({"kind": dict})
