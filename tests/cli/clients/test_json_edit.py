"""One value is changed in a JSON text; everything else stays character for character."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naru.cli.clients.json_edit import position_of, put
from naru.stores.formats import tolerant_json

ENTRY = {"url": "http://h/mcp"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "naru": {\n      "url": "http://h/mcp"\n    }\n  }\n}\n'),
        (
            '{\n\t// mine\n\t"theme": "dark", // keep\n\t"mcpServers": {\n\t\t"a": {"command": "x"}, /* b */\n'
            "\t},\n}\n",
            '{\n\t// mine\n\t"theme": "dark", // keep\n\t"mcpServers": {\n\t\t"a": {"command": "x"}, /* b */\n'
            '\t\t"naru": {\n\t\t\t"url": "http://h/mcp"\n\t\t}\n\t},\n}\n',
        ),
        (
            '{\n  "mcpServers": {\n    "a": {} // mine\n  }\n}\n',
            '{\n  "mcpServers": {\n    "a": {}, // mine\n    "naru": {\n      "url": "http://h/mcp"\n    }\n  }\n}\n',
        ),
        (
            '{"mcpServers": {"naru": {"url": "old"}, "z": 1}}',
            '{"mcpServers": {"naru": {\n  "url": "http://h/mcp"\n}, "z": 1}}',
        ),
        ('{"a": 1}', '{"a": 1,\n  "mcpServers": {\n    "naru": {\n      "url": "http://h/mcp"\n    }\n  }\n}'),
        (
            '{\n    "mcpServers": {}\n}',
            '{\n    "mcpServers": {\n        "naru": {\n            "url": "http://h/mcp"\n        }\n    }\n}',
        ),
    ],
    ids=[
        "empty",
        "comments and trailing commas",
        "a comment behind the last",
        "replaced",
        "on one line",
        "empty object",
    ],
)
def test_an_entry_is_put_into_a_file(before: str, after: str) -> None:
    assert put(before, ("mcpServers", "naru"), ENTRY) == after


@pytest.mark.parametrize("broken", ["[1]", '{"mcpServers": []}', '{"mcpServers": ', "nonsense"])
def test_a_file_that_holds_something_else_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        put(broken, ("mcpServers", "naru"), ENTRY)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=6), JSON, max_size=4),
    st.lists(st.text(max_size=6), min_size=1, max_size=3),
    JSON,
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_the_rest_of_any_file_is_as_it_was(data: dict, path: list[str], value: object, indent) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    on_the_way: object = data
    for key in path[:-1]:
        on_the_way = on_the_way.get(key, {}) if isinstance(on_the_way, dict) else on_the_way
    if not isinstance(on_the_way, dict):
        with pytest.raises(ValueError, match="is no object"):
            put(text, path, value)
        return
    changed = put(text, path, value)
    found, wanted = tolerant_json.loads(changed), data
    for key in path[:-1]:
        assert {k: v for k, v in found.items() if k != key} == {k: v for k, v in wanted.items() if k != key}
        found, wanted = found[key], wanted.get(key, {})
    assert found == {**wanted, path[-1]: value}


def test_the_place_of_a_key_is_found_past_comments() -> None:
    text = '// head\n{\n  "servers": {\n    /* "a": no */\n    "a": {"url": "x"}\n  }\n}'
    at = position_of(text, ("servers", "a"))
    assert at is not None
    assert text.count("\n", 0, at) + 1 == 5
