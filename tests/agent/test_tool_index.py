"""The index over tools is counted once for the same tools, and anew for others."""

from __future__ import annotations

from dataclasses import replace

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


def test_an_index_of_tools_that_are_gone_is_never_taken_for_one_of_new_tools() -> None:
    for number in range(100):
        tool = ToolDefinition("count", "Counts.", {"number": number})
        assert index_of([tool]).rank("count")[0].tool is tool
