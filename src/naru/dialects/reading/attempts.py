"""Runs attempts to read calls: lets what they wrote stand, or gives their text back.

Calls that an attempt read stand next to others in a group until what comes after them is known: it may show that
they were shown, not made (`shown.py`).
"""

from __future__ import annotations

from naru.dialects.bodies.unmarked import LONGEST_FENCE
from naru.dialects.catalog.marked import MARKED
from naru.dialects.judging.shown import LIMIT, doubt_of, facts
from naru.dialects.reading.attempt import HELD, Attempt, Group, undo
from naru.dialects.reading.state import ReaderState
from naru.dialects.scanner import Body
from naru.dialects.texts.source import Incomplete, NotACall, Reading

_KEEPS_SPACE = frozenset(row.name for row in MARKED if row.keep_space)
_HEADERS = tuple(opener for row in MARKED if row.reader == "header" for opener in row.openers)
_LONG_FAILURE = 2000
_MOST_ASKED = 32
"""Sentences of a reply that are asked for their meaning, before calls begin and when they are judged: each takes
longer than reading ten pages, and a reply may have thousands."""
_MOST_COMPARED = 32
"""Calls before those that are judged: who explains a call says it again."""
_INDENT = 100
"""Characters: white space right before a call, as much of it as tells anything."""


class Attempts:
    """Runs one attempt after the other."""

    def __init__(self, state: ReaderState) -> None:
        self._state = state
        self._begun = 0
        self._judged = 0

    def begin(self, reader: Reading[Body | None], kind: str, opener: str) -> None:
        """Begin an attempt at the source's position."""
        state = self._state
        source, writer, said = state.source, state.writer, state.said
        before = ""
        if state.group is None and said.has_content and kind != "draft":
            before = said.recent() + said.space[-_INDENT:]
        self._begun += 1
        source.mark()
        writer.span_start = source.offset
        state.attempt = Attempt(reader, kind, opener, before=before, source=source, writer=writer)
        if state.shown_upto:
            state.attempt.since_shown = source.offset - state.shown_upto
        if state.attempt.held:
            writer.hold(state.attempt.events)

    def go_on(self, attempt: Attempt) -> bool:
        """Run an attempt as far as the text goes; False when it needs more."""
        source = self._state.source
        try:
            next(attempt.reader)
        except StopIteration as end:
            self._succeed(attempt, end.value)
            return source.pos < len(source.text) or self._state.group is not None
        except Incomplete:
            self._fail(attempt, ended=source.final)
            return True
        except NotACall:
            self._fail(attempt, ended=False)
            return True
        if not attempt.held and attempt.is_doubtful(by_meaning=self._begun <= _MOST_ASKED):
            attempt.held = True
            self._state.writer.hold(attempt.events)
        return False

    def _succeed(self, attempt: Attempt, body: Body | None) -> None:
        state = self._state
        source, writer, said = state.source, state.writer, state.said
        state.attempt = None
        state.lines.acted = state.lines.acted or attempt.kind == "action"
        if len(writer.calls) > attempt.calls:
            self._join(attempt, source.offset)
        elif state.group is None:
            self._leave(attempt)
        if attempt.kind == "draft":
            state.body = None
        if body is not None or attempt.kind == "draft":
            self.accept()
        if body is not None:
            state.body = body
            if body.kind == "reasoning":
                said.begin_thought()
                writer.release()

    def _leave(self, attempt: Attempt) -> None:
        """Account for markers that announced no call."""
        state = self._state
        state.said.settle(attempt.start, keep_space=state.writer.dialect in _KEEPS_SPACE)
        state.said.leave("dropped", state.source.offset)
        state.line_start = True
        self._settle()

    def _join(self, attempt: Attempt, upto: int) -> None:
        """Put the calls that were read to those that are not judged yet."""
        state = self._state
        writer, said = state.writer, state.said
        if state.group is None:
            state.group = Group(attempt, was_after_call=said.after_call)
        said.pause()
        group = state.group
        writer.extend(upto)
        group.units.append((attempt.start, upto, writer.dialect in _KEEPS_SPACE))
        group.end = upto
        group.held = group.held and attempt.held
        state.line_start = True

    def judge(self, after: str) -> None:
        """Decide about the calls that were read, now that it is known what comes after them."""
        state = self._state
        group = state.group
        assert group is not None
        calls = state.writer.calls[group.first.calls :]
        first = group.first
        self._judged += 1
        gap = "".join(state.said.gap)
        found = facts(first.before, first.opener, gap, after, calls, by_meaning=self._judged <= _MOST_ASKED)
        if state.seen and state.seen.has(state.source.kept(first.start, group.end)):
            found.append("read in a tool's result")
        if state.shown_upto:
            found.append("another was shown")
        earlier = state.writer.calls[max(0, first.calls - _MOST_COMPARED) : first.calls]
        made = [(call.name, call.arguments) for call in earlier]
        if made and all((call.name, call.arguments) in made for call in calls):
            found.append("made before")
        if doubt_of(found) >= LIMIT:
            self._withdraw(group, found)
        else:
            self.accept()

    def accept(self) -> None:
        """Let the calls that were read stand."""
        state = self._state
        group, said = state.group, state.said
        if group is not None:
            state.group = None
            said.go_on_after(group.units, state.source.offset, after_call=group.was_after_call)
        state.writer.accept()
        self._settle()

    def _withdraw(self, group: Group, found: list[str]) -> None:
        """Take the calls that were read for text; `found` says why."""
        state = self._state
        writer, said, source = state.writer, state.said, state.source
        names = ", ".join(call.name for call in writer.calls[group.first.calls :])
        undo(group.first, writer, held=group.held)
        writer.repair("shown-call", names, ", ".join(found))
        state.shown_upto = group.end
        state.group = None
        said.paused, said.after_call = False, group.was_after_call
        source.rewind(group.first.start)
        state.line_start = state.lines.in_json = False
        state.lines.acted = state.lines.acted and bool(writer.calls)
        state.say_upto(group.end - source.base)
        self._settle()

    def _settle(self) -> None:
        """Stop keeping text and events that nothing can take back any more."""
        state = self._state
        if state.attempt is None and state.group is None:
            state.source.forget()
            state.writer.held_from = None

    def _fail(self, attempt: Attempt, *, ended: bool) -> None:
        state = self._state
        writer, source = state.writer, state.source
        state.attempt = None
        failed_at = source.offset
        begun = writer.tool.name if writer.tool is not None else ""
        if attempt.kind == "draft":
            undo(attempt, writer)
            source.rewind(attempt.start)
            state.no_marker_before = max(failed_at, attempt.start + 1)
            self._settle()
            return
        if attempt.kind == "action" and len(writer.calls) > attempt.calls:
            state.shown_upto = failed_at  # what follows it under its label is no other call
        marked = attempt.kind == "marked"
        lost = bool(begun) or (ended and source.cut and marked)
        if attempt.kind not in HELD and len(writer.calls) > attempt.calls:
            # The calls before the break stand.
            writer.break_off()
            source.rewind(writer.span_start)
            self._join(attempt, writer.span_start)
            if lost:
                self._say_broken(begun or attempt.opener, failed_at, ended=ended)
            return
        undo(attempt, writer)
        source.rewind(attempt.start)
        if lost and (ended or attempt.kind not in HELD):
            self._say_broken(begun or attempt.opener, failed_at, ended=ended)
        elif state.group is not None:
            state.prose_at = attempt.start
            state.line_start = False
        else:
            self._give_back(attempt, failed_at, ended=ended)
            self._settle()

    def _say_broken(self, name: str, failed_at: int, *, ended: bool) -> None:
        """Take a call that was begun and can never be completed for text, with all that was read of it.

        What stands inside was an argument: none of it is tried as a call.
        """
        state = self._state
        source = state.source
        end = len(source.text) if ended else failed_at - source.base
        begun = source.text[source.pos : end]
        if ended and source.cut and (state.group is not None or self._announces_only(begun)):
            if begun.strip():
                state.writer.leave_out(begun)
            self.accept()
            state.said.settle(source.offset)
            source.pos = end
            state.said.leave("dropped", source.offset)
            return
        self.accept()
        state.writer.repair("incomplete-call", name)
        state.line_start = False
        state.say_upto(end)
        self._settle()

    def _announces_only(self, begun: str) -> bool:
        """Tell whether a text that was cut off is a marker or a header with nothing in it."""
        return begun.rstrip() == self._state.markers.tokens.at(begun, 0) or begun.startswith(_HEADERS)

    def _give_back(self, attempt: Attempt, failed_at: int, *, ended: bool) -> None:
        """Take the attempt's text for text: its opener, and look again after that.

        Where a line's attempt lasted to the end of the text none of the lines inside it is tried again.
        """
        state = self._state
        source = state.source
        if attempt.kind == "fence":
            state.body = Body("code", ("\n" + _fence_at(source.text, source.pos),))
        elif attempt.kind in ("line", "action"):
            state.lines.in_json = source.text[source.pos : source.pos + 1] in ("{", "[")
            state.no_line_before = failed_at if ended else attempt.start + 1
        else:
            state.say_upto(source.pos + len(attempt.opener))
            if failed_at - attempt.start > _LONG_FAILURE:
                state.no_marker_before = failed_at


def _fence_at(text: str, at: int) -> str:
    """Return the whole mark that opens a fence: only one as long closes it."""
    end = at
    while end - at < LONGEST_FENCE and text.startswith(text[at], end):
        end += 1
    return text[at:end]
