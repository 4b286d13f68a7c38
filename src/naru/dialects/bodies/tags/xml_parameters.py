"""Calls as XML-like tags: a tag names the tool, tags inside it name the arguments.

One reader for `<function=N><parameter=K>`, `<invoke name="N"><parameter name="K">` with any vendor's prefix,
`<function name><param name>`, children named after the arguments, and Kimi K3's `<|open|>call ...<|sep|>`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.bodies.arguments import read_any_arguments, read_arguments
from naru.dialects.bodies.call_object import arguments_from
from naru.dialects.bodies.tags.attributes import unescaped, write_attributes
from naru.dialects.bodies.tags.call_tags import QUOTED_OR_BARE, XTML_TAGS, Tags, call_tags, children_until, tags_until
from naru.dialects.bodies.tags.elements import elements_reader
from naru.dialects.bodies.tags.endings import Ending
from naru.dialects.bodies.tags.mending import mended, opening_tags
from naru.dialects.bodies.tags.tagged_values import read_tagged_text
from naru.dialects.calls.keys import role_of, says_call
from naru.dialects.calls.offered import argument_meant, properties_of, required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.catalog.marked import STOPS
from naru.dialects.scanner import call_closers
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    match_here,
    need,
    skip_space,
    space_end,
    until,
)

_VENDOR = r"(?:[｜|]{1,2}\w+[｜|]{1,2}\s?|\w+:|\w+\|)?"
_MINIMAX = "]<]minimax[>["
_TAG_NAME = r"[A-Za-z][A-Za-z_\-]{1,24}"
_QUOTED = r"(?:\"[^\"<>]*\"|'[^'<>]*')"
_HEAD_TEXT = (
    rf"(?P<lead>{re.escape(_MINIMAX)})?<(?P<vendor>{_VENDOR})(?P<tag>{_TAG_NAME})"
    rf"(?:\s*=\s*|(?P<before>(?:\s+(?!name|tool|function)[\w\-]+\s*=\s*{_QUOTED})*)\s+(?:name|tool|function)\s*=\s*)"
    rf"{QUOTED_OR_BARE.format('name', '{')}" + r"(?P<rest>\s(?!\s*\{)[^<>]*?)?(?P<end>/?)>"
)
_HEAD = lazy_pattern(_HEAD_TEXT)
_RUN_TOGETHER = lazy_pattern(r"<function[=(/\s]\s*(?P<name>[\w.\-]{1,100})\)?>?\s*(?=\{)")
_ENDS_RUN_TOGETHER = ("></function>", "</function>", "<function>", "<function/>", ">")
_TOGETHER = r"<function[=(/\s]\s*[\w.\-]{1,100}\)?>?\s*"
_ANY_HEAD = lazy_pattern(  # Nothing is unnamed before it is known what comes after the name.
    rf"(?:{_HEAD_TEXT})|(?P<together>{_TOGETHER}\{{)|(?!{_TOGETHER}\Z)<(?P<unnamed>{_TAG_NAME})(?:\s[^<>]*)?>"
)
NAME_TAGS = ("<name>", "<tool_name>", "<function_name>", "<tool>", "<function>")
_NAME_ELEMENT = lazy_pattern(
    r"<(?P<tag>name|tool_name|function_name|tool|function)>\s*(?P<name>[^<>\s]+(?:[^\S\n]+[^<>\s]+)*)\s*</(?P=tag)>"
)
_ELEMENT = lazy_pattern(r"<(\w{3,24})>")
_ELEMENT_END = lazy_pattern(r"</\w{3,24}>")
_ELEMENT_SO_FAR = lazy_pattern(r"<\w{0,24}\Z")
_XTML_HEAD = lazy_pattern(r"<\|open\|>(?:tools)?call\b(?P<rest>[^<>]*)<\|sep\|>")
_ATTRIBUTE = lazy_pattern(r"(\w+)\s*=\s*\"([^\"]*)\"")
_KINDS = ("string", "type")
_LONGEST_TAG = 400
_LONGEST_TEXT = 4000
_DEEPEST = 4
"""How many elements for all arguments may stand in each other."""


def read_xml(source: Source, writer: CallWriter) -> Reading[str]:
    """Read the call whose tag stands at `pos`; one that names no tool is passed over: its closing tag is returned."""
    head = match_here(source, _HEAD, _LONGEST_TAG)
    if head is None:
        if (yield from literal_at(source, ("<|open|>",))):
            yield from _read_xtml(source, writer)
            return ""
        head = yield from until(source, _ANY_HEAD, _LONGEST_TAG)
        if head.start() != source.pos:
            raise NotACall
        if head["together"] is not None:
            yield from _read_run_together(source, writer)
            return ""
        if head["unnamed"] is not None:
            source.pos = head.end()
            return f"</{_checked(head['unnamed'])}>"
    _checked(head["tag"])
    writer.start(unescaped(head["name"]))
    source.pos = head.end()
    attributes = (head["before"] or "") + (head["rest"] or "")
    if attributes:
        write_attributes(writer, attributes, all_known=bool(head["end"]))
    tags = call_tags(head["lead"] or "", head["vendor"], head["tag"], head["name"])
    if not head["end"]:
        yield from read_parameters(source, writer, tags)
    if writer.lacks_all and not (yield from _is_over(source, tags)):
        raise NotACall  # its arguments may stand in what follows
    writer.end(source.offset)
    return ""


def _is_over(source: Source, tags: Tags) -> Reading[bool]:
    """Tell whether nothing but the closing tag of what stands around calls, or another call, comes."""
    offset = yield from space_end(source)
    return source.pos + offset >= len(source.text) or bool(
        (yield from literal_at(source, call_closers(), offset)) or (yield from literal_at(source, tags.calls, offset))
    )


def _checked(tag: str) -> str:
    """Return a tag's name.

    Raises:
        NotACall: It does not say that a call follows.
    """
    if not says_call(tag):
        raise NotACall
    return tag


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
    found = dict(_ATTRIBUTE.findall(head["rest"]))
    writer.start(unescaped(found.pop("tool", "")))
    source.pos = head.end()
    for key, value in found.items():
        if key not in ("index", *_KINDS):
            writer.leave_out(f'{key}="{value}"')
    yield from read_parameters(source, writer, XTML_TAGS)
    writer.end(source.offset)


def read_named_elements(source: Source, writer: CallWriter, closers: tuple[str, ...] = ()) -> Reading[None]:
    """Read `<name>N</name>` and the arguments: in an element of their own, or elements up to one of `closers`."""
    head = yield from until(source, _NAME_ELEMENT, _LONGEST_TAG)
    if head.start() != source.pos:
        raise NotACall
    tool = writer.start(head["name"])
    source.pos = head.end()
    first = yield from skip_space(source)
    ends = tuple(closer for closer in closers if closer.startswith("</"))
    if not first and source.cut:
        raise Incomplete
    if (yield from _is_element_of_arguments(source, writer)):
        yield from read_element_of_arguments(source, writer)
    elif first == "<" and ends and not (yield from literal_at(source, ends)):
        yield from read_parameters(source, writer, tags_until(ends))
    elif (yield from read_any_arguments(source, writer, first)):
        pass
    elif required_of(tool):
        raise NotACall
    writer.end(source.offset)


def _is_element_of_arguments(source: Source, writer: CallWriter, offset: int = 0) -> Reading[bool]:
    """Tell whether a tag such as `<parameters>` comes, which is no argument's own name."""
    while not source.final and _ELEMENT_SO_FAR.match(source.text, source.pos + offset):
        yield
    tag = _ELEMENT.match(source.text, source.pos + offset)
    if tag is None or role_of(tag[1]) != "arguments":
        return False
    return writer.tool is not None and tag[1] not in writer.tool.properties


def read_element_of_arguments(source: Source, writer: CallWriter, depth: int = 0) -> Reading[None]:
    """Read `<parameters>…</parameters>` at `pos`: JSON, elements, or the tool's only text."""
    if depth == _DEEPEST:
        raise NotACall
    tag = _ELEMENT.match(source.text, source.pos)
    assert tag is not None
    assert writer.tool is not None
    source.pos = tag.end()
    closer = f"</{tag[1]}>"
    first = yield from skip_space(source)
    if first == "<":
        yield from read_parameters(source, writer, tags_until((closer,), depth + 1))
        return
    if not (yield from read_any_arguments(source, writer, first)):
        end = yield from until(source, _ELEMENT_END, _LONGEST_TEXT)
        writer.whole(arguments_from(source.text[source.pos : end.start()].strip(), writer.tool))
        source.pos = end.start()
    offset = yield from space_end(source)
    if not (yield from literal_at(source, (closer,), offset)):
        raise NotACall if source.pos + offset < len(source.text) else Incomplete
    source.pos += offset + len(closer)


def read_arguments_beside(source: Source, writer: CallWriter, offset: int) -> Reading[bool]:
    """Read the arguments' element at `offset`, after white space, if there is one: LangChain's `<tool_input>`."""
    offset = yield from space_end(source, offset)
    if not (yield from _is_element_of_arguments(source, writer, offset)):
        return False
    source.pos += offset
    yield from read_element_of_arguments(source, writer)
    return True


def are_cut_beside(source: Source, offset: int) -> bool:
    """Tell whether the text was cut off where such an element may have begun; what comes later must not matter."""
    rest = source.text[source.pos + offset :].lstrip()
    return source.cut and (not rest or _ELEMENT_SO_FAR.match(rest) is not None)


def read_parameters(source: Source, writer: CallWriter, tags: Tags) -> Reading[None]:
    """Read the arguments of the call that was started, and its closing tag."""
    is_complete = False
    while True:
        first = yield from skip_space(source)
        if not first or (is_complete and (yield from literal_at(source, STOPS))):
            _end_unclosed(source, writer, tags, is_complete=is_complete)
            return
        head = match_here(source, tags.head, _LONGEST_TAG)
        if head is not None:
            yield from _read_parameter(source, writer, tags, head)
            continue
        found = yield from literal_at(source, tags.next)
        if found in tags.call_end and found:
            if (yield from _closes(source, writer, tags, found)):
                return
        elif first in ("{", '"', "'"):
            is_complete = True
            if (yield from _read_as_json(source, writer, tags, first)):
                return
        elif first == "<" and tags.plain and (yield from _is_element_of_arguments(source, writer)):
            yield from read_element_of_arguments(source, writer, tags.depth)
        elif (yield from _read_late_parameter(source, writer, tags, begun=bool(found) or first == tags.child[:1])):
            continue
        elif tags.mends and not writer.lacks_all and (yield from literal_at(source, call_closers())):
            writer.repair("missing-tag", "", tags.call_end[0])
            return
        elif first == "<" and tags.plain:
            yield from read_parameters(source, writer, children_until(tags.call_end, tags.depth))
            return
        else:
            raise NotACall


def _end_unclosed(source: Source, writer: CallWriter, tags: Tags, *, is_complete: bool) -> None:
    if not is_complete or source.cut:
        raise Incomplete
    writer.repair("missing-tag", "", tags.call_end[0])


def _closes(source: Source, writer: CallWriter, tags: Tags, closer: str) -> Reading[bool]:
    """Consume the call's closing tag; False where the opening tag of an argument that it may have comes after it."""
    source.pos += len(closer)
    offset = yield from space_end(source)
    openers = tags.parameter or tuple(f"<{key}>" for key in writer.declared if writer.awaits(key))
    if not openers or not (yield from literal_at(source, openers, offset)):
        return True
    while ">" not in (tag := source.text[source.pos + offset :][:_LONGEST_TAG]) and not source.final:
        if len(tag) == _LONGEST_TAG:
            return True
        yield
    head = tags.head.match(tag)
    key = unescaped(head["key"].strip()) if head is not None else ""
    if not (writer.awaits(key) or (key and not writer.declared and not writer.has(key))):
        return True
    writer.repair("misplaced-tag", closer)
    return False


def _tags_to_come(tags: Tags, writer: CallWriter) -> list[str]:
    return opening_tags(tags.heads, writer) + ([] if writer.lacks_all else [tags.call_end[0]])


def _read_late_parameter(source: Source, writer: CallWriter, tags: Tags, *, begun: bool) -> Reading[bool]:
    """Read an argument whose opening tag has not all come, or mend the tag; True where either was done.

    Raises:
        NotACall: One is `begun`, and cannot be mended.
    """
    if not begun:
        return (yield from mended(source, writer, _tags_to_come(tags, writer)))
    try:
        head = yield from until(source, tags.head, _LONGEST_TAG)
        if head.start() != source.pos:
            raise NotACall
    except NotACall:
        if not (yield from mended(source, writer, _tags_to_come(tags, writer))):
            raise
    else:
        yield from _read_parameter(source, writer, tags, head)
    return True


def _read_as_json(source: Source, writer: CallWriter, tags: Tags, first: str) -> Reading[bool]:
    """Read all arguments as JSON; True where an opening tag after them was meant to close the call."""
    yield from read_any_arguments(source, writer, first)
    offset = yield from space_end(source)
    again = yield from literal_at(source, (f"<{tags.call_end[0][2:]}",), offset)
    if again:
        source.pos += offset + len(again)
        writer.repair("doubled-tag", again, tags.call_end[0])
    return bool(again)


def _read_parameter(source: Source, writer: CallWriter, tags: Tags, head: re.Match[str]) -> Reading[None]:
    key = unescaped(head["key"].strip())
    if tags.child == "<" and (yield from _is_element_of_arguments(source, writer)):
        yield from read_element_of_arguments(source, writer, tags.depth)
        return
    rest = head["rest"] or ""
    if (tags.child and not _is_declared(writer, key)) or rest.count('"') % 2:
        if not (yield from mended(source, writer, _tags_to_come(tags, writer))):
            raise NotACall
        return
    if rest.endswith("/"):
        yield from _read_value_attribute(source, writer, key, head)
        return
    written = head.groupdict().get("value")  # after the equals sign of `<parameter=key=value</parameter>`
    source.pos = head.end() - len(written or "")
    if written is not None and head["rest"]:
        raise NotACall
    if written is not None:
        writer.repair("missing-tag", "", ">")
    if not _is_declared(writer, key):
        yield from _see_to_name(source, writer, key)
    writer.key(key)
    kind = _kind(head["rest"], writer) if head["rest"] else ""
    tag = head["tag"] if "{}" in tags.value_end else ""
    declared = tuple(properties_of(writer.tool)) if tags.child and writer.tool is not None else ()
    ending = _ending(tags, tag, key, declared)
    decode = elements_reader(tags.child) if len(tags.child) > 1 else None
    yield from read_tagged_text(source, writer, ending, kind=kind, trim=tags.trim, decode=decode)


def _read_value_attribute(source: Source, writer: CallWriter, key: str, head: re.Match[str]) -> Reading[None]:
    """Read `<parameter name="key" value="text"/>`."""
    found = _ATTRIBUTE.match(head["rest"].strip())
    if found is None or found[1] != "value":
        raise NotACall
    source.pos = head.end()
    writer.key(key)
    writer.written(unescaped(found[2]))
    yield from ()


def _see_to_name(source: Source, writer: CallWriter, key: str) -> Reading[None]:
    """See to it that the letter which a name lacks is not the first of its value: `pat>h` for `path>`."""
    assert writer.tool is not None
    meant = argument_meant(writer.tool, key, ())
    yield from need(source, 1)
    if meant and meant[:-1] == key and source.text.startswith(meant[-1], source.pos):
        raise NotACall


def _is_declared(writer: CallWriter, key: str) -> bool:
    return writer.tool is not None and (key in properties_of(writer.tool) or not properties_of(writer.tool))


def _kind(attributes: str, writer: CallWriter) -> str:
    """Read what the opening tag says about the value: DSML's `string`, K3's `type`."""
    found = dict(_ATTRIBUTE.findall(attributes))
    for key, value in found.items():
        if key not in _KINDS:
            writer.leave_out(f'{key}="{value}"')
    if "string" in found:
        return "text" if found["string"] == "true" else "json"
    if "type" in found:
        return "text" if found["type"] == "string" else "json"
    return ""


@lru_cache(maxsize=256)
def _ending(tags: Tags, tag: str, key: str, declared: tuple[str, ...]) -> Ending:
    closer = tags.value_end.format(tag)
    if not tags.child:
        own = (f"<{closer[2:-1]}",) if tag else tags.parameter  # what a form calls otherwise has other closing tags
        return Ending(
            key, closer, openers=own, head=tags.head, ends=tags.ends, arguments=tags.parameter, calls=tags.calls,
            mends=tags.mends, heads=tags.heads,
        )  # fmt: skip
    arguments = tuple(f"{tags.child}{name}>" for name in declared) or (tags.child,)
    opener = f"{tags.child}{tag}>"
    return Ending(
        key, closer, openers=(opener,), head=tags.head, ends=tags.call_end, arguments=arguments, calls=tags.calls,
        mends=False, heads=tags.heads,
    )  # fmt: skip
