"""Calls that no marker announces: JSON, Python calls, fenced blocks, Cline's tags, names with arguments.

They count only as a unit of their own (whole lines, a whole fence) that names an offered tool and its arguments.
"""

from __future__ import annotations

import re

from naru.dialects.bodies.arguments import read_any_arguments
from naru.dialects.bodies.begun_arguments import NAME, read_named_block
from naru.dialects.bodies.gemma import read_gemma
from naru.dialects.bodies.json_calls import read_calls_as_text, read_escaped_calls, read_json
from naru.dialects.bodies.pythonic import read_pythonic
from naru.dialects.bodies.tagged import read_tag, read_tagged
from naru.dialects.bodies.tags.arg_pairs import pair_tags, read_pairs
from naru.dialects.bodies.tags.call_tags import child_tags, tags_until
from naru.dialects.bodies.tags.xml_parameters import read_parameters
from naru.dialects.calls.keys import letters, says_call
from naru.dialects.calls.offered import Offered, properties_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.catalog.marked import MARKED, STOPS
from naru.dialects.scanner import stray_closers
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import (
    Incomplete,
    NotACall,
    Reading,
    Source,
    literal_at,
    need,
    skip_space,
    space_end,
    until,
)
from naru.dialects.texts.tokens import Tokens
from naru.dialects.tool import Tool

_LINE_END = lazy_pattern(r"[ \t]{0,200}([}\];,]{0,200})[ \t]{0,200}(\r?\n|\Z)")
_LINE_SO_FAR = lazy_pattern(r"[ \t]{0,200}[}\];,]{0,200}[ \t]{0,200}\r?\Z")
_LABELS = r"[ \t]{0,40}([\w+\-.]{0,40})(?:[ \t:]{1,4}([A-Za-z_][\w.\-]{0,64}))?[ \t]{0,40}\r?"
_FENCE = lazy_pattern(rf"(`{{3,}}|~{{3,}}){_LABELS}\n")
_FENCE_START = lazy_pattern(rf"(?:`{{3,}}|~{{3,}}){_LABELS}[ \t:]{{0,4}}\Z")
LONGEST_FENCE, _LONGEST_USE = 100, 200
_NAME_BEFORE_TAG = lazy_pattern(r"[^\s<`{]+(?=\s*<)")
_NAME = lazy_pattern(r"[^\s{`\[<*]+")
_AFTER_NAME = lazy_pattern(r"(?:(?:\*\*|`(?!``)):?)?(?=[^*`:]|`{3}|\Z)")
_NAME_AHEAD = lazy_pattern(r"([A-Za-z_][\w.\-]{0,100}(?::\d{0,4})?)\s{0,8}")
_USE = lazy_pattern(
    r"#[^\n]{0,190}\n|[A-Za-z_]\w*[ \t]*=[ \t]*(?:await[ \t]{1,8})?(?=(?P<called>[A-Za-z_][\w.]*)\()"
    r"|print\([A-Za-z_]\w*\)[ \t]*(?:\n|\Z)"
)
_ESCAPED = ('{\\"', '[{\\"')
_GEMMA = next(row for row in MARKED if row.reader == "gemma")
_ENDS_OF_LINES = Tokens((*STOPS, *(opener for row in MARKED for opener in row.openers)))
"""What may follow a unit on its line: the end of the reply, or more calls."""
ARGUMENT_MARKS = tuple(token for row in MARKED for token, role in row.marks if role == "arguments" and token[0] in "<[")
"""The tokens before arguments that stay where an engine leaves out only the one before the name."""
_ARGUMENTS_BEGIN = Tokens(("{", "`", *ARGUMENT_MARKS))
_FENCED_WITH_TAGS = tuple(row for row in MARKED if row.reader == "tagged")
_LANGUAGES = frozenset(
    ("", *"json json5 jsonc jsonl javascript python py python3 xml html text txt plaintext plain".split())
)
"""Languages that calls in a fence may be labelled as."""


def read_bare(source: Source, writer: CallWriter) -> Reading[None]:
    """Read JSON or a list of Python calls that fills its lines."""
    if (yield from literal_at(source, _ESCAPED)):
        yield from read_escaped_calls(source, writer)
        return
    while True:
        yield from read_json(source, writer, marked=False)
        offset = yield from space_end(source)
        between, first = source.text[source.pos : source.pos + offset], source.text[source.pos + offset :][:1]
        if first in ("{", "[") and first and "\n" not in between:
            source.pos += offset
            continue
        if first not in (";", ","):
            break
        following = yield from space_end(source, offset + 1)
        if source.text[source.pos + following : source.pos + following + 1] not in ("{", "["):
            break
        source.pos += following
    yield from end_of_line(source, writer)


def end_of_line(source: Source, writer: CallWriter) -> Reading[None]:
    """See to it that nothing but stray brackets and separators stands between the unit and the end of its line."""
    while True:
        while not source.final and _LINE_SO_FAR.match(source.text, source.pos):
            yield
        found = _LINE_END.match(source.text, source.pos)
        if found:
            break
        offset = yield from space_end(source)
        if (yield from literal_at(source, _ENDS_OF_LINES, offset)):
            return
        closer = yield from literal_at(source, stray_closers(), offset)
        if not closer or closer[0] != "<":
            raise NotACall
        source.pos += offset + len(closer)
        writer.repair("stray-closer", closer)
    if "}" in found[1]:
        writer.repair("extra-brace", found[1])
    source.pos = found.start(2)
    writer.extend(source.offset)


def read_line(source: Source, writer: CallWriter) -> Reading[None]:
    """Read Python calls, set apart by commas, that fill their line."""
    while True:
        yield from read_pythonic(source, writer)
        offset = yield from space_end(source)
        if source.text[source.pos + offset : source.pos + offset + 1] not in (",", ";"):
            break
        following = yield from space_end(source, offset + 1)
        if not source.text[source.pos + following : source.pos + following + 1].isidentifier():
            break
        source.pos += following
    yield from end_of_line(source, writer)


def read_inline_code(source: Source, writer: CallWriter) -> Reading[None]:
    """Read a call in backticks that is the whole reply."""
    source.pos += 1
    first = yield from skip_space(source)
    if first and first in "{[":
        yield from read_json(source, writer, marked=False)
    elif first.isidentifier():
        yield from read_pythonic(source, writer)
    else:
        raise NotACall if first else Incomplete
    if (yield from skip_space(source)) != "`":
        raise NotACall
    source.pos += 1
    if (yield from skip_space(source)):
        raise NotACall


def read_text_of_calls(source: Source, writer: CallWriter) -> Reading[None]:
    """Read a JSON string that holds calls and is the whole reply."""
    yield from read_calls_as_text(source, writer, marked=False)
    if (yield from skip_space(source)):
        raise NotACall


def tool_named(written: str, offered: Offered) -> Tool | None:
    """Return the tool that a name means which may stand right after the word `function` (DeepSeek V3)."""
    return offered.find(written) or offered.find(written.removeprefix("function"))


def read_name_then_json(source: Source, writer: CallWriter) -> Reading[None]:
    """Read a tool's name and its arguments, and more such pairs right after.

    So write Functionary 3.2 and GLM-4-9B, and so look the calls of Mistral, DeepSeek, Kimi and gpt-oss without their
    special tokens.
    """
    while True:
        name = yield from until(source, _NAME, 200)
        tool = tool_named(name[0], writer.offered)
        if name.start() != source.pos or tool is None:
            raise NotACall
        writer.start(tool.name)
        source.pos = name.end()
        mark = yield from until(source, _AFTER_NAME, 20)
        source.pos = mark.end()
        offset = yield from space_end(source)
        source.pos += offset
        label = yield from literal_at(source, ("json", "code", "commentary json", *ARGUMENT_MARKS))
        source.pos += len(label)
        first = yield from skip_space(source)
        if not (yield from read_any_arguments(source, writer, first)):
            raise NotACall
        if writer.has_undeclared():
            raise NotACall
        writer.end(source.offset)
        if not (yield from _another_name(source, writer)):
            yield from end_of_line(source, writer)
            return


def read_name_then_pairs(source: Source, writer: CallWriter) -> Reading[None]:
    """Read GLM's call whose outer tags an engine left out: a name, and pairs of tags up to the end of the text."""
    name = yield from until(source, _NAME_BEFORE_TAG, 200)
    if name.start() != source.pos:
        raise NotACall
    writer.start(name[0])
    source.pos = name.end()
    yield from read_pairs(source, writer, pair_tags(), ("</tool_call>",), to_the_end=True)
    closer = yield from literal_at(source, ("</tool_call>",))
    source.pos += len(closer)
    writer.end(source.offset)


def _another_name(source: Source, writer: CallWriter) -> Reading[bool]:
    """Tell whether another tool's name with arguments comes; consumes what stands before it."""
    offset = yield from space_end(source)
    if closer := (yield from literal_at(source, stray_closers(), offset)):
        offset = yield from space_end(source, offset + len(closer))
    while True:
        head = _NAME_AHEAD.match(source.text, source.pos + offset)
        if head is None or head.end() < len(source.text) or source.final:
            break
        yield
    if head is None or tool_named(head[1], writer.offered) is None:
        return False
    if not (yield from literal_at(source, _ARGUMENTS_BEGIN, head.end() - source.pos)):
        return False
    if closer:
        writer.repair("stray-closer", closer)
    source.pos += offset
    return True


def read_fence(source: Source, writer: CallWriter, *, begins: bool = False) -> Reading[None]:
    """Read a code fence that holds calls and nothing else; `begins` says that nothing stands before it.

    Code that assigns what a tool returns is an example after words, which explain how one would call it.
    """
    if (yield from _run_length(source)) > 3:
        raise NotACall  # a longer fence quotes others
    while not source.final and _FENCE_START.match(source.text, source.pos):
        yield
    fence = _FENCE.match(source.text, source.pos)
    if not fence:
        raise NotACall
    source.pos = fence.end()
    if name := _labelled_tool(fence, writer.offered):
        yield from _read_labelled(source, writer, name, fence[1])
        return
    if not (_may_label_calls(fence[2]) and _may_label_calls(fence[3] or "")):
        raise NotACall
    runs = fence[2] == "tool_code"
    yield from _read_fenced(source, writer, fence[1], runs=runs, assigns=runs or begins)
    yield from end_of_line(source, writer)


def _read_fenced(source: Source, writer: CallWriter, mark: str, *, runs: bool, assigns: bool) -> Reading[None]:
    """Read calls up to the closing mark, or the end of the text."""
    before = len(writer.calls)
    while True:
        first = yield from skip_space(source)
        some = len(writer.calls) > before
        if not first:
            if some:
                writer.repair("missing-fence", "", mark)
                return
            raise Incomplete
        if first == mark[0] and (yield from need(source, 3)) and (yield from literal_at(source, (mark,))):
            if not some:
                raise NotACall
            source.pos += len(mark)
            return
        if some and first in ",;}]":
            source.pos += 1
        else:
            may_be_use = (runs and first == "#") or (assigns and first.isidentifier())
            if may_be_use and (yield from _skip_use(source, writer, runs=runs)):
                continue
            yield from _read_fenced_unit(source, writer, first)


def _may_label_calls(label: str) -> bool:
    return letters(label) in _LANGUAGES or says_call(label)


def _labelled_tool(fence: re.Match[str], offered: Offered) -> str:
    """Return the tool that a fence's label names; one word alone may be a language's name."""
    if fence[3] is not None:
        name, is_certain = fence[3], _may_label_calls(fence[2])
    else:
        name, is_certain = fence[2], not fence[2].isalpha()
    return name if is_certain and name in offered.names else ""


def _read_labelled(source: Source, writer: CallWriter, name: str, mark: str) -> Reading[None]:
    """Read the arguments in a fence whose label names the tool."""
    writer.start(name)
    if (yield from skip_space(source)) != "{":
        raise NotACall
    yield from read_any_arguments(source, writer, "{")
    if writer.has_undeclared() or (yield from skip_space(source)) != mark[0]:
        raise NotACall
    if not (yield from literal_at(source, (mark,))):
        raise NotACall
    source.pos += len(mark)
    writer.end(source.offset)
    yield from end_of_line(source, writer)


def _run_length(source: Source) -> Reading[int]:
    """Return how often the character at `pos` is repeated, counted to a hundred."""
    first, size = source.text[source.pos], 0
    while True:
        while size < LONGEST_FENCE and source.text.startswith(first, source.pos + size):
            size += 1
        if size == LONGEST_FENCE or source.pos + size < len(source.text) or source.final:
            return size
        yield


def _skip_use(source: Source, writer: CallWriter, *, runs: bool) -> Reading[bool]:
    """Consume `name =` before a call, a `print(name)` or a comment: what `tool_code` does besides says nothing.

    Code that does not say that it runs may assign what an offered tool returns, and nothing else.
    """
    while not source.final and "\n" not in source.text[source.pos :] and len(source.text) - source.pos < _LONGEST_USE:
        yield
    use = _USE.match(source.text, source.pos, source.pos + _LONGEST_USE)
    if use is None or not (runs or writer.offered.find(use["called"])):
        return False
    source.pos = use.end()
    writer.leave_out(use[0])
    return True


def _read_fenced_unit(source: Source, writer: CallWriter, first: str) -> Reading[None]:
    if first in "{[":
        writer.dialect = "fenced" if first == "{" else "list"
        yield from read_json(source, writer, marked=False, closers=("```", "~~~"))
    elif first == '"':
        yield from read_calls_as_text(source, writer, marked=False)
    elif first == "<":
        yield from _read_fenced_tag(source, writer)
    elif first == NAME[0] and (yield from literal_at(source, (NAME,))):
        yield from read_named_block(source, writer)
    elif first.isidentifier():
        named = yield from _another_name(source, writer)
        writer.dialect = "name-json" if named else "pythonic"
        yield from read_name_then_json(source, writer) if named else read_pythonic(source, writer)
    else:
        raise NotACall


def _read_fenced_tag(source: Source, writer: CallWriter) -> Reading[None]:
    openers = {opener: row for row in _FENCED_WITH_TAGS for opener in row.openers}
    found = yield from literal_at(source, (*openers, "<function", "<invoke"))
    if found in openers:
        yield from read_tagged(source, writer, openers[found], found)
    elif found:
        yield from read_tag(source, writer)
        offset = yield from space_end(source)
        closer = yield from literal_at(source, ("</tool_call>",), offset)
        source.pos += offset + len(closer) if closer else 0
    else:
        names = {f"<{name}>": name for name in writer.offered.names}
        tag = yield from literal_at(source, tuple(names))
        if not tag:
            raise NotACall
        yield from read_children(source, writer, names[tag])


def read_children(source: Source, writer: CallWriter, name: str) -> Reading[None]:
    """Read `<tool><argument>value</argument></tool>`, as Cline, Roo and Void ask for it."""
    tool = writer.offered.find(name)
    offset = len(name) + 2
    offset = yield from space_end(source, offset)
    if source.text.startswith(("{", '"', "'"), source.pos + offset):
        yield from _read_object_in_tags(source, writer, name, offset)
        return
    declared = [f"<{key}>" for key in properties_of(tool)] if tool else []
    kinds = ("<param", "<arg", "<input")  # Roo's `<args>` among them
    begin = yield from literal_at(source, (*declared, f"</{name}>", *kinds), offset)
    if not begin:
        raise NotACall if source.pos + offset < len(source.text) else Incomplete
    source.pos += offset
    writer.start(name)
    tags = tags_until((f"</{name}>",)) if begin in kinds else child_tags(name)
    yield from read_parameters(source, writer, tags)
    writer.end(source.offset)


def _read_object_in_tags(source: Source, writer: CallWriter, name: str, offset: int) -> Reading[None]:
    """Read the arguments of `<tool>{…}</tool>`."""
    writer.start(name)
    source.pos += offset
    yield from read_any_arguments(source, writer, source.text[source.pos])
    offset = yield from space_end(source)
    if writer.has_undeclared() or not (yield from literal_at(source, (f"</{name}>",), offset)):
        raise NotACall
    source.pos += offset + len(name) + 3
    writer.end(source.offset)


def read_called(source: Source, writer: CallWriter) -> Reading[None]:
    """Read Gemma's `call:tool{…}` whose special tokens an engine left out."""
    yield from read_gemma(source, writer, _GEMMA, "")
    yield from end_of_line(source, writer)


def read_prefixed(source: Source, writer: CallWriter, prefix: str) -> Reading[None]:
    """Read a list of calls after a word such as `functools`, and what of its line comes after."""
    source.pos += len(prefix)
    first = yield from skip_space(source)
    if not first:
        raise Incomplete
    if first not in "[{":
        raise NotACall
    yield from read_json(source, writer, marked=True)
