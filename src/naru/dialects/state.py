"""What the reader knows at one moment; the text reader and the attempts share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from naru.dialects.attempt import Attempt
from naru.dialects.call_writer import CallWriter
from naru.dialects.dialect import Body
from naru.dialects.line_starts import LineStarts
from naru.dialects.offered import Offered
from naru.dialects.scanner import Markers, first_body, markers
from naru.dialects.source import Source
from naru.dialects.tool import Tool
from naru.dialects.transcript import Transcript


@dataclass(slots=True)
class ReaderState:
    """Where one reply's reading stands."""

    source: Source
    writer: CallWriter
    said: Transcript
    lines: LineStarts
    markers: Markers
    attempt: Attempt | None = None
    """The attempt to read a call that is under way."""
    body: Body | None = None
    """What the text is until a closing tag: reasoning, say; None for ordinary text."""
    line_start: bool = True
    """Whether a line begins here that was not looked at yet."""
    in_code: bool = False
    """Whether the text is inside inline code."""
    no_line_before: int = 0
    """Up to where no line begins a call: an attempt showed it."""
    no_marker_before: int = 0
    """Up to where no marker counts: an attempt showed it."""
    mentioned: tuple[str, ...] = ()
    """Closing tags of reasoning whose opening tag was an ordinary word of the text."""
    answer_closer: str = ""
    """The closing tag of the answer that was opened."""
    tried: int = -1
    """The last place after a colon that was looked at."""

    def is_plain(self) -> bool:
        """Tell whether text without a trigger can, from here on, be nothing but text."""
        return (
            self.body is None and self.attempt is None and not self.line_start and not self.in_code
            and self.source.pos == len(self.source.text) and self.said.has_content and not self.said.space
            and not self.source.final and not self.markers.hinted
        )  # fmt: skip

    def say_upto(self, at: int) -> None:
        """Say the text up to a position in `source.text`."""
        source = self.source
        if at > source.pos:
            text = source.text[source.pos : at]
            source.pos = at
            self.said.say(text, source.offset)


def new_state(tools: Sequence[Tool], hint: str | None, generation_prompt: str | None, *, keep: bool) -> ReaderState:
    """Return the state at the beginning of a reply."""
    writer = CallWriter(Offered(tools))
    said = Transcript(writer.events, keep=keep)
    lines = LineStarts(writer, said)
    prompt = (generation_prompt or "")[-4000:]
    lines.header_may_follow = generation_prompt is None or prompt.rstrip().endswith("<|start|>assistant")
    lines.name_may_follow = prompt.endswith(">>>")
    table = markers("granite" if hint and "granite" in hint.lower() else "")
    return ReaderState(Source(), writer, said, lines, table, body=first_body(prompt) if prompt else None)
