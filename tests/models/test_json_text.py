"""What orjson refuses is sent all the same; what nobody can read is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from naru.errors import UserError
from naru.models.transport.json_text import encode, mended


@pytest.mark.parametrize("value", [{"a": "나루"}, 2**70, "\ud800", {"\udfff": [-(2**64), "가"]}, 1.5, None])
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert json.loads(encode(value)) == value


def test_a_bottomless_value_is_the_users_error() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(UserError, match="nested too deeply"):
        encode(value)


def test_lone_surrogates_become_the_replacement_character_wherever_they_stand() -> None:
    assert mended({"a\ud800": ["\udfffb", "🙂", 1, None]}) == {"a\ufffd": ["\ufffdb", "🙂", 1, None]}
