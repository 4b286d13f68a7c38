"""What is remembered between two requests goes when its time is over, asked for or not."""

from __future__ import annotations

import pytest

from naru.messages import Message, ToolCall
from naru.models.scripted import ScriptedBackend
from naru.web.face import memory
from naru.web.face.answers import Answers
from naru.web.face.memory import Recent, place_of
from tests.web.conftest import MemoryHub


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


def test_the_oldest_make_room_for_what_is_large_and_what_is_too_large_is_not_kept() -> None:
    kept: Recent[str] = Recent(size=len, most=10)
    for key, value in (("a", "xxxx"), ("b", "xxxx"), ("a", "yy"), ("c", "xxxx")):
        kept.put(key, value)
    assert [kept.get(key) for key in "abc"] == ["yy", "xxxx", "xxxx"]
    kept.put("d", "x")
    assert [kept.get(key) for key in "abcd"] == ["yy", None, "xxxx", "x"]
    kept.put("e", "x" * 11)
    assert [kept.get(key) for key in "acde"] == ["yy", "xxxx", "x", None]


def test_a_long_history_is_read_once_for_what_the_hub_s_tools_gave_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    history = [Message("system", "Be kind."), Message("user", "Go on.")]
    for number in range(100):
        call = ToolCall(f"c{number}", "look", {"at": number})
        history += [Message("assistant", tool_calls=(call,)), Message("tool", "seen", tool_call_id=call.id)]
    kept = Message("assistant", "what the hub's tool gave")
    answers = Answers(MemoryHub(ScriptedBackend([])))
    answers._hub_turns.put(place_of("ann", history[:-2], history[-2].tool_calls[0]), (kept,))
    read, canonical = [], memory.canonical
    monkeypatch.setattr(memory, "canonical", lambda call: read.append(call) or canonical(call))
    assert answers._with_hub_turns("ann", history) == [*history[:-2], kept, *history[-2:]]
    assert len(read) == 100
