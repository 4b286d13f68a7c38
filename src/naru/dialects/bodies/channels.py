"""Replies made of messages with headers (gpt-oss, Muse, Beam) or of nested elements (Kimi K3).

A header says what the text after it is; a call is a message to a tool.
"""

from __future__ import annotations

from naru.dialects.bodies.arguments import read_any_arguments
from naru.dialects.bodies.tagged import read_tagged
from naru.dialects.bodies.tags.call_tags import Tags
from naru.dialects.bodies.tags.xml_parameters import read_parameters, read_xml
from naru.dialects.calls.writer import CallWriter
from naru.dialects.dialect import Dialect
from naru.dialects.scanner import Body
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Incomplete, NotACall, Reading, Source, literal_at, skip_space, space_end, until
from naru.dialects.texts.tokens import Tokens

_HEADER_END = lazy_pattern(r"<\|(?:message|end|return)\|>")
_RECIPIENT = lazy_pattern(r"to=([^\s<]+)")
_CHANNEL = lazy_pattern(r"<\|channel\|>\s*(\w*)")
_PLAIN_HEADER = lazy_pattern(
    r"(?:<\|start\|>)?(?:assistant)?\s*(?:to=[\w.\-]+\s*)?"
    r"(?:<\|channel\|>\s*(?:analysis|commentary|final)\s*){0,4}(?:to=[\w.\-]+\s*)?(?:<\|constrain\|>)?\s*(?:json|code|xml)?\s*"
)
"""A header that says no more than what the text after it is, and to whom."""
_ENDS = ("<|end|>", "<|return|>", "<|eom|>", "<|eot|>")
_CALL_ENDS = ("<|call|>", *_ENDS)
_AFTER_CALL = Tokens((*_CALL_ENDS, "<|start|>"))
_NEXT = ("<|start|>assistant",)
_LONGEST_HEADER = 400
_PERSONS = ("self", "assistant", "user")
_BUILT_IN = lazy_pattern(r"(?:python|browser|container|computer|web|image_gen|developer)\b")

_BEAM = Tags(
    ("<rfl:parameter",),
    lazy_pattern(r"<rfl:(?P<tag>parameter)\s+name=\"(?P<key>[^\"]*)\"(?P<rest>[^<>]*)>"),
    "</rfl:{}>",
    _CALL_ENDS,
)
_ATEM = Dialect("atem", ("<atem:function_calls>",), closers=("</atem:function_calls>",))
_TOOLS = ("<|open|>tools<|sep|>",)
_CHANNELS = ("message", "think", "response")
_ELEMENT = lazy_pattern(r"<\|(open|close)\|>(\w+)([^<>]*)<\|sep\|>")


def read_header(source: Source, writer: CallWriter) -> Reading[Body | None]:
    """Read the header at `pos`, and the call when it is addressed to an offered tool.

    Returns:
        What the text after the header is; None when there is none.

    Raises:
        NotACall: It is no header, or is addressed to a function that was not offered.
    """
    end = yield from until(source, _HEADER_END, _LONGEST_HEADER)
    header = source.text[source.pos : end.start()]
    recipients = _RECIPIENT.findall(header)  # the last of several: a header that is begun anew was meant otherwise
    to = recipients[-1] if recipients else ""
    says_more = not _PLAIN_HEADER.fullmatch(header)
    if end[0] != "<|message|>":
        source.pos = end.end()
        if says_more:
            writer.leave_out(header)
        return None
    name = to.removeprefix("functions.")
    if to and writer.offered.find(name):
        source.pos = end.end()
        if says_more:
            writer.leave_out(header)
        yield from _read_call(source, writer, name)
        return None
    if to.startswith("functions."):
        raise NotACall
    source.pos = end.end()
    if says_more or to not in ("", *_PERSONS):
        writer.leave_out(header)
    if to == "self":
        return Body("reasoning", _ENDS, _NEXT)
    if to and _BUILT_IN.match(to):
        return Body("dropped", _CALL_ENDS, _NEXT)
    channels = _CHANNEL.findall(header)
    kind = "reasoning" if channels and channels[-1] == "analysis" else "content"
    return Body("reasoning" if kind == "reasoning" else "content", _ENDS, _NEXT)


def _read_call(source: Source, writer: CallWriter, name: str) -> Reading[None]:
    first = yield from skip_space(source)
    if not first:
        raise Incomplete
    if first == "<":
        if (yield from literal_at(source, _ATEM.openers)):
            yield from read_tagged(source, writer, _ATEM, _ATEM.openers[0])
        else:
            writer.start(name)
            yield from read_parameters(source, writer, _BEAM)
            writer.end(source.offset)
            return
    else:
        writer.start(name)
        if not (yield from read_any_arguments(source, writer, first)):
            raise NotACall
        offset = yield from space_end(source)
        if source.pos + offset < len(source.text) and not (yield from literal_at(source, _AFTER_CALL, offset)):
            raise NotACall
        writer.end(source.offset)
    offset = yield from space_end(source)
    source.pos += offset
    found = yield from literal_at(source, _CALL_ENDS)
    source.pos += len(found)
    writer.extend(source.offset)


def read_element(source: Source, writer: CallWriter) -> Reading[Body | None]:
    """Read Kimi K3's element tag at `pos`, and the calls inside when it opens them.

    Returns:
        What the text after the tag is; None when the tag says nothing.
    """
    tag = yield from until(source, _ELEMENT, _LONGEST_HEADER)
    if tag.start() != source.pos:
        raise NotACall
    name = tag[2]
    if tag[1] == "open" and name in ("call", "toolscall"):  # with or without the tokens between the two
        yield from read_xml(source, writer)
        return None
    source.pos = tag.end()
    if tag[1] == "open" and name == "tools":
        yield from _read_tools(source, writer)
        return None
    if name not in _CHANNELS or tag[3].strip():
        writer.leave_out(tag[0])
    if tag[1] == "close" or name == "message":
        return None
    if name == "think":
        return Body("reasoning", ("<|close|>think<|sep|>",))
    closers = (f"<|close|>{name}<|sep|>",)
    if name == "response":
        return Body("content", closers, _TOOLS)
    return Body("content", (), (*closers, *_TOOLS))  # whose closing tag is left out by name as well


def _read_tools(source: Source, writer: CallWriter) -> Reading[None]:
    before = len(writer.calls)
    while True:
        offset = yield from space_end(source)
        if source.pos + offset >= len(source.text):
            if len(writer.calls) > before:
                return
            raise Incomplete
        found = yield from literal_at(source, ("<|open|>call", "<|close|>tools<|sep|>"), offset)
        if not found:
            if len(writer.calls) > before:
                return
            raise NotACall
        source.pos += offset
        if found.startswith("<|close|>"):
            source.pos += len(found)
            writer.extend(source.offset)
            return
        yield from read_xml(source, writer)
