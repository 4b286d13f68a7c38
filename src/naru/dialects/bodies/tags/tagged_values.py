"""Values between tags: raw text that goes on to the closing tag with which the call goes on or ends.

Which tag that is `tag_scan.py` finds out; here the text on the way is taken, trimmed and typed.
"""

from __future__ import annotations

from naru.dialects.bodies.tags.endings import Ending, plain_end
from naru.dialects.bodies.tags.fragments import ends_in_a_stray_closer
from naru.dialects.bodies.tags.tag_scan import scan
from naru.dialects.bodies.values import delimited
from naru.dialects.calls.writer import CallWriter
from naru.dialects.texts.literal import encodable, parse_literal
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import NotACall, Reading, Source, literal_at, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CDATA, _CDATA_END = "<![CDATA[", "]]>"
_LAYOUT = lazy_pattern(r"\s{0,200}")
_BRACKET_AFTER_OPENER = lazy_pattern(r">>?\r?\n(?!>)")
"""A bracket too many, where the line break stands that follows an opening tag; one before a word may be the value's."""
_LINE_BREAKS = 2
"""How many line breaks at its end a value holds back: one after it, and one after the tag that is missing."""


class TaggedText:
    """Takes a value's text piece by piece and passes it on where only text is allowed.

    Args:
        writer: Takes the value; the argument's key was written.
        kind: "text" when the tag says that it is text, "json" when it says that it is not, else "".
        trim: Whether one line break after the opening tag, and then one before the closing tag, is layout.
        decode: What reads the elements that the value may consist of.
        holds: Whether its end tells what the beginning meant, so that nothing passes on before.
    """

    def __init__(  # noqa: PLR0913 - keywords
        self,
        writer: CallWriter,
        *,
        kind: str = "",
        trim: bool = False,
        decode: Callable[[str], object] | None = None,
        holds: bool = False,
    ) -> None:
        self._writer = writer
        self._kind = kind
        self._decode = decode
        self._trim = trim
        self._parts: list[str] = []
        self._held = ""
        self._begun = False
        self._trimmed = False
        takes_text = writer.takes_text if kind == "text" else writer.takes_text_only and kind != "json"
        self._streams = takes_text and not holds
        if self._streams:
            writer.open_text()

    def add(self, piece: str) -> None:
        """Take the next piece of the value."""
        if not piece:
            return
        piece = self._held + piece
        self._held = ""
        if self._trim and not self._begun:
            if piece == "\r":
                self._held = piece
                return
            self._begun = True
            for line_break in ("\r\n", "\n"):
                if piece.startswith(line_break):
                    piece, self._trimmed = piece[len(line_break) :], True
                    break
        kept = piece
        for _ in range(_LINE_BREAKS):
            kept = kept.removesuffix("\n").removesuffix("\r")
        self._held = piece[len(kept) :]
        self._put(kept)

    def _put(self, piece: str) -> None:
        if self._streams:
            self._writer.text(piece)
        else:
            self._parts.append(piece)

    def finish(self, *, closed: bool = True) -> None:
        """End the value; the line breaks before what should have been its closing tag are layout."""
        if closed:
            is_layout = self._trimmed and self._held.endswith("\n")
            self._put(self._held[:-1].removesuffix("\r") if is_layout else self._held)
        if self._streams:
            self._writer.close_text()
            return
        _write(self._writer, _without_cdata("".join(self._parts)), self._kind, self._decode)


def _decoded(text: str) -> object:
    try:
        return parse_literal(text)
    except ValueError:
        return encodable(text)


def read_tagged_text(
    source: Source,
    writer: CallWriter,
    ending: Ending,
    *,
    kind: str = "",
    trim: bool = False,
    decode: Callable[[str], object] | None = None,
) -> Reading[None]:
    """Read a value up to its end as `ending` says, closing tag included.

    Args:
        source: Stands after the opening tag.
        writer: Takes the value; the argument's key was written.
        ending: How it ends.
        kind: "text" when the tag says that it is text, "json" when it says that it is not, else "".
        trim: Whether one line break after the opening tag, and then one before the closing tag, is layout.
        decode: What reads the elements that a value may consist of; returns the text where it holds none.
    """
    yield from need(source, 5)
    if _BRACKET_AFTER_OPENER.match(source.text, source.pos) is not None:
        raise NotACall
    found = plain_end(source, ending)
    if found is not None:
        plain = source.text[source.pos : source.pos + found[0]]
        source.pos += found[0] + found[1]
        _write(writer, _trimmed(plain) if trim else plain, kind, decode)
        return
    layout = yield from _layout_before_cdata(source)
    text = TaggedText(writer, kind=kind, trim=trim, decode=decode, holds=layout >= 0)
    if layout >= 0:
        yield from _read_cdata(source, text, layout)
    closed = yield from scan(source, writer, ending, text.add, tail=_CDATA_END if layout >= 0 else "")
    text.finish(closed=closed)
    if not closed and ends_in_a_stray_closer(writer.last_text):
        raise NotACall  # which was meant for the value's own


def _trimmed(value: str) -> str:
    for line_break in ("\r\n", "\n"):
        if value.startswith(line_break):
            value = value[len(line_break) :]
            return value[:-2] if value.endswith("\r\n") else value.removesuffix("\n")
    return value


def _write(writer: CallWriter, text: str, kind: str, decode: Callable[[str], object] | None) -> None:
    text = encodable(text)
    decoded = decode(text) if decode is not None else text
    if decoded is not text:
        writer.value(decoded)
    elif kind == "text":
        writer.value(text)
    elif kind == "json":
        writer.value(_decoded(text))
    else:
        writer.written(text)


def _layout_before_cdata(source: Source) -> Reading[int]:
    """Return how much white space stands before the CDATA that the value begins with; -1 where it does not."""
    while True:
        found = _LAYOUT.match(source.text, source.pos)
        assert found is not None
        if found.end() < len(source.text) or source.final:
            break
        yield
    size = found.end() - source.pos
    return size if (yield from literal_at(source, (_CDATA,), size)) else -1


def _read_cdata(source: Source, text: TaggedText, layout: int) -> Reading[None]:
    """Take the sections that the value begins with, marks included: no tag in them ends it."""
    while True:
        begun = layout + len(_CDATA)
        text.add(source.text[source.pos : source.pos + begun])
        source.pos += begun
        yield from delimited(source, text.add, _CDATA_END)
        text.add(_CDATA_END)
        layout = 0
        if not (yield from literal_at(source, (_CDATA,))):
            return


def _without_cdata(text: str) -> str:
    """Return what the CDATA sections say that a value consists of; any other value as it is."""
    bare, at = text.strip(), 0
    parts: list[str] = []
    while bare.startswith(_CDATA, at):
        end = bare.find(_CDATA_END, at)
        if end < 0:
            return text
        parts.append(bare[at + len(_CDATA) : end])
        at = end + len(_CDATA_END)
    return "".join(parts) if parts and at == len(bare) else text
