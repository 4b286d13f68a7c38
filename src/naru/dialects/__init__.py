"""Text ⇄ tool calls: the universal adapter's reader and writers.

A library of its own: standard library only, no I/O, no clock, no logging. Readers turn text of any dialect
into events (`events.py`); writers turn events into the form that a client or a model understands.

`StreamParser` says where text, reasoning and calls are; `reading/` is its course through a reply; `catalog/` holds
the dialects as rows; `bodies/` the readers of their notations, over the `texts/` that arrive; `judging/` tells calls
that are only shown; `calls/` makes the events; `writers/` the other way. `repair`s are reported, never silent.
"""

from naru.dialects.events import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    Event,
    Parsed,
    ParsedCall,
    Reasoning,
    Repair,
    Span,
    Text,
)
from naru.dialects.stream_parser import StreamParser, parse
from naru.dialects.tool import Tool, tools_from_openai

__all__ = [
    "ArgumentsDelta",
    "CallEnd",
    "CallStart",
    "Event",
    "Parsed",
    "ParsedCall",
    "Reasoning",
    "Repair",
    "Span",
    "StreamParser",
    "Text",
    "Tool",
    "parse",
    "tools_from_openai",
]
