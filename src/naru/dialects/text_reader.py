"""Reads ordinary text and the bodies in it, and says where an attempt to read a call begins."""

from __future__ import annotations

import re

from naru.dialects.attempt import read_at_the_end, read_drafts, read_marked, read_suffixed_thought
from naru.dialects.attempts import Attempts
from naru.dialects.detect import shows_marked
from naru.dialects.dialect import Body
from naru.dialects.line_starts import WAIT
from naru.dialects.scanner import Marker, body_pattern, draft_openers, held_back, stray_closers
from naru.dialects.state import ReaderState


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
            else:
                more = self._read_text()
            if not more:
                return

    # Each of these does one step and tells whether another can be done with the text that has come.

    def _begin_line(self) -> bool:
        state = self._state
        candidate = None if state.source.offset < state.no_line_before else state.lines.candidate(state.source)
        if candidate is WAIT:
            return False
        state.line_start = False
        if candidate is not None:
            self._attempts.begin(candidate.reader, candidate.kind, "")
        return True

    def _read_text(self) -> bool:
        state = self._state
        source, pattern = state.source, state.markers.pattern
        at, end = source.pos, len(source.text)
        if not source.final:
            end = held_back(source.text, at, state.markers.prefixes, state.markers.longest)
        while True:
            found = pattern.search(source.text, at)
            if found is None or found.start() >= end:
                state.say_upto(end)
                return False
            first = found[0][0]
            if first == "\n":
                state.in_code = False
                at = found.end()
                if state.lines.may_begin(source.text, at):
                    return self._new_line(at)
            elif first == "`":
                if found.end() == len(source.text) and not source.final:
                    state.say_upto(found.start())
                    return False
                state.in_code ^= len(found[0]) < 3
                at = found.end()
            elif state.in_code or source.base + found.start() < state.no_marker_before:
                at = found.start() + 1
            elif found[0] in "{[":
                if self._follows_colon(found):
                    return self._new_line(found.start())
                at = found.start() + 1
            else:
                state.say_upto(found.start())
                return self._at_marker(found[0], state.markers.table[found[0]])

    def _new_line(self, at: int) -> bool:
        self._state.say_upto(at)
        self._state.line_start = True
        return True

    def _follows_colon(self, bracket: re.Match[str]) -> bool:
        """Tell whether a bracket comes right after a colon, where a call may begin as on a line of its own."""
        state, source = self._state, self._state.source
        place = source.base + bracket.start()
        if place <= state.tried or not state.lines.follows_colon(
            source.text[max(source.pos, bracket.start() - 8) : bracket.start()]
        ):
            return False
        state.tried = place
        return True

    def _at_marker(self, token: str, marker: Marker) -> bool:
        state = self._state
        source, said = state.source, state.said
        if marker.kind == "calls" and marker.row is not None:
            if shows_marked(said.recent() + said.space) or (token[0] == "<" and said.in_indented_code()):
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
            self._attempts.begin(read_at_the_end(source, token), "marked", token)
        elif self._is_layout(token, marker):
            said.settle(source.offset)
            source.pos += len(token)
            said.leave("dropped", source.offset)
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
        if marker.kind == "thinking-end" and not said.has_reasoning and not state.writer.calls:
            if said.has_content:
                said.content_was_reasoning()
            return True
        return False

    def _read_body(self, body: Body) -> bool:
        state, source = self._state, self._state.source
        pattern, prefixes, longest = body_pattern(body)
        found = pattern.search(source.text, source.pos)
        while found and found[0] not in body.closers and source.base + found.start() < state.no_marker_before:
            found = pattern.search(source.text, found.start() + 1)
        if found is None:
            end = len(source.text)
            self._pass_on(body, end if source.final else held_back(source.text, source.pos, prefixes, longest))
            return False
        self._pass_on(body, found.start())
        token = found[0]
        if body.kind == "code":
            self._pass_on(body, found.end())
            state.body = None
        elif token in body.closers or token in body.pending:
            source.pos += len(token) if token in body.closers else 0
            self._end_body(body)
        else:
            reader = read_drafts(source, state.writer, draft_openers(), stray_closers())
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
        else:
            said.say(text, source.offset)

    def _end_body(self, body: Body) -> None:
        source, said = self._state.source, self._state.said
        if body.kind == "reasoning":
            said.end_thought(source.offset)
            said.has_reasoning = True
        else:
            said.settle(source.offset, keep_space=True)
            said.leave("dropped", source.offset)
        self._state.body = None
        self._state.line_start = True
