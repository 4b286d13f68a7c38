"""What the reader knows at one moment; the text reader and the attempts share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naru.dialects.calls.offered import Offered
from naru.dialects.calls.writer import CallWriter
from naru.dialects.judging.seen import NOTHING_SEEN, Seen
from naru.dialects.reading.attempt import Attempt, Group
from naru.dialects.reading.line_starts import LineStarts
from naru.dialects.reading.transcript import Transcript
from naru.dialects.scanner import Body, Markers, first_body, markers
from naru.dialects.texts.pieces import Pieces
from naru.dialects.texts.source import Source
from naru.dialects.tool import Tool, as_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ReaderState:
    """Where one reply's reading stands."""

    __slots__ = (
        "answer_closer", "attempt", "body", "group", "in_code", "left_out", "line_start", "lines", "markers",
        "mentioned", "no_line_before", "no_marker_before", "prose_at", "said", "seen", "shown_upto", "source",
        "ticks", "tried", "writer",
    )  # fmt: skip

    def __init__(self, writer: CallWriter, said: Transcript, markers: Markers, body: Body | None) -> None:
        self.source = Source()
        self.writer = writer
        self.said = said
        self.lines = LineStarts(writer, said)
        self.markers = markers
        self.attempt: Attempt | None = None
        """The attempt to read a call that is under way."""
        self.group: Group | None = None
        """The calls that are not judged yet."""
        self.shown_upto = 0
        """Where the last calls end that were only shown; 0 where none were."""
        self.seen = NOTHING_SEEN
        """What tools returned: what stands there word for word is a quotation."""
        self.prose_at = -1
        """Where text begins after such calls: an attempt to read another there failed."""
        self.body = body
        """What the text is until a closing tag: reasoning, say; None for ordinary text."""
        self.line_start = True
        """Whether a line begins here that was not looked at yet."""
        self.in_code = False
        """Whether the text is inside inline code."""
        self.left_out = Pieces()
        """Text of a body that is neither said nor a call."""
        self.ticks = 0
        """How many backticks of a run, which may go on, were said already."""
        self.no_line_before = 0
        """Up to where no line begins a call: an attempt showed it."""
        self.no_marker_before = 0
        """Up to where no marker counts: an attempt showed it."""
        self.mentioned: tuple[str, ...] = ()
        """Closing tags of reasoning whose opening tag was an ordinary word of the text."""
        self.answer_closer = ""
        """The closing tag of the answer that was opened."""
        self.tried = -1
        """The last place after a colon that was looked at."""

    def is_plain(self) -> bool:
        """Tell whether text without a trigger can, from here on, be nothing but text."""
        return (
            self.body is None and self.attempt is None and self.group is None
            and not self.line_start and not self.in_code and not self.ticks
            and self.source.pos == len(self.source.text) and self.said.goes_on()
            and not self.source.final and not self.markers.hinted
        )  # fmt: skip

    def say_upto(self, at: int) -> None:
        """Say the text up to a position in `source.text`."""
        source = self.source
        if at > source.pos:
            text = source.text[source.pos : at]
            source.pos = at
            self.said.say(text, source.offset)


def new_state(
    tools: Sequence[Tool | Mapping[str, Any]],
    hint: str | None,
    generation_prompt: str | None,
    seen: Sequence[str],
    *,
    emits: bool,
    keep: bool = True,
) -> ReaderState:
    """Return the state at the beginning of a reply; `keep` and `emits` say whether text is kept, events are made."""
    writer = CallWriter(Offered(as_tools(tools)), emits=emits)
    said = Transcript(writer.events, keep=keep, emits=emits)
    prompt = (generation_prompt or "")[-4000:]
    table = markers("granite" if hint and "granite" in hint.lower() else "")
    state = ReaderState(writer, said, table, first_body(prompt) if prompt else None)
    if seen:
        state.seen = Seen(seen)
    writer.waits = generation_prompt is None
    state.lines.header_may_follow = generation_prompt is None or prompt.rstrip().endswith("<|start|>assistant")
    state.lines.channels_may_follow = hint is not None and any(name in hint.lower() for name in ("gpt-oss", "harmony"))
    state.lines.name_may_follow = prompt.endswith(">>>")
    return state
