"""What the loop says to models, in one place. No placeholder stands here that could be taken for a value."""

from __future__ import annotations

from collections.abc import Sequence

LAST_TURN = "Answer the question from the results above, in plain text. Do not call a tool."
NO_TOOLS_NOTE = "No tools could be loaded for this request; answer without them and say so if it matters."
UNAVAILABLE = "Some tools cannot be used now; do not guess what they would have said:"
UNKNOWN_TOOL = "That call was not made: it names no tool that is offered, or is not valid. Offered tools: {tools}."
REPEATED = "This call has been made already; its result is above. Use it, or call something else."
MODEL_FAILED = "(The model failed before it could answer: {fault} What its tools gave:)"
NOT_SHOWN = "Pictures, sound or files that a tool gave were not shown to the model, which is helped as a small one."
CUT_OFF = "(The limit on the reply's length cut it off before its call of {tools} was complete; nothing was called.)"
CUT_MARK = "\n[… {count} characters left out …]\n"


def cut(text: str, limit: int) -> str:
    """Keep head and tail of a long text within `limit` characters, the marker included (H12, N12)."""
    if len(text) <= limit:
        return text
    mark = CUT_MARK.format(count=len(text) - limit)
    room = max(0, limit - len(mark))
    head = room * 2 // 3
    tail = room - head
    return f"{text[:head]}{mark}{text[len(text) - tail :] if tail else ''}"[: max(limit, 0)]


def tools_note(problems: Sequence[str], *, missing: bool) -> str:
    """Return what the model is told about tools that it should have and has not (lesson 24)."""
    if problems:
        return f"{UNAVAILABLE} {'; '.join(problems)}."
    return NO_TOOLS_NOTE if missing else ""
