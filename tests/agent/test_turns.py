"""What a model call gave, put together in time that grows as it does."""

from __future__ import annotations

from naru.agent.turns import Turn
from naru.messages import Reasoning, Text

PIECES = 300_000


def test_a_long_answer_is_put_together_and_handed_on_in_no_time() -> None:
    turn, handed = Turn(), 0
    for _ in range(PIECES):
        turn.take(Reasoning("hmm "), set())
        turn.take(Text("word "), set())
        handed += len(turn.next_piece())
    assert (turn.text, turn.reasoning) == ("word " * PIECES, "hmm " * PIECES)
    assert handed == turn.streamed == 5 * PIECES


def test_what_the_client_has_not_got_is_handed_on_once() -> None:
    turn = Turn()
    turn.take(Text(" \n"), set())
    assert turn.begins == ""
    turn.take(Text("one"), set())
    assert (turn.begins, turn.next_piece(), turn.next_piece()) == ("o", " \none", "")
    turn.take(Text(" two"), set())
    assert (turn.next_piece(), turn.text) == (" two", " \none two")
