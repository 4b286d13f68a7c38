"""Calls as XML-like tags: a tag names the tool, tags inside it name the arguments.

One reader for `<function=N><parameter=K>`, `<invoke name="N"><parameter name="K">` with any vendor's prefix,
`<function name><param name>`, children named after the arguments, and Kimi K3's `<|open|>call ...<|sep|>`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.bodies.arguments import object_in, read_any_arguments, read_arguments
from naru.dialects.bodies.elements import elements_reader
from naru.dialects.bodies.endings import Ending
from naru.dialects.bodies.json_calls import read_json
from naru.dialects.bodies.tagged_values import read_tagged_text
from naru.dialects.calls.keys import role_of
from naru.dialects.calls.offered import properties_of, required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    match_here,
    skip_space,
    space_end,
    until,
)
from naru.dialects.texts.tokens import Tokens

_VENDOR = r"(?:[｜|]{1,2}\w+[｜|]{1,2}\s?|\w+:|\w+\|)?"
_MINIMAX = "]<]minimax[>["
_HEAD_TEXT = (
    rf"(?P<lead>{re.escape(_MINIMAX)})?<(?P<vendor>{_VENDOR})(?P<tag>function_call|function|invoke|tool_call|tool_use|tool|call)"
    r"(?:\s*=\s*|\s+(?:name|tool)\s*=\s*)(?P<quote>[\"']?)(?P<name>[^\"'<>{\n]+?)(?P=quote)(?P<rest>\s(?!\s*\{)[^<>]*?)?(?P<end>/?)>"
)
_HEAD = lazy_pattern(_HEAD_TEXT)
_RUN_TOGETHER = lazy_pattern(r"<function[=(/\s]\s*(?P<name>[\w.\-]{1,100})\)?>?\s*(?=\{)")
_ENDS_RUN_TOGETHER = ("></function>", "</function>", "<function>", "<function/>", ">")
_ANY_HEAD = lazy_pattern(rf"(?:{_HEAD_TEXT})|(?P<together><function[=(/\s]\s*[\w.\-]{{1,100}}\)?>?\s*\{{)")
_UNNAMED_HEAD = lazy_pattern(
    rf"<(?P<vendor>{_VENDOR})(?P<tag>invoke|tool_use)>\s*<tool_name>\s*(?P<name>[^<>\n]+?)\s*</tool_name>"
)
NAME_TAGS = ("<name>", "<tool_name>", "<function_name>")
_NAME_ELEMENT = lazy_pattern(r"<(?P<tag>name|tool_name|function_name)>\s*(?P<name>[^<>\n]+?)\s*</(?P=tag)>")
_XTML_HEAD = lazy_pattern(r"<\|open\|>call\b(?P<rest>[^<>]*)<\|sep\|>")
_EITHER_QUOTED = lazy_pattern(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ID_ATTRIBUTES = ("id", "call_id", "type")
_ATTRIBUTE = lazy_pattern(r"(\w+)\s*=\s*\"([^\"]*)\"")
_ENTITIES = (("&quot;", '"'), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_ATTRIBUTES_ONLY = lazy_pattern(
    r"<(?P<name>[\w.\-]+)(?P<rest>(?:\s+[\w\-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))+)\s*(?:/>|>\s*</(?P=name)>)"
)
_LONGEST_TAG = 400
_SECTIONS = ("tool_call>", "tool_calls>", "function_calls>")
"""What stands around calls, by its tags without the vendor's prefix."""


class Tags:
    """The tags of one call.

    Args:
        parameter: how an argument's opening tag begins; empty when the arguments' own names are the tags.
        head: an argument's whole opening tag, with groups `key` and `rest`, and `tag` where it may differ.
        value_end: the closing tag of an argument, with `{}` for what `tag` matched.
        call_end: the closing tags of the call.
        trim: whether line breaks around a value are layout.
        child: the beginning of an argument's tag where the arguments' own names are the tags.
        calls: what the opening tag of another such call begins with.
    """

    __slots__ = ("call_end", "calls", "child", "ends", "head", "next", "parameter", "plain", "trim", "value_end")

    def __init__(  # noqa: PLR0913 - keywords
        self,
        parameter: tuple[str, ...],
        head: re.Pattern[str],
        value_end: str,
        call_end: tuple[str, ...],
        *,
        trim: bool = True,
        child: str = "",
        calls: tuple[str, ...] = (),
    ) -> None:
        self.parameter = parameter
        self.head = head
        self.value_end = value_end
        self.call_end = call_end
        self.next = Tokens((*call_end, *parameter))
        self.trim = trim
        self.child = child
        self.plain = bool(parameter) and parameter[0][1:2].isalpha()
        """Whether the arguments' own names may stand for the argument's tag (MiniMax M3 without its special tokens)."""
        self.calls = calls
        self.ends = (*call_end, "</tool_call>") if call_end[0] == "</function>" else call_end
        """What ends the call where its own closing tag is missing, that tag included."""


def _unescaped(attribute: str) -> str:
    """Decode the five entities of XML; `html.unescape` would cost more to import than the rest of this file."""
    if "&" in attribute:
        for entity, character in _ENTITIES:
            attribute = attribute.replace(entity, character)
    return attribute


@lru_cache(maxsize=256)
def _tags(lead: str, vendor: str, tag: str, name: str) -> Tags:
    start = re.escape(f"{lead}<{vendor}")
    if lead:
        head = lazy_pattern(start + r"(?P<tag>(?P<key>[\w.\-]+))(?P<rest>)>")
        return Tags(
            (),
            head,
            f"{lead}</{{}}>",
            (f"{lead}</{tag}>",),
            child=f"{lead}<",
            calls=(f"{lead}<{tag}", f"{lead}<tool_call>"),
        )
    head = lazy_pattern(
        start + r"(?P<tag>parameter|param|arg)(?:\s*=\s*|\s+(?:name|key)\s*=\s*)"
        r"(?P<quote>[\"']?)(?P<key>[^\"'<>\n]+?)(?P=quote)(?P<rest>\s[^<>]*)?"
        rf"(?:>|=(?P<value>[^<>\n]*)(?=</{re.escape(vendor)}(?P=tag)>))"
    )
    opens = (f"<{vendor}param", f"<{vendor}arg")
    ends = (f"</{vendor}{tag}>", f"</{vendor}{tag}={name}>")
    sections = tuple(f"<{vendor}{name}" for name in _SECTIONS) if vendor or tag != "invoke" else ("<function_calls>",)
    plain = "｜" not in vendor and "|" not in vendor
    return Tags(
        opens,
        head,
        f"</{vendor}{{}}>",
        ends,
        trim=plain,
        calls=(f"<{vendor}{tag}", *sections),
    )


_XTML = Tags(
    ("<|open|>argument",),
    lazy_pattern(r"<\|open\|>argument\b\s*key=\"(?P<key>[^\"]*)\"(?P<rest>[^<>]*)<\|sep\|>"),
    "<|close|>argument<|sep|>",
    ("<|close|>call<|sep|>",),
    trim=False,
)


def child_tags(name: str) -> Tags:
    """Return the tags of a call whose arguments are children named after them, inside a tag named `name`."""
    return _children_in((f"</{name}>",))


@lru_cache(maxsize=64)
def _children_in(call_end: tuple[str, ...]) -> Tags:
    head = lazy_pattern(r"<(?P<tag>(?P<key>[\w.\-]+))(?P<rest>)>")
    return Tags((), head, "</{}>", call_end, child="<", calls=(f"<{call_end[0][2:]}",))


def read_xml(source: Source, writer: CallWriter) -> Reading[None]:
    """Read the call whose tag stands at `pos`."""
    head = match_here(source, _HEAD, _LONGEST_TAG)
    if head is None:
        other = yield from literal_at(source, ("<invoke>", "<tool_use>", "<|open|>"))
        if other == "<|open|>":
            yield from _read_xtml(source, writer)
            return
        if other:
            yield from _read_unnamed(source, writer, other)
            return
        head = yield from until(source, _ANY_HEAD, _LONGEST_TAG)
        if head["together"] is not None:
            yield from _read_run_together(source, writer)
            return
        head = yield from until(source, _HEAD, _LONGEST_TAG)
        if head.start() != source.pos:
            raise NotACall
    writer.start(_unescaped(head["name"]))
    source.pos = head.end()
    if not head["end"]:
        tags = _tags(head["lead"] or "", head["vendor"], head["tag"], head["name"])
        yield from read_parameters(source, writer, tags)
    elif head["rest"]:
        _write_attributes(writer, head["rest"])
    writer.end(source.offset)


def _write_attributes(writer: CallWriter, rest: str) -> None:
    """Write what a tag without content says of the arguments: all of them as JSON, or one attribute each."""
    found = {key: _unescaped(double or single) for key, double, single in _EITHER_QUOTED.findall(rest)}
    if _EITHER_QUOTED.sub("", rest).strip():
        raise NotACall
    for key, value in found.items():
        if role_of(key) == "arguments" and writer.tool is not None and key not in writer.tool.properties:
            writer.whole(object_in(value))
        elif _is_declared(writer, key):
            writer.key(key)
            writer.written(value)
        elif key not in _ID_ATTRIBUTES:
            raise NotACall


def read_attributes(source: Source, writer: CallWriter) -> Reading[None]:
    """Read `<tool argument="value"/>`, a client's tag without content, closed by itself or right away."""
    tag = yield from until(source, _ATTRIBUTES_ONLY, _LONGEST_TAG)
    if tag.start() != source.pos:
        raise NotACall
    writer.start(tag["name"])
    source.pos = tag.end()
    _write_attributes(writer, tag["rest"])
    writer.end(source.offset)


def _read_run_together(source: Source, writer: CallWriter) -> Reading[None]:
    """Read `<function=name{…}</function>` and its kin, which small Llama models write."""
    head = yield from until(source, _RUN_TOGETHER, _LONGEST_TAG)
    if head.start() != source.pos:
        raise NotACall
    writer.start(head["name"])
    source.pos = head.end()
    yield from read_arguments(source, writer)
    offset = yield from space_end(source)
    found = yield from literal_at(source, _ENDS_RUN_TOGETHER, offset)
    if not found:
        raise NotACall
    source.pos += offset + len(found)
    writer.repair("missing-tag", head[0], f"<function={head['name']}>")
    writer.end(source.offset)


def _read_xtml(source: Source, writer: CallWriter) -> Reading[None]:
    """Read Kimi K3's `<|open|>call tool="N"<|sep|>` with its arguments."""
    head = yield from until(source, _XTML_HEAD, _LONGEST_TAG)
    if head.start() != source.pos:
        raise NotACall
    writer.start(_unescaped(dict(_ATTRIBUTE.findall(head["rest"])).get("tool", "")))
    source.pos = head.end()
    yield from read_parameters(source, writer, _XTML)
    writer.end(source.offset)


def _read_unnamed(source: Source, writer: CallWriter, tag: str) -> Reading[None]:
    """Read `<invoke><tool_name>N</tool_name><parameters><k>v</k></parameters></invoke>`, Claude 2's form, or JSON."""
    offset = yield from space_end(source, len(tag))
    if source.text.startswith("{", source.pos + offset):
        source.pos += offset
        closer = "</" + tag[1:]
        yield from read_json(source, writer, marked=True, closers=(closer,))
        yield from skip_space(source)
        found = yield from literal_at(source, (closer,))
        source.pos += len(found)
        writer.extend(source.offset)
        return
    head = yield from until(source, _UNNAMED_HEAD, _LONGEST_TAG)
    if head.start() != source.pos:
        raise NotACall
    writer.start(head["name"])
    source.pos = head.end()
    yield from skip_space(source)
    wrapped = yield from literal_at(source, ("<parameters>", "<arguments>", "<input>"))
    source.pos += len(wrapped)
    if wrapped:
        yield from read_parameters(source, writer, child_tags(wrapped[1:-1]))
        yield from skip_space(source)
    end = yield from literal_at(source, (f"</{head['tag']}>",))
    if not end:
        raise NotACall if source.pos < len(source.text) else Incomplete
    source.pos += len(end)
    writer.end(source.offset)


def read_named_elements(source: Source, writer: CallWriter) -> Reading[None]:
    """Read `<name>N</name>` and the arguments' element after it, which holds JSON or children named after them."""
    head = yield from until(source, _NAME_ELEMENT, _LONGEST_TAG)
    if head.start() != source.pos:
        raise NotACall
    tool = writer.start(head["name"])
    source.pos = head.end()
    first = yield from skip_space(source)
    if not first:
        raise Incomplete
    wrapped = yield from literal_at(source, ("<parameters>", "<arguments>", "<input>", "<args>"))
    source.pos += len(wrapped)
    if wrapped and (yield from skip_space(source)) == "{":
        yield from read_arguments(source, writer)
        yield from skip_space(source)
        closer = yield from literal_at(source, (f"</{wrapped[1:]}",))
        source.pos += len(closer)
    elif wrapped:
        yield from read_parameters(source, writer, child_tags(wrapped[1:-1]))
    elif required_of(tool):
        raise NotACall
    writer.end(source.offset)


def read_parameters(source: Source, writer: CallWriter, tags: Tags) -> Reading[None]:
    """Read the arguments of the call that was started, and its closing tag."""
    while True:
        first = yield from skip_space(source)
        if not first:
            raise Incomplete
        head = match_here(source, tags.head, _LONGEST_TAG)
        if head is not None:
            yield from _read_parameter(source, writer, tags, head)
            continue
        found = yield from literal_at(source, tags.next)
        if found in tags.call_end and found:
            source.pos += len(found)
            return
        if first == "{":
            yield from read_arguments(source, writer)
            offset = yield from space_end(source)
            again = yield from literal_at(source, (f"<{tags.call_end[0][2:]}",), offset)
            if again:  # meant to close
                source.pos += offset + len(again)
                writer.repair("doubled-tag", again, tags.call_end[0])
                return
        elif first in ('"', "'"):
            yield from read_any_arguments(source, writer, first)
        elif found or first == tags.child[:1]:
            head = yield from until(source, tags.head, _LONGEST_TAG)
            yield from _read_parameter(source, writer, tags, head)
        elif (yield from literal_at(source, ("</tool_call>",))):
            writer.repair("missing-tag", "", tags.call_end[0])
            return
        elif first == "<" and tags.plain:
            yield from read_parameters(source, writer, _children_in(tags.call_end))
            return
        else:
            raise NotACall


def _read_parameter(source: Source, writer: CallWriter, tags: Tags, head: re.Match[str]) -> Reading[None]:
    if head.start() != source.pos:
        raise NotACall
    key = _unescaped(head["key"].strip())
    if tags.child and not _is_declared(writer, key):
        raise NotACall
    written = head.groupdict().get("value")  # after the equals sign of `<parameter=key=value</parameter>`
    source.pos = head.end() - len(written or "")
    if written is not None and head["rest"]:
        raise NotACall
    if written is not None:
        writer.repair("missing-tag", "", ">")
    writer.key(key)
    kind = _kind(head["rest"]) if head["rest"] else ""
    tag = head["tag"] if "{}" in tags.value_end else ""
    declared = tuple(properties_of(writer.tool)) if tags.child and writer.tool is not None else ()
    ending = _ending(tags, tag, key, declared)
    decode = elements_reader(tags.child) if len(tags.child) > 1 else None
    yield from read_tagged_text(source, writer, ending, kind=kind, trim=tags.trim, decode=decode)


def _is_declared(writer: CallWriter, key: str) -> bool:
    return writer.tool is not None and (key in properties_of(writer.tool) or not properties_of(writer.tool))


def _kind(attributes: str) -> str:
    """Read what the opening tag says about the value: DSML's `string`, K3's `type`."""
    found = dict(_ATTRIBUTE.findall(attributes))
    if "string" in found:
        return "text" if found["string"] == "true" else "json"
    if "type" in found:
        return "text" if found["type"] == "string" else "json"
    return ""


@lru_cache(maxsize=256)
def _ending(tags: Tags, tag: str, key: str, declared: tuple[str, ...]) -> Ending:
    closer = tags.value_end.format(tag)
    if not tags.child:
        return Ending(key, closer, openers=tags.parameter, head=tags.head, ends=tags.ends, calls=tags.calls)
    arguments = tuple(f"{tags.child}{name}>" for name in declared) or (tags.child,)
    opener = f"{tags.child}{tag}>"
    return Ending(
        key, closer, openers=(opener,), head=tags.head, ends=tags.call_end, arguments=arguments, calls=tags.calls,
        mends=False,
    )  # fmt: skip
