"""Calls as Python writes them: `f(a=1)`, alone, in a list, dotted, printed or escaped by Markdown."""

from __future__ import annotations

from naru.dialects.bodies.values import capture
from naru.dialects.calls.keys import are_arguments, begins_as_members, role_of, says_call
from naru.dialects.calls.offered import properties_of, required_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.closing import COMMAS
from naru.dialects.texts.literal import StrayText, parse_literal, read_value, skip_remarks
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Incomplete, NotACall, Reading, Source, literal_at, skip_space, until
from naru.dialects.tool import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

_CALL = Tool("", {"properties": {"name": {}, "arguments": {}}})
"""What a function that calls tools takes, in order."""
_NAME = lazy_pattern(r"[A-Za-z_][\w.\-\\]*")
_OPEN = lazy_pattern(r"[A-Za-z_][\w.\-\\:/]*\s*\(")
_KEYWORD = lazy_pattern(r"(\\?[A-Za-z_][\w\-\\]*)\s*(?:=(?P<doubled>\s*=)?|:)")
_LITERAL = lazy_pattern(r"\s*[\"'\[{\d\-]|\s*(?:True|False|None|true|false|null)\b")
"""What is a value for certain, and no comparison's other side."""
_FIRST_KEYWORD = lazy_pattern(r"(\w{1,64})\s{0,8}[=:]")
_TORN_STRUCTURE = lazy_pattern(r"\s*[{\[][^\"']*[\"']")
"""An object or a list with a text in it; as a text itself it was cut at a stray quote."""
_SPREAD = lazy_pattern(r"\*\*")


def read_pythonic(source: Source, writer: CallWriter, *, printed: bool = False) -> Reading[None]:
    """Read the call `name(...)` at `pos`; `print(name(...))` and `name.call(...)` count as `name(...)`."""
    name = yield from read_call_name(source)
    if name == "print" and not printed and writer.offered.find(name) is None:
        source.pos += 1
        yield from skip_space(source)
        awaited = yield from literal_at(source, ("await ",))
        source.pos += len(awaited)
        yield from read_pythonic(source, writer, printed=True)
        if (yield from skip_space(source)) != ")":
            raise NotACall
        source.pos += 1
        return
    if says_call(name) and writer.offered.find(name) is None:
        _write_named(parse_arguments((yield from capture(source))[1:-1], _CALL), writer)
        writer.end(source.offset)
        return
    tool = tool_called(name, writer)
    arguments = parse_arguments((yield from capture(source))[1:-1], tool)
    writer.start(name if writer.offered.find(name) else tool.name)
    writer.whole(arguments)
    writer.end(source.offset)


def _write_named(fields: dict[str, Any], writer: CallWriter) -> None:
    """Begin the call whose tool's name is an argument of another, as in `call_tool("f", {…})`, and write its own."""
    for key, value in fields.items():
        tool = writer.offered.find(value) if role_of(key) == "name" else None
        if tool is not None:
            rest = {name: item for name, item in fields.items() if name != key}
            inner = rest.get("arguments", rest) if len(rest) == 1 else rest
            if not isinstance(inner, dict) or not (are_arguments(inner, tool) or (not inner and not required_of(tool))):
                break
            writer.start(value)
            writer.whole(inner)
            return
    raise NotACall


def read_call_name(source: Source) -> Reading[str]:
    """Consume a name up to the bracket that opens its arguments and return it."""
    found = yield from until(source, _OPEN, 200)
    if found.start() != source.pos:
        raise NotACall
    source.pos = found.end() - 1
    return found[0][:-1].strip()


def tool_called(name: str, writer: CallWriter) -> Tool:
    """Return the offered tool that a dotted name calls.

    Raises:
        NotACall: There is none.
    """
    for candidate in (name, name.removesuffix(".call"), name.removesuffix(".invoke")):
        tool = writer.offered.find(candidate)
        if tool:
            return tool
    raise NotACall


def parse_arguments(text: str, tool: Tool) -> dict[str, Any]:
    """Read what stands between the brackets of a call.

    Positional arguments take the tool's declared names in order; a lone object of declared names is the arguments.

    Raises:
        NotACall: It is no list of arguments.
    """
    found: dict[str, Any] = {}
    positional: list[Any] = []
    strayed = repeated = False
    at = skip_remarks(text, 0)
    while at < len(text):
        keyword = _keyword_at(text, at, tool)
        spread = _SPREAD.match(text, at)
        if keyword:
            at = keyword.end()
        elif spread:
            at = spread.end()
        start = at
        try:
            value, at = read_value(text, at, "(", keys=tool.properties)
        except ValueError as error:
            raise NotACall from error
        if isinstance(value, str) and _TORN_STRUCTURE.match(text, start, at):
            raise NotACall  # it was cut at a stray quote
        strayed = strayed or isinstance(value, StrayText)
        if keyword:
            name = keyword[1].replace("\\_", "_")
            repeated = repeated or name in found
            found.setdefault(name, value)
        elif spread and isinstance(value, dict):
            found.update(value)
        else:
            positional.append(value)
        at = skip_remarks(text, at)
        if at < len(text) and text[at] not in COMMAS:
            raise NotACall
        at = skip_remarks(text, at + 1)
    if strayed and (repeated or (found and positional)):
        raise NotACall
    return _with_positional(found, positional, tool)


def _keyword_at(text: str, at: int, tool: Tool) -> re.Match[str] | None:
    """Return the name of the argument at `at` with the sign after it; a doubled one is one.

    Raises:
        NotACall: It may compare the argument with something.
    """
    keyword = _KEYWORD.match(text, at)
    if keyword is None or keyword["doubled"] is None:
        return keyword
    if keyword[1] not in tool.properties:
        return None
    if _LITERAL.match(text, keyword.end()) is None:
        raise NotACall
    return keyword


def keyword_arguments(text: str, tool: Tool) -> dict[str, Any]:
    """Return the arguments that a line names one by one, as in `city="Oslo", days=3`; nothing where it names none."""
    first = _FIRST_KEYWORD.match(text)
    if first is None or first[1] not in tool.properties:
        return {}
    try:
        found = parse_arguments(text, tool)
    except NotACall:
        return {}
    return found if are_arguments(found, tool) else {}


def _with_positional(found: dict[str, Any], positional: list[Any], tool: Tool) -> dict[str, Any]:
    if not positional:
        return found
    names = properties_of(tool)
    first = positional[0]
    if isinstance(first, str) and first.startswith("{"):
        first = _decoded(first)
    if len(positional) == 1 and not found and _are_named(first, names):
        return dict(first)
    if _is_torn(first, tool):
        raise NotACall
    free = [name for name in names if name not in found]
    if len(positional) > len(free) or (len(positional) > 1 and any(_are_named(item, names) for item in positional)):
        raise NotACall  # too many, or all arguments were one object that a stray quote cut
    return {**dict(zip(free, positional, strict=False)), **found}


def _is_torn(value: Any, tool: Tool) -> bool:
    """Tell whether a value without a name was the object of all arguments, which a slip tore."""
    if isinstance(value, dict):
        return any('"' in key for key in value)
    return isinstance(value, str) and begins_as_members(value, tool)


def _are_named(value: Any, names: list[str]) -> bool:
    """Tell whether a value is an object of nothing but the tool's arguments."""
    return isinstance(value, dict) and bool(value) and set(value) <= set(names)


def _decoded(text: str) -> Any:
    try:
        return parse_literal(text)
    except ValueError:
        return text


def write_pythonic_text(text: str, writer: CallWriter, offset: int) -> None:
    """Write the call that a complete text is, such as a quoted item of a list.

    Raises:
        NotACall: It is none.
    """
    source = Source()
    source.push(text.strip())
    source.final = True
    name_at = _NAME.match(source.text)
    if not name_at:
        raise NotACall
    before = writer.span_start
    try:
        for _ in read_pythonic(source, writer):
            raise NotACall
    except Incomplete as error:
        raise NotACall from error  # the text that holds it may go on all the same
    if source.text[source.pos :].strip():
        raise NotACall
    writer.calls[-1].span = (before, offset)
    writer.span_start = offset
