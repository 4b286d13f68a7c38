"""Results in JSON as lines: each says by itself what it is of, and lists say how many rows they have."""

from __future__ import annotations

import json

import pytest

from naru.tools.lines import readable


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"licencePlate": "KX 4", "has_tyres": True}, ["licence Plate: KX 4", "has tyres: yes"]),
        (
            {"level": {"now_cm": 312, "alarm_cm": 450}, "at": None},
            ["level now cm: 312", "level alarm cm: 450", "at: (none)"],
        ),
        ([{"a": 1, "b": ""}, {"a": {"c": 2}}], ["- a: 1", "- a c: 2", "(2 rows)"]),
        ({"stop": "S-22", "rows": [{"a": 1}, {"a": 2}]}, ["stop: S-22", "rows:", "  - a: 1", "  - a: 2", "  (2 rows)"]),
        ([{"a": 1}], ["a: 1"]),
        (["x", "y"], ["- x", "- y"]),
        ({"a": []}, ["a: (none)"]),
    ],
)
def test_json_as_lines(value: object, lines: list[str]) -> None:
    assert readable(json.dumps(value)).splitlines() == lines


def test_json_after_json_is_a_list_and_other_text_stays() -> None:
    assert readable('{"a": 1}\n{"a": 2}') == "- a: 1\n- a: 2\n(2 rows)"
    assert readable("[sic] no JSON") == "[sic] no JSON"
