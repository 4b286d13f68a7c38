"""Arguments between lines that begin and end them, as Continue asks for: `TOOL_NAME: f`, `BEGIN_ARG: k` … `END_ARG`."""

from __future__ import annotations

from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Incomplete, Reading, Source, literal_at, match_at, space_end

NAME = "TOOL_NAME:"
BEGIN = "BEGIN_ARG:"
_NAME_LINE = lazy_pattern(rf"{NAME}[ \t]{{0,4}}([\w.\-]{{1,100}})(?=\s|`)")
_BEGIN_LINE = lazy_pattern(rf"{BEGIN}[ \t]{{0,4}}([\w.\-]{{1,64}})[ \t]{{0,4}}\r?(?=\n)")
_END = "\nEND_ARG"


def read_named_block(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the line that names the tool, and the arguments, in a code fence."""
    name = yield from match_at(source, _NAME_LINE, 200)
    writer.start(name[1])
    source.pos = name.end()
    yield from read_begun_arguments(source, writer, in_fence=True)
    writer.end(source.offset)


def read_begun_arguments(source: Source, writer: CallWriter, *, in_fence: bool = False) -> Reading[None]:
    """Read the arguments of the call that was started, as long as lines begin some."""
    while True:
        offset = yield from space_end(source)
        if not (yield from literal_at(source, (BEGIN,), offset)):
            return
        source.pos += offset
        head = yield from match_at(source, _BEGIN_LINE, 200)
        writer.key(head[1])
        source.pos = head.end()
        value = yield from _value(source, in_fence=in_fence)
        if BEGIN in value or _END[1:] in value:
            writer.is_torn = True
        writer.written(value)


def _value(source: Source, *, in_fence: bool) -> Reading[str]:
    """Read on to the line that ends an argument; in a fence another argument comes after it, or the fence's end."""
    parts: list[str] = []
    while True:
        end = source.text.find(_END, source.pos)
        if end < 0:
            safe = max(source.pos, len(source.text) - len(_END) + 1)
            parts.append(source.text[source.pos : safe])
            source.pos = safe
            if source.final:
                raise Incomplete
            yield
            continue
        parts.append(source.text[source.pos : end])
        source.pos = end
        offset = yield from space_end(source, len(_END))
        ended = not in_fence or source.pos + offset >= len(source.text)
        ended = ended or bool((yield from literal_at(source, (BEGIN, "```"), offset)))
        source.pos += len(_END)
        if ended:
            return "".join(parts)[1:].removesuffix("\r")
        parts.append(_END)
