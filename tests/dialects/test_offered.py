"""Tools are found by the names that models write; nothing else is ever found."""

import pytest

from naru.dialects import Tool
from naru.dialects.calls.offered import Offered

OFFERED = Offered([Tool("get_weather"), Tool("math.factorial"), Tool("a-b"), Tool("a_b")])


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("get_weather", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("functions.get_weather:0", "get_weather"),
        ("default_api.get_weather", "get_weather"),
        ("get\\_weather", "get_weather"),
        (" get_weather ", "get_weather"),
        ("math_factorial", "math.factorial"),
        ("get-weather", "get_weather"),
        ("a-b", "a-b"),
        ("GET_WEATHER", "get_weather"),
        ("Weather/get_weather", "get_weather"),
        ("functions.get_weather!16", "get_weather"),
    ],
)
def test_a_written_name_finds_its_tool(written, name):
    tool = OFFERED.find(written)
    assert tool is not None
    assert tool.name == name


@pytest.mark.parametrize("written", ["", "weather", "get_weathers", "get_weather/x", "a.b", None, 3, "functions."])
def test_another_name_finds_none(written):
    assert OFFERED.find(written) is None
