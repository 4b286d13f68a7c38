"""Reads ordinary text and the bodies in it, and says where an attempt to read a call begins."""

from __future__ import annotations

from naru.dialects.judging.shown import LOOK_AHEAD
from naru.dialects.reading.attempt import read_at_the_end, read_drafts, read_marked, read_suffixed_thought
from naru.dialects.reading.attempts import Attempts
from naru.dialects.reading.line_starts import WAIT
from naru.dialects.reading.state import ReaderState
from naru.dialects.scanner import Body, Marker

_FENCE = 3
"""So many backticks are a fence, or a part of one; less begin or end inline code."""
_MAY_FOLLOW_CALLS = ("calls", "closer", "structure", "stop")
"""What stands after a call without telling anything about it."""


class TextReader:
    """Reads until more text is needed."""

    def __init__(self, state: ReaderState) -> None:
        self._state = state
        self._attempts = Attempts(state)

    def run(self) -> None:
        """Read as far as the text goes."""
        state = self._state
        while True:
            if state.attempt is not None:
                more = self._attempts.go_on(state.attempt)
            elif state.body is not None:
                more = self._read_body(state.body)
            elif state.line_start:
                more = self._begin_line()
            elif state.group is not None:
                more = self._after_calls()
            else:
                more = self._read_text()
            if not more:
                return

    # Each of these does one step and tells whether another can be done with the text that has come.

    def _begin_line(self) -> bool:
        state = self._state
        token = self._marker_here()
        if token:
            state.line_start = False
            state.lines.at_beginning = False
            return self._at_marker(token, state.markers.table[token])
        candidate = None if state.source.offset < state.no_line_before else state.lines.candidate(state.source)
        if candidate is WAIT:
            return False
        if candidate is not None and candidate.kind == "invented" and state.group is not None:
            self._attempts.judge("")
            return True
        state.line_start = False
        if candidate is not None:
            self._attempts.begin(candidate.reader, candidate.kind, "")
        return True

    def _after_calls(self) -> bool:
        """Read on after calls that are not judged yet, up to text that tells whether they were made or shown."""
        state = self._state
        source, tokens = state.source, state.markers.tokens
        text, at = source.text, source.pos
        while at < len(text) and text[at].isspace():
            at += 1
        gap = text[source.pos : at]
        if gap:
            source.pos = at
            state.said.gap.append(gap)
            if "\n" in gap:
                state.line_start = True
                return True
        if at == len(text):
            if not source.final:
                return False
            self._attempts.judge("")
            return True
        if source.offset != state.prose_at:
            token = tokens.at(text, at)
            if not source.final and len(text) - at < tokens.longest and tokens.may_become(text[at:]):
                return False
            if token and source.offset >= state.no_marker_before:
                return self._at_marker(token, state.markers.table[token])
            if source.final and self._is_cut_marker():
                return True
        return self._judge_by(at)

    def _judge_by(self, at: int) -> bool:
        """Judge the calls that were read by the text at `at`, as soon as enough of it has come."""
        state = self._state
        source = state.source
        after = source.text[at : at + LOOK_AHEAD]
        paragraph = after.find("\n\n")
        if paragraph >= 0:
            after = after[:paragraph]
        elif len(after) < LOOK_AHEAD and not source.final:
            return False
        failed = source.offset == state.prose_at
        self._attempts.judge(after)
        if failed and source.offset == state.prose_at:
            state.line_start = True
        return True

    def _marker_here(self) -> str:
        """Return the marker that a line begins with, if it is certain by now and no offered tool is called so."""
        state, source, tokens = self._state, self._state.source, self._state.markers.tokens
        text, at = source.text, source.pos
        if not text.startswith("<", at) or source.base + at < state.no_marker_before:
            return ""
        token = tokens.at(text, at)
        if not token or token[1:-1] in state.writer.offered.names:
            return ""
        certain = source.final or len(text) - at >= tokens.longest or not tokens.may_become(text[at:])
        return token if certain else ""

    def _read_text(self) -> bool:
        state = self._state
        source, tokens = state.source, state.markers.tokens
        text, at = source.text, source.pos
        state.ticks *= at == len(text) or text[at] == "`"  # The run is over where anything else comes.
        end = len(text) if source.final else tokens.unfinished(text, at)
        search = tokens.first.search
        while True:
            found = search(text, at)
            if found is None or found.start() >= end:
                self._say_rest(end)
                return False
            place = found.start()
            first = text[place]
            at = place + 1
            if first == "\n":
                state.in_code = False
                if state.lines.may_begin(text, at):
                    return self._new_line(at)
            elif first == "`":
                before = state.ticks if place == source.pos else 0
                while text.startswith("`", at):
                    at += 1
                if at == len(text) and not source.final:
                    state.ticks = before
                    state.say_upto(place)
                    if before + at - place >= _FENCE:
                        state.ticks = before + at - place
                        state.say_upto(at)
                    return False
                state.ticks = 0
                state.in_code ^= before + at - place < _FENCE
            elif not state.in_code and source.base + place >= state.no_marker_before:
                token = tokens.at(text, place)
                if token:
                    state.say_upto(place)
                    return self._at_marker(token, state.markers.table[token])
                if first in "{[<" and self._may_call_after(place):
                    return self._new_line(place)

    def _is_cut_marker(self) -> bool:
        """Leave out the rest of the text if it is the beginning of a marker right after a call."""
        state, source = self._state, self._state.source
        rest = source.text[source.pos :].strip()
        if len(rest) < 2 or len(rest) >= state.markers.tokens.longest or not state.markers.tokens.may_become(rest):
            return False
        source.pos = len(source.text)
        state.writer.leave_out(rest)
        return True

    def _say_rest(self, end: int) -> None:
        """Say the text up to `end`; a special token that lacks but its bracket at the reply's end is left out."""
        state, source = self._state, self._state.source
        place = source.text.rfind("<", source.pos) if source.final and not state.in_code else -1
        token = source.text[place:].rstrip() if place >= 0 else ""
        marker = state.markers.table.get(f"{token}>") if token[1:2] in "|｜/" else None
        if marker is not None and marker.kind == "closer" and not state.said.after_call:
            marker = None  # with its bracket it is text as well
        if marker is None or marker.kind not in _MAY_FOLLOW_CALLS:
            state.say_upto(end)
            return
        state.say_upto(place)
        state.said.settle(source.offset)
        source.pos = end
        state.said.leave("dropped", source.offset)
        state.writer.leave_out(token)

    def _new_line(self, at: int) -> bool:
        self._state.say_upto(at)
        self._state.line_start = True
        return True

    def _may_call_after(self, place: int) -> bool:
        """Tell whether a bracket, or a tag as an item of a list, stands where a call may begin as on its own line."""
        state, source = self._state, self._state.source
        before = source.text[max(source.pos, place - 8) : place]
        if source.base + place <= state.tried or not state.lines.may_follow(before, source.text[place]):
            return False
        state.tried = source.base + place
        return True

    def _at_marker(self, token: str, marker: Marker) -> bool:
        state = self._state
        source, said = state.source, state.said
        state.lines.in_json = False
        if state.group is not None and marker.kind not in _MAY_FOLLOW_CALLS:
            self._attempts.accept()
        if marker.kind == "calls" and marker.row is not None:
            if token[0] == "<" and said.in_indented_code():
                state.say_upto(source.pos + len(token))
            else:
                self._attempts.begin(read_marked(source, state.writer, marker.row, token), "marked", token)
        elif (
            marker.thinking is not None
            and marker.kind == "thinking"
            and (marker.thinking.anywhere or said.at_line_start())
        ):
            self._open_thought(token, marker.thinking.closers)
        elif marker.kind == "stop":
            self._attempts.begin(read_at_the_end(source, state.writer, token), "marked", token)
        elif self._is_layout(token, marker):
            said.settle(source.offset)
            source.pos += len(token)
            said.leave("dropped", source.offset)
            if marker.thinking is None:
                state.writer.leave_out(token)
            state.line_start = True
        else:
            if marker.thinking is not None and marker.kind == "thinking":
                state.mentioned += marker.thinking.closers
            state.say_upto(source.pos + len(token))
        return True

    def _open_thought(self, token: str, closers: tuple[str, ...]) -> None:
        source, said = self._state.source, self._state.said
        if token.startswith("<") and token.endswith(":"):
            self._attempts.begin(read_suffixed_thought(source, token, closers[0]), "marked", token)
            return
        said.settle(source.offset)
        source.pos += len(token)
        said.leave("dropped", source.offset)
        said.begin_thought()
        self._state.writer.release()
        self._state.body = Body("reasoning", closers, drafts=True)

    def _is_layout(self, token: str, marker: Marker) -> bool:
        """Tell whether a marker that announces nothing is to be left out rather than said."""
        state, said = self._state, self._state.said
        if marker.kind == "structure":
            return True
        if marker.kind == "closer":
            return said.after_call
        if marker.kind == "answer" and not said.has_content:
            state.answer_closer = "</" + token[1:]
            return True
        if marker.kind == "answer-end" and token == state.answer_closer:
            state.answer_closer = ""
            return True
        if token in state.mentioned:
            state.mentioned = tuple(closer for closer in state.mentioned if closer != token)
            return False
        if marker.kind == "thinking-end" and not said.has_reasoning and (state.writer.waits or not state.writer.calls):
            self._close_unopened_thought()
            return True
        return False

    def _close_unopened_thought(self) -> None:
        """Take all that came for reasoning whose opening tag stood in the prompt, its calls for drafts."""
        state, said = self._state, self._state.said
        state.writer.withdraw()
        said.content_was_reasoning()

    def _read_body(self, body: Body) -> bool:
        state, source = self._state, self._state.source
        text, tokens = source.text, body.tokens
        place, token = tokens.find(text, source.pos)
        while token and token not in body.closers and source.base + place < state.no_marker_before:
            place, token = tokens.find(text, place + 1)
        if not token:
            self._pass_on(body, place if source.final else tokens.unfinished(text, source.pos))
            return False
        self._pass_on(body, place)
        if body.kind == "code":
            self._pass_on(body, place + len(token))
            state.body = None
        elif token in body.closers or token in body.pending:
            source.pos += len(token) if token in body.closers else 0
            self._end_body(body)
        else:
            reader = read_drafts(source, state.writer)
            self._attempts.begin(reader, "draft", token)
        return True

    def _pass_on(self, body: Body, end: int) -> None:
        source, said = self._state.source, self._state.said
        text = source.text[source.pos : end]
        source.pos = end
        if not text:
            return
        if body.kind == "reasoning":
            said.think(text, source.offset)
        elif body.kind == "dropped":
            said.account("dropped", source.offset)
            self._state.left_out.append(text)
        else:
            said.say(text, source.offset)

    def report_left_out(self) -> None:
        """Name the text of a body that is neither said nor a call, now that all of it has come."""
        left_out = self._state.left_out.take()
        if left_out.strip():
            self._state.writer.leave_out(left_out)

    def _end_body(self, body: Body) -> None:
        source, said = self._state.source, self._state.said
        self.report_left_out()
        if body.kind == "reasoning":
            said.end_thought(source.offset)
            said.has_reasoning = True
        else:
            said.settle(source.offset, keep_space=True)
            said.leave("dropped", source.offset)
        self._state.body = None
        self._state.line_start = True
