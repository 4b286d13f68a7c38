"""One tolerant reader for written values."""

import pytest

from naru.dialects.texts.literal import parse_literal


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('{"a": [1, 2.5, -3e2, true, null]}', {"a": [1, 2.5, -300.0, True, None]}),
        ("{'a': True, 'b': None, 'c': (1, 'x')}", {"a": True, "b": None, "c": [1, "x"]}),
        ("{a: 1, b-c: 'x',}", {"a": 1, "b-c": "x"}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"a": "x,}y", }', {"a": "x,}y"}),
        ('{"a": "say "hi" now"}', {"a": 'say "hi" now'}),
        ("['it's', \"x\"]", ["it's", "x"]),
        ('{"a": 1 /* note */, "b": 2}', {"a": 1, "b": 2}),
        ('"""a "quoted" b"""', 'a "quoted" b'),
        ("1_000", 1000),
        ("0x10", 16),
        ("celsius", "celsius"),
        ("{\\n'a': 5\\n,\\n'b': true\\n\\t, 'c': [null\\n]\\n}", {"a": 5, "b": True, "c": [None]}),
        ("{'a': 5  # five, or so\n, 'b': [1, # one\n 2 // two\n]}", {"a": 5, "b": [1, 2]}),
        ("{a: fix #5, b: '#'}", {"a": "fix #5", "b": "#"}),
        ("1e999", "1e999"),
        ("{'a':: 5, b: : [1]}", {"a": 5, "b": [1]}),
    ],
)
def test_a_misspelt_value_has_its_evident_reading(written, value):
    assert parse_literal(written) == value


@pytest.mark.parametrize("written", ['{"a": 1', '["a"', '{"a": "b', "f(1)", "", "{1 2}", "[" * 500])
def test_what_has_no_end_or_is_no_value_is_refused(written):
    with pytest.raises(ValueError):
        parse_literal(written)


def test_gemma_delimits_text_its_own_way():
    assert parse_literal('{k:<|"|>a "b", c<|"|>,n:[1,<|"|>x<|"|>]}', '<|"|>') == {"k": 'a "b", c', "n": [1, "x"]}
