"""One attempt to read calls: runs a body reader, and undoes what it wrote when it was no call after all."""

from __future__ import annotations

from naru.dialects.bodies.channels import read_element, read_header
from naru.dialects.bodies.gemma import read_gemma
from naru.dialects.bodies.marks import read_marks
from naru.dialects.bodies.tagged import read_tag, read_tagged
from naru.dialects.calls.writer import CallWriter
from naru.dialects.dialect import Dialect
from naru.dialects.judging.shown import NOTHING_BEFORE, Before
from naru.dialects.scanner import Body, draft_openers, draft_tokens, stray_closers
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import NotACall, Reading, Source, literal_at, space_end, until

_TAG_END = lazy_pattern(">")
HELD = frozenset({"line", "fence", "action", "draft"})
"""What a reader may be at whose events always wait for its end: nothing announced a call."""


class Attempt:
    """A reader at work.

    A live attempt passes its events on at once; a held one keeps them until it is known to be a call.

    Args:
        reader: the reader of what may be calls.
        kind: `marked`, `tag`, `line`, `fence`, `action`, `draft` or `invented`.
        opener: the marker that announced it.
        before: the text that stands before it.
        source: what is read.
        writer: takes the calls.
    """

    __slots__ = (
        "_before",
        "_text_before",
        "calls",
        "events",
        "held",
        "index",
        "kind",
        "opener",
        "reader",
        "repairs",
        "since_shown",
        "start",
    )

    def __init__(  # noqa: PLR0913 - keywords
        self,
        reader: Reading[Body | None],
        kind: str,
        opener: str,
        *,
        before: str,
        source: Source,
        writer: CallWriter,
    ) -> None:
        self.reader = reader
        self.kind = kind
        self.opener = opener
        self._text_before = before
        self._before: Before | None = None
        self.since_shown = 0
        """How many characters came since the last call that was only shown; 0 where none was."""
        self.start = source.offset
        self.events = writer.position
        self.calls = len(writer.calls)
        self.repairs = len(writer.repairs)
        self.index = writer.next_index
        self.held = kind in HELD
        """Whether its events must wait for its end."""

    @property
    def before(self) -> Before:
        """What stands before it, looked at when it is first asked for."""
        if self._before is None:
            text = self._text_before
            self._before = Before(text, text[-self.since_shown :]) if text else NOTHING_BEFORE
        return self._before

    def is_doubtful(self, *, by_meaning: bool) -> bool:
        """Tell whether what stands before it speaks against a call, so that none should be announced."""
        return self._before is None and self.before.is_doubtful(by_meaning=by_meaning)


class Group:
    """Calls next to each other of which it is not known yet whether they were made or only shown."""

    __slots__ = ("end", "first", "held", "units", "was_after_call")

    def __init__(self, first: Attempt, *, was_after_call: bool) -> None:
        self.first = first
        self.units: list[tuple[int, int, bool]] = []
        """Where each unit stands, and whether white space before it belongs to the text."""
        self.end = first.start
        self.held = True
        """Whether nobody has seen anything of them."""
        self.was_after_call = was_after_call


def undo(attempt: Attempt, writer: CallWriter, *, held: bool | None = None) -> None:
    """Take back everything that the attempt wrote, and what came after it."""
    writer.undo(
        events=attempt.events,
        calls=attempt.calls,
        repairs=attempt.repairs,
        index=attempt.index,
        held=attempt.held if held is None else held,
    )


def read_marked(source: Source, writer: CallWriter, row: Dialect, opener: str) -> Reading[Body | None]:
    """Return a reader of what a marker at `pos` announces, and of the closing tag after it."""
    writer.dialect = row.name
    if row.reader == "header":
        return read_header(source, writer)
    if row.reader == "xtml":
        return read_element(source, writer)
    if row.reader == "xml":
        return _read_with_closer(source, writer, row, read_tag(source, writer))
    if row.reader == "tagged":
        return read_tagged(source, writer, row, opener)
    if row.reader == "marks":
        return read_marks(source, writer, row, opener)
    return _read_with_closer(source, writer, row, read_gemma(source, writer, row, opener))


def _read_with_closer(source: Source, writer: CallWriter, row: Dialect, reader: Reading[None]) -> Reading[None]:
    """Read one call, and its closing tag if that is there."""
    yield from reader
    offset = yield from space_end(source)
    closer = yield from literal_at(source, row.closers, offset)
    if closer:
        source.pos += offset + len(closer)
    elif row.reader == "gemma" and source.cut and source.pos + offset >= len(source.text):
        writer.repair("missing-tag", "", row.closers[0])


def space_skipped(source: Source) -> Reading[None]:
    """Consume white space."""
    size = yield from space_end(source)
    source.pos += size


def read_drafts(source: Source, writer: CallWriter) -> Reading[Body | None]:
    """Read calls inside a block of reasoning that may never be closed: they count when nothing comes after them.

    Raises:
        NotACall: Something does, such as the block's closing tag.
    """
    rows, openers, closers = draft_openers(), draft_tokens(), stray_closers()
    while True:
        opener = yield from literal_at(source, openers)
        if not opener:
            raise NotACall
        before = len(writer.calls)
        yield from read_marked(source, writer, rows[opener], opener)
        if len(writer.calls) == before:
            raise NotACall
        yield from space_skipped(source)
        stray = yield from literal_at(source, closers)
        while stray:
            source.pos += len(stray)
            yield from space_skipped(source)
            stray = yield from literal_at(source, closers)
        if source.pos >= len(source.text):
            if source.cut:
                raise NotACall
            return None


def read_at_the_end(source: Source, writer: CallWriter, token: str) -> Reading[Body | None]:
    """Leave out a token that ends a reply; anywhere else it is text."""
    source.pos += len(token)
    yield from space_skipped(source)
    if source.pos < len(source.text):
        raise NotACall
    writer.leave_out(token)
    return None


def read_suffixed_thought(source: Source, opener: str, closer: str) -> Reading[Body | None]:
    """Read the rest of HY's `<think:suffix>`, whose closing tag has the same suffix."""
    end = yield from until(source, _TAG_END, 60)
    suffix = source.text[source.pos + len(opener) : end.end()]
    source.pos = end.end()
    return Body("reasoning", (closer + suffix,), drafts=True)
