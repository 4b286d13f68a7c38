"""Runs attempts to read calls: lets what they wrote stand, or gives their text back."""

from __future__ import annotations

from naru.dialects.attempt import Attempt, undo
from naru.dialects.catalog.marked import MARKED
from naru.dialects.detect import shows_unmarked
from naru.dialects.scanner import Body
from naru.dialects.source import Incomplete, NotACall, Reading
from naru.dialects.state import ReaderState

_KEEPS_SPACE = frozenset(row.name for row in MARKED if row.keep_space)
_LONG_FAILURE = 2000


class Attempts:
    """Runs one attempt after the other."""

    def __init__(self, state: ReaderState) -> None:
        self._state = state

    def begin(self, reader: Reading[Body | None], kind: str, opener: str) -> None:
        """Begin an attempt at the source's position."""
        state = self._state
        state.source.mark()
        state.writer.span_start = state.source.offset
        state.attempt = Attempt(reader, kind, opener, source=state.source, writer=state.writer)

    def go_on(self, attempt: Attempt) -> bool:
        """Run an attempt as far as the text goes; False when it needs more."""
        try:
            next(attempt.reader)
        except StopIteration as end:
            self._succeed(attempt, end.value)
            return self._state.source.pos < len(self._state.source.text)
        except Incomplete:
            self._fail(attempt, ended=self._state.source.final)
            return True
        except NotACall:
            self._fail(attempt, ended=False)
            return True
        if not attempt.held and (self._state.source.log is not None or self._state.writer.tool is None):
            self._keep_only_what_may_come_back(attempt)
        return False

    def _keep_only_what_may_come_back(self, attempt: Attempt) -> None:
        """Stop keeping the text of a call that was announced; begin again after each call."""
        writer, source = self._state.writer, self._state.source
        if writer.tool is not None:
            source.log = None
        elif writer.span_start > attempt.marked:
            attempt.marked = writer.span_start
            source.mark(writer.span_start)

    def _succeed(self, attempt: Attempt, body: Body | None) -> None:
        writer, source, said = self._state.writer, self._state.source, self._state.said
        self._state.attempt = None
        pythonic = writer.dialect in ("pythonic", "list")
        if attempt.kind in ("line", "fence") and shows_unmarked(said.recent(), pythonic=pythonic):
            self._give_back(attempt, whole=True)
            return
        source.log = None
        self._leave_region(attempt, source.offset)
        self._state.lines.acted = self._state.lines.acted or attempt.kind == "action"
        if body is not None:
            self._state.body = body
            if body.kind == "reasoning":
                said.begin_thought()
                writer.release()

    def _leave_region(self, attempt: Attempt, upto: int) -> None:
        writer, said = self._state.writer, self._state.said
        some = len(writer.calls) > attempt.calls
        said.settle(attempt.start, keep_space=writer.dialect in _KEEPS_SPACE)
        writer.extend(upto)
        said.leave("call" if some else "dropped", upto, call=some)
        self._state.line_start = True
        if attempt.kind == "draft":
            self._state.body = None

    def _fail(self, attempt: Attempt, *, ended: bool) -> None:
        writer, source = self._state.writer, self._state.source
        self._state.attempt = None
        if attempt.held or (attempt.kind == "tag" and writer.tool is None):
            self._give_back(attempt, ended=ended)
        elif writer.tool is not None or (ended and source.cut):
            self._drop(attempt, ended=ended)
        elif len(writer.calls) > attempt.calls:
            source.rewind(writer.span_start)
            self._leave_region(attempt, writer.span_start)
        else:
            self._give_back(attempt, ended=ended)

    def _drop(self, attempt: Attempt, *, ended: bool) -> None:
        """Leave out a call that was begun and can never be completed, and what of it has come."""
        writer, source, said = self._state.writer, self._state.source, self._state.said
        if ended:
            source.pos = len(source.text)
        source.log = None
        name = writer.tool.name if writer.tool is not None else attempt.opener
        writer.tool = None
        writer.repair("incomplete-call", name)
        self._leave_region(attempt, writer.span_start)
        said.leave("dropped", source.offset, call=True)
        self._state.line_start = True

    def _give_back(self, attempt: Attempt, *, whole: bool = False, ended: bool = False) -> None:
        """Take the attempt's text for text: all of it when it was shown, else its opener, and look again after that.

        Where a line's attempt lasted to the end of the text none of the lines inside it is tried again.
        """
        writer, source = self._state.writer, self._state.source
        failed_at = source.offset
        undo(attempt, writer)
        source.rewind(attempt.start)
        if attempt.kind == "draft":
            self._state.no_marker_before = max(failed_at, attempt.start + 1)
            return
        if attempt.kind == "fence":
            self._state.body = Body("code", ("\n" + source.text[source.pos : source.pos + 3],))
        elif whole:
            self._state.say_upto(source.pos + failed_at - attempt.start)
        elif attempt.kind in ("line", "action"):
            self._state.lines.in_json = source.text[source.pos : source.pos + 1] in ("{", "[")
            self._state.no_line_before = failed_at if ended else attempt.start + 1
        else:
            self._state.say_upto(source.pos + len(attempt.opener))
            if failed_at - attempt.start > _LONG_FAILURE:
                self._state.no_marker_before = failed_at
