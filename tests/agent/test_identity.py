"""What is remembered of objects that are the same ones."""

from __future__ import annotations

from dataclasses import replace

from naru.agent.identity import ByIdentity
from naru.agent.selection import index_of
from naru.messages import ToolDefinition

TOOLS = [ToolDefinition(name, f"Tell the {name}.", {"type": "object", "properties": {}}) for name in ("time", "date")]


def test_an_index_is_counted_once_for_the_same_tools_in_new_definitions() -> None:
    again = [replace(tool) for tool in TOOLS]
    assert index_of(again) is index_of(TOOLS)


def test_another_list_description_schema_or_annotation_is_counted_anew() -> None:
    first = index_of(TOOLS)
    assert index_of(TOOLS[:1]) is not first
    assert index_of([replace(TOOLS[0], description="Tell the hour."), TOOLS[1]]) is not first
    assert index_of([replace(TOOLS[0], input_schema={"type": "object"}), TOOLS[1]]) is not first
    assert index_of([replace(TOOLS[0], annotations={"readOnlyHint": True}), TOOLS[1]]) is not first


def test_a_memo_never_takes_a_new_object_for_one_that_is_gone() -> None:
    memo: ByIdentity[int] = ByIdentity(2)
    for number in range(100):
        value = {"number": number}
        assert memo.get((value,), lambda value=value: value["number"]) == number
