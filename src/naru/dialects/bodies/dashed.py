"""Calls as MiniMax writes them as text: `{tool => "N", args => {`, and `--key "value"` for each argument."""

from __future__ import annotations

from naru.dialects.bodies.arguments import inside_of_string, value_of
from naru.dialects.bodies.values import capture
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.literal import unescape
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Incomplete, NotACall, Reading, Source, match_at, rest_of_line, skip_space

BEGINNINGS = ("{tool =>", "{ tool =>", "{tool=>")
_HEAD = lazy_pattern(r"\{ ?tool ?=> ?\"([^\"\n]{1,100})\"\s{0,8},\s{0,8}args\s{0,8}=>\s{0,8}\{")
_KEY = lazy_pattern(r"--([\w.\-]{1,64})[ \t]{1,8}")


def read_dashed(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the call whose bracket stands at `pos`."""
    head = yield from match_at(source, _HEAD, 300)
    writer.start(head[1])
    source.pos = head.end()
    while (first := (yield from skip_space(source))) != "}":
        if first == ",":
            source.pos += 1
            continue
        key = yield from match_at(source, _KEY, 100)
        writer.key(key[1])
        source.pos = key.end()
        first = source.text[source.pos : source.pos + 1]
        if first == '"':
            writer.value(unescape((yield from inside_of_string(source))))
        elif first and first in "{[":
            writer.value(value_of((yield from capture(source))))
        else:
            writer.written((yield from rest_of_line(source)))
    for _ in "}}":
        if (first := (yield from skip_space(source))) != "}":
            raise NotACall if first else Incomplete
        source.pos += 1
    writer.end(source.offset)
