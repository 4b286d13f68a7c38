"""What is remembered between two requests goes when its time is over, asked for or not."""

from __future__ import annotations

from naru.web.face.memory import Recent


def test_what_is_too_old_makes_room_though_nobody_asks_for_it() -> None:
    now = [0.0]
    kept: Recent[str] = Recent(seconds=10, entries=100, clock=lambda: now[0])
    for name in "abc":
        kept.put(name, name)
    now[0] = 5
    kept.put("a", "again")
    now[0] = 11
    kept.put("d", "d")
    assert (len(kept), kept.get("a"), kept.get("b"), kept.get("d")) == (2, "again", None, "d")
