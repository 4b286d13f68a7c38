"""How a small model is asked in a round, and what leads from one way of asking to the next: one table."""

from __future__ import annotations

from typing import Literal, get_args

Way = Literal["menu", "free", "pick", "anew", "guided", "answer", "talk"]
"""What a round asks for: a name alone, which is no call; words or a call; a call or "none"; the call of the turn before
for another thing; a call with known ids; an answer that may tell an id; words, where nothing is to answer from."""
Event = Literal["picked", "doubted", "missed", "recalled", "declined", "refused", "needless", "ran", "told", "insisted"]
_ANY: tuple[Way, ...] = get_args(Way)
MOVES: dict[Event, tuple[tuple[Way, ...], Way]] = {
    "picked": (("menu",), "free"),  # The tool of that name is shown, with its parameters.
    "doubted": (("free", "anew"), "pick"),  # Words where a call was likely: once more, and "none" lets them stand.
    "missed": (("free", "anew"), "guided"),  # Words that are surely no answer: once more, with no way out.
    "recalled": (("free",), "anew"),  # Words with a result in view: is it another thing than that one's?
    "declined": (_ANY, "talk"),  # None is needed: the model's words stand.
    "refused": (_ANY, "guided"),  # A call that cannot run as it is: once more, with what can be called now.
    "needless": (_ANY, "talk"),  # Nobody asked for it, it ran before, or it was refused too often: an end.
    "ran": (_ANY, "guided"),  # What follows on the result, if anything: else the answer.
    "told": (("guided", "talk"), "answer"),  # The answer is written, and may tell an id in place of what it is of.
    "insisted": (_ANY, "free"),  # The run must still produce something: as at the start.
}
"""Of each event the ways in which it can happen, and the way that it leads to."""
