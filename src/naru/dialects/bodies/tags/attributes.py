"""Arguments as a tag's attributes: `<tool argument="value"/>`, `<invoke name="N" argument="value">`."""

from __future__ import annotations

from naru.dialects.bodies.arguments import object_in
from naru.dialects.calls.keys import role_of
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import NotACall, Reading, Source, match_at

_WRITTEN_ATTRIBUTE = lazy_pattern(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>/]+))")
_ID_ATTRIBUTES = ("id", "call_id", "type")
_ENTITIES = (("&quot;", '"'), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_ATTRIBUTES_ONLY = lazy_pattern(
    r"<(?P<name>[\w.\-]+)(?P<rest>(?:\s+[\w\-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))+)\s*(?:/>|>\s*</(?P=name)>)"
)
_LONGEST_TAG = 400


def unescaped(attribute: str) -> str:
    """Decode the five entities of XML; `html.unescape` would cost more to import than the rest of this file."""
    if "&" in attribute:
        for entity, character in _ENTITIES:
            attribute = attribute.replace(entity, character)
    return attribute


def write_attributes(writer: CallWriter, written: str, *, all_known: bool) -> None:
    """Write what a tag says of the arguments: all of them as JSON, or one attribute each.

    Raises:
        NotACall: With `all_known`, it says something else.
    """
    found = {
        key: unescaped(double or single or bare) for key, double, single, bare in _WRITTEN_ATTRIBUTE.findall(written)
    }
    if all_known and _WRITTEN_ATTRIBUTE.sub("", written).strip():
        raise NotACall
    assert writer.tool is not None
    for key, value in found.items():
        if key in writer.tool.properties or (not writer.tool.properties and role_of(key) not in ("id", "arguments")):
            writer.key(key)
            writer.written(value)
        elif role_of(key) == "arguments":
            writer.whole(object_in(value))
        elif all_known and key not in _ID_ATTRIBUTES:
            raise NotACall
        else:
            writer.leave_out(f'{key}="{value}"')


def read_attributes(source: Source, writer: CallWriter) -> Reading[None]:
    """Read `<tool argument="value"/>`, a client's tag without content, closed by itself or right away."""
    tag = yield from match_at(source, _ATTRIBUTES_ONLY, _LONGEST_TAG)
    writer.start(tag["name"])
    source.pos = tag.end()
    write_attributes(writer, tag["rest"], all_known=True)
    writer.end(source.offset)
