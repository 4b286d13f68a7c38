"""What was said so far: passes text and reasoning on as events, decides about white space, accounts for the input."""

from __future__ import annotations

from naru.dialects.events import Event, Reasoning, Span, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RECENT = 600
"""Characters: more than what introduces a call is looked for in, however small the pieces in which it came."""
_PIECES = 64


class Transcript:
    """Collects the text side of a reply; `position` is how far the input is accounted for."""

    def __init__(self, events: list[Event], *, keep: bool, emits: bool = True) -> None:
        self.events = events
        self._emits = emits
        self.keep = keep
        """Whether content and reasoning are kept for `Parsed`, not only passed on."""
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.spans: list[list[Any]] = []
        self.position = 0
        self._space: list[str] = []
        self.has_content = False
        self.has_reasoning = False
        self.after_call = False
        """Whether nothing but white space came since a call."""
        self.paused = False
        """Whether white space and markers are passed over, since the calls before them are not judged yet."""
        self.gap: list[str] = []
        """The white space after such calls."""
        self._drop_leading = False
        self._after_layout = False
        self._recent: list[str] = []
        self._thought_begun = False
        self._thought_held = ""

    @property
    def space(self) -> str:
        """White space that is not said yet: it may be the layout around a call."""
        if len(self._space) > 1:
            self._space = ["".join(self._space)]
        return self._space[0] if self._space else ""

    @space.setter
    def space(self, space: str) -> None:
        self._space = [space] if space else []

    def account(self, kind: str, upto: int) -> None:
        """Say what the input up to a position was."""
        if upto <= self.position:
            return
        if self.spans and self.spans[-1][0] == kind != "call":
            self.spans[-1][2] = upto
        else:
            self.spans.append([kind, self.position, upto])
        self.position = upto

    def recent(self) -> str:
        """Return the last of the text that was said, at most 600 characters."""
        return "".join(self._recent)[-_RECENT:]

    def at_line_start(self) -> bool:
        """Tell whether what comes next begins a line of the content, or follows a call."""
        return not self.has_content or "\n" in self.space or self.after_call

    def in_indented_code(self) -> bool:
        """Tell whether what comes next begins a line of Markdown's indented code."""
        return self.has_content and not self.after_call and self.space.endswith(("\n\n    ", "\n\n\t"))

    def say(self, text: str, upto: int) -> None:
        """Say text that ends at position `upto`; white space at its end waits."""
        body = text.rstrip()
        if not body:
            if self.paused:
                self.gap.append(text)
            else:
                self._space.append(text)
            return
        assert not self.paused
        if self._drop_leading:
            self.account("dropped", upto - len(text.lstrip()))
            body = body.lstrip()
        elif self.space:
            body = self.space + body
        self.space = text[len(text.rstrip()) :]
        self._drop_leading = self._after_layout = self.after_call = False
        self.has_content = True
        self.plain(body)
        self.account("text", upto - len(self.space))

    def goes_on(self) -> bool:
        """Tell whether text that comes next goes on a line of text, after one blank at most."""
        return self.has_content and (not self._space or (self._space == [" "] and not self._after_layout))

    def go_on(self, text: str) -> None:
        """Say text of a line that goes on, without accounting for it; one blank at its end waits, as in `say`."""
        if self._space:
            text = self._space[0] + text
            self._space = []
        if text[-1] == " ":
            text, self._space = text[:-1], [" "]
        self.plain(text)

    def plain(self, text: str) -> None:
        """Say text that neither begins nor ends with white space that matters, without accounting for it."""
        if self._emits:
            self.events.append(Text(text))
        if self.keep:
            self.content.append(text)
        self._recent.append(text)
        if len(self._recent) > _PIECES:
            self._recent = [self.recent()]

    def settle(self, upto: int, *, keep_space: bool = False) -> None:
        """Decide about waiting white space because something that is not text comes at `upto`."""
        if self.paused:
            return
        if self.space and keep_space and self.has_content and not self.after_call:
            self.plain(self.space)
            self.account("text", upto)
        self.account("dropped", upto)
        self.space = ""

    def pause(self) -> None:
        """Pass over white space and markers from here on: there are calls that are not judged yet."""
        self.paused = self.after_call = True
        self.gap.clear()

    def go_on_after(self, units: list[tuple[int, int, bool]], upto: int, *, after_call: bool) -> None:
        """Account for calls that were judged, and for what was passed over up to a position."""
        self.paused, self.after_call = False, after_call
        for start, end, keeps_space in units:
            self.settle(start, keep_space=keeps_space)
            self.leave("call", end, call=True)
        gap = "".join(self.gap)
        self.leave("dropped", upto - len(gap), call=True)
        self.space = gap

    def leave(self, kind: str, upto: int, *, call: bool = False) -> None:
        """Account for something that is not text and ends at `upto`."""
        if self.paused:
            self.gap.clear()
            return
        self.account(kind, upto)
        self.after_call = self.after_call or call
        self._drop_leading = not self.has_content
        self._after_layout = True

    def think(self, text: str, upto: int) -> None:
        """Pass reasoning on; one line break at its beginning and one at its end are layout."""
        start = upto - len(text)
        if text and not self._thought_begun:
            self._thought_begun = True
            if text.startswith("\n"):
                text = text[1:]
                start += 1
                self.account("dropped", start)
        if self._thought_held and text:
            text, self._thought_held = self._thought_held + text, ""
        if text.endswith("\n"):
            text, self._thought_held = text[:-1], "\n"
        if text:
            self._reason(text)
            self.account("reasoning", upto - len(self._thought_held))

    def _reason(self, text: str) -> None:
        self.has_reasoning = True
        if self._emits:
            self.events.append(Reasoning(text))
        if self.keep:
            self.reasoning.append(text)

    def begin_thought(self) -> None:
        """Begin a block of reasoning."""
        self._thought_begun, self._thought_held = False, ""

    def end_thought(self, upto: int, *, cut: bool = False) -> None:
        """End a block of reasoning at `upto`, or with the text, which keeps its last line break."""
        if self._thought_held and cut:
            self._reason(self._thought_held)
            self.account("reasoning", upto)
        self.account("dropped", upto)
        self._thought_held = ""
        self._drop_leading = not self.has_content

    def content_was_reasoning(self) -> None:
        """Take what was said so far for reasoning whose opening tag stood in the prompt."""
        self.reasoning = ["".join([*self.reasoning, *self.content]).strip("\n")]
        self.content = []
        for span in self.spans:
            span[0] = {"text": "reasoning", "call": "dropped"}.get(span[0], span[0])
        self.has_content, self.has_reasoning = False, True
        self._recent.clear()
        self._drop_leading = True

    def finish(self, upto: int) -> None:
        """End the text: white space that still waits belongs to it unless it follows a call."""
        if self.space and not self._after_layout:
            self.plain(self.space)
            self.account("text", upto)
        self.account("dropped", upto)
        self.space = ""

    def all_spans(self) -> tuple[Span, ...]:
        """Return what every piece of the input so far was."""
        return tuple([Span(*span) for span in self.spans])
