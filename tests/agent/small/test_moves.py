"""The table of moves is whole: every event has its row, and every way of asking is begun with or led to."""

from __future__ import annotations

from typing import get_args

from naru.agent.small.moves import MOVES, Event, Way

BEGUN_WITH = {"menu", "free", "talk"}


def test_every_event_leads_on_and_every_way_of_asking_can_come() -> None:
    assert MOVES.keys() == set(get_args(Event))
    assert BEGUN_WITH | {to for _, to in MOVES.values()} == set(get_args(Way))
    assert all(set(ways) <= set(get_args(Way)) for ways, _ in MOVES.values())


def test_no_way_of_asking_is_without_an_end() -> None:
    """A call that is not wanted, none at all, and one too many, each end the search wherever they come."""
    for event in ("declined", "needless"):
        ways, to = MOVES[event]
        assert (set(ways), to) == (set(get_args(Way)), "talk")
