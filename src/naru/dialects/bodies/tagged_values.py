"""Values between tags: raw text that ends only where the closing tag is followed by what may follow it."""

from __future__ import annotations

from naru.dialects.call_writer import CallWriter
from naru.dialects.literal import encodable, parse_literal
from naru.dialects.source import Incomplete, Reading, Source, literal_at, solid, space_end
from naru.dialects.tokens import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Implied = Callable[[Source, CallWriter, str, bool], Reading[bool]]

_CDATA = "<![CDATA["


class Ending:
    """How a value between tags ends.

    Args:
        closer: the closing tag of the value; it is consumed.
        followers: what may come after the closing tag and white space; one before anything else is text.
        implied_by: what ends a value whose own closing tag was forgotten; it is not consumed.
        implied: judges one of `implied_by`, given whether it stands at the start of a line.
    """

    __slots__ = ("closer", "every", "followers", "implied")

    def __init__(
        self, closer: str, followers: tuple[str, ...], implied_by: tuple[str, ...] = (), implied: Implied | None = None
    ) -> None:
        self.closer = closer
        self.followers = Tokens(followers)
        self.every = Tokens((closer, *implied_by))
        self.implied = implied


class TaggedText:
    """Takes a value's text piece by piece and passes it on where only text is allowed.

    Args:
        writer: Takes the value; the argument's key was written.
        kind: "text" when the tag says that it is text, "json" when it says that it is not, else "".
        trim: Whether one line break after the opening tag, and then one before the closing tag, is layout.
    """

    def __init__(self, writer: CallWriter, *, kind: str = "", trim: bool = False) -> None:
        self._writer = writer
        self._kind = kind
        self._trim = trim
        self._parts: list[str] = []
        self._held = ""
        self._begun = False
        self._trimmed = False
        self._streams = writer.takes_text if kind == "text" else writer.takes_text_only and kind != "json"
        self.at_line_start = True
        if self._streams:
            writer.open_text()

    def add(self, piece: str) -> None:
        """Take the next piece of the value."""
        if not piece:
            return
        self.at_line_start = piece.endswith("\n")
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
        if self._trimmed:
            kept = piece.removesuffix("\n").removesuffix("\r")
            piece, self._held = kept, piece[len(kept) :]
        self._put(piece)

    def _put(self, piece: str) -> None:
        if self._streams:
            self._writer.text(piece)
        else:
            self._parts.append(piece)

    def finish(self) -> None:
        """End the value."""
        if not self._trimmed or self._held not in ("\n", "\r\n"):
            self._put(self._held)
        if self._streams:
            self._writer.close_text()
            return
        _write(self._writer, "".join(self._parts), self._kind)


def _decoded(text: str) -> object:
    try:
        return parse_literal(text)
    except ValueError:
        return encodable(text)


def read_tagged_text(
    source: Source, writer: CallWriter, ending: Ending, *, kind: str = "", trim: bool = False
) -> Reading[None]:
    """Read a value up to its end as `ending` says, closing tag included.

    Args:
        source: Stands after the opening tag.
        writer: Takes the value; the argument's key was written.
        ending: How it ends.
        kind: "text" when the tag says that it is text, "json" when it says that it is not, else "".
        trim: Whether one line break after the opening tag, and then one before the closing tag, is layout.
    """
    plain = _take_plain(source, ending)
    if plain is not None:
        _write(writer, _trimmed(plain) if trim else plain, kind)
        return
    text = TaggedText(writer, kind=kind, trim=trim)
    if (yield from literal_at(source, (_CDATA,))):
        yield from _read_cdata(source, text)
    anchor = ending.closer[0]
    while True:
        at = source.text.find(anchor, source.pos)
        if at < 0:
            text.add(source.text[source.pos :])
            source.pos = len(source.text)
            if source.final:
                raise Incomplete
            yield
            continue
        text.add(source.text[source.pos : at])
        source.pos = at
        found = yield from literal_at(source, ending.every)
        if found == ending.closer:
            if (yield from _followed(source, len(found), ending.followers)):
                source.pos += len(found)
                break
        elif found and ending.implied and (yield from ending.implied(source, writer, found, text.at_line_start)):
            break
        text.add(source.text[source.pos])
        source.pos += 1
    text.finish()


def _take_plain(source: Source, ending: Ending) -> str | None:
    """Consume and return the value if all of it has come and the first bracket in it is its closing tag's."""
    closer = ending.closer
    end = source.text.find(closer[0], source.pos)
    if end < 0 or not source.text.startswith(closer, end):
        return None
    after = solid(source, end + len(closer) - source.pos)
    if after < 0 or not ending.followers.at(source.text, source.pos + after):
        return None
    value = source.text[source.pos : end]
    source.pos = end + len(closer)
    return value


def _trimmed(value: str) -> str:
    for line_break in ("\r\n", "\n"):
        if value.startswith(line_break):
            value = value[len(line_break) :]
            return value[:-2] if value.endswith("\r\n") else value.removesuffix("\n")
    return value


def _write(writer: CallWriter, text: str, kind: str) -> None:
    if kind == "text":
        writer.value(encodable(text))
    elif kind == "json":
        writer.value(_decoded(text))
    else:
        writer.written(text)


def _followed(source: Source, size: int, followers: Tokens) -> Reading[bool]:
    """Tell whether one of `followers`, or the end of the text, comes after `size` characters and white space."""
    offset = yield from space_end(source, size)
    if source.pos + offset >= len(source.text):
        return True
    return bool((yield from literal_at(source, followers, offset)))


def _read_cdata(source: Source, text: TaggedText) -> Reading[None]:
    source.pos += len(_CDATA)
    while True:
        end = source.text.find("]]>", source.pos)
        if end >= 0:
            text.add(source.text[source.pos : end])
            source.pos = end + 3
            return
        safe = max(source.pos, len(source.text) - 2)
        text.add(source.text[source.pos : safe])
        source.pos = safe
        if source.final:
            raise Incomplete
        yield
