"""The reader: text in, events out, the same under every split of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naru.dialects.events import Event, Parsed, ParsedCall, Repair, Span
from naru.dialects.reading.state import ReaderState, new_state
from naru.dialects.reading.text_reader import TextReader
from naru.dialects.scanner import TRIGGER
from naru.dialects.tool import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CUT = ("length", "max_tokens", "MAX_TOKENS", "incomplete")


class StreamParser:
    """Reads one reply of a model as it arrives.

    A call's `CallStart` and `ArgumentsDelta`s come as soon as it is certain that an offered tool is called; only its
    `CallEnd` makes it a call. One that is begun and never ended was cut off or broken, and must not run. Where the
    prompt is not known and may have opened a block of reasoning, the ends come with `close`: a closing tag before
    that shows that the calls were drafts.

    Args:
        tools: What was offered, as `Tool`s or as the dictionaries of a chat request; nothing else is read as a call.
        hint: Model or dialect name; narrows, never restricts.
        generation_prompt: The end of the prompt, which may have opened a reasoning block; "" says that it has not.
        seen: What tools have returned in the conversation: a call that stands there word for word is a quotation.
        keep: Whether to keep the text for `parsed`; without it memory holds undecided text only.
    """

    def __init__(  # noqa: PLR0913 - keywords
        self,
        tools: Sequence[Tool | Mapping[str, Any]],
        *,
        hint: str | None = None,
        generation_prompt: str | None = None,
        seen: Sequence[str] = (),
        keep: bool = False,
    ) -> None:
        self._state = new_state(tools, hint, generation_prompt, seen, keep=keep, emits=True)
        self._reader = TextReader(self._state)
        self._said = self._state.said
        self._plain = False
        """Whether text without a trigger can only be text."""

    @property
    def calls(self) -> tuple[ParsedCall, ...]:
        """The complete calls so far, without those of which it is not known yet whether they were only shown."""
        group = self._state.group
        return tuple(self._state.writer.calls[: group.first.calls if group else None])

    @property
    def repairs(self) -> list[Repair]:
        """What was mended so far, and what was left out."""
        return self._state.writer.repairs

    @property
    def undecided(self) -> int:
        """How many characters came whose meaning is not known yet."""
        source = self._state.source
        return len(source.text) - source.pos

    @property
    def spans(self) -> tuple[Span, ...]:
        """What every piece of the input so far was read as."""
        return self._state.said.all_spans()

    def feed(self, delta: str) -> list[Event]:
        """Take the next piece of text and return what is certain by now."""
        state = self._state
        if self._plain:
            if delta and not TRIGGER.search(delta):
                state.source.base += len(delta)
                self._said.go_on(delta)
                return self._take_events()
            self._leave_plain()
        state.source.push(delta)
        self._reader.run()
        if state.attempt is None:
            self._plain = state.is_plain()
        return self._take_events()

    def close(self, finish_reason: str = "stop") -> list[Event]:
        """End the text and return the rest: what was held back becomes calls or text.

        Args:
            finish_reason: The engine's; after `length` nothing that is incomplete is taken for complete.
        """
        self._leave_plain()
        _read_to_the_end(self._state, self._reader, "", finish_reason)
        self._state.writer.release()
        return self._take_events()

    def parsed(self) -> Parsed:
        """Return the whole reply as it was read; `keep` must have been set."""
        return _parsed(self._state)

    def _leave_plain(self) -> None:
        if self._plain:
            self._said.account("text", self._state.source.offset - len(self._said.space))
            self._plain = False

    def _take_events(self) -> list[Event]:
        writer, log = self._state.writer, self._state.source.log
        if log is not None:
            log.compact()
        if writer.held_from is not None:
            writer.compact()
        elif writer.json:
            writer.flush()
        if not writer.events:
            return []
        ready = writer.take()
        self._said.events = writer.events
        return ready


def parse(  # noqa: PLR0913 - keywords
    text: str,
    tools: Sequence[Tool | Mapping[str, Any]],
    *,
    hint: str | None = None,
    generation_prompt: str | None = None,
    seen: Sequence[str] = (),
    finish_reason: str = "stop",
) -> Parsed:
    """Read a whole reply at once, by the same reader as `StreamParser`, so that whole and streamed cannot differ."""
    state = new_state(tools, hint, generation_prompt, seen, emits=False)
    _read_to_the_end(state, TextReader(state), text, finish_reason)
    return _parsed(state)


def _read_to_the_end(state: ReaderState, reader: TextReader, delta: str, finish_reason: str) -> None:
    source, said = state.source, state.said
    source.push(delta)
    source.final = True
    source.cut = finish_reason in _CUT
    reader.run()
    reader.report_left_out()
    if state.body is not None and state.body.kind == "reasoning":
        said.end_thought(source.offset, cut=True)
    said.finish(source.offset)


def _parsed(state: ReaderState) -> Parsed:
    said, writer = state.said, state.writer
    content, reasoning = "".join(said.content), "".join(said.reasoning)
    return Parsed(content, reasoning, tuple(writer.calls), tuple(writer.repairs), said.all_spans())
