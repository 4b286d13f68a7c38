"""Calls that wait for a person's yes (N9, S-56)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import sleep_as_the_machine, until

from naru.config import ApprovalSettings
from naru.deadlines import bound
from naru.errors import NotFoundError, PolicyError, StoreError
from naru.messages import ToolDefinition
from naru.stores.shared.commons import Alone
from naru.tools.supervision import approvals as module
from naru.tools.supervision import waiting_room
from naru.tools.supervision.approvals import Approvals, Decision
from naru.tools.supervision.calls import Call
from naru.tools.supervision.patience import patient
from naru.tools.supervision.waiting_room import Waiter, WaitingRoom

DELETE = ToolDefinition("delete", "Delete a file.", annotations={"destructiveHint": True})
CALL = Call("files", "delete", {"path": "/a"}, "key_1", DELETE)


def approvals(path: Path | None = None, *, destructive: bool = False, **settings: Any) -> Approvals:
    made = Approvals(ApprovalSettings(**settings), path, asks_for_destructive=destructive)
    made.load()
    return made


async def waiting_in(desk: Approvals) -> Waiter:
    await until(lambda: desk.waiting)
    return desk.waiting[0]


async def test_an_ordinary_call_never_waits() -> None:
    assert await approvals(destructive=True).decide(Call("hr", "get", {}, "", ToolDefinition("get"))) == "allowed"


@pytest.mark.parametrize(("decision", "outcome"), [("once", "approved_once"), ("always", "approved_always")])
async def test_a_marked_call_waits_until_a_person_says_yes(decision: str, outcome: str) -> None:
    desk = approvals(ask=["files/*"])
    call = asyncio.ensure_future(desk.decide(CALL))
    one = await waiting_in(desk)
    assert (one.why, json.loads(one.arguments)) == ("asked", {"path": "/a"})
    assert not call.done()
    await desk.answer(one.id, Decision(decision), by="key_op")
    assert await call == outcome
    assert desk.waiting == []


async def test_a_denied_call_is_not_made() -> None:
    desk = approvals(ask=["files/delete"])
    call = asyncio.ensure_future(desk.decide(CALL))
    await desk.answer((await waiting_in(desk)).id, Decision.DENY, by="key_op")
    with pytest.raises(PolicyError, match="denied"):
        await call


async def test_a_call_that_was_allowed_is_made_also_where_it_cannot_be_taken_off_the_list(tmp_path: Path) -> None:
    desk = approvals(tmp_path / "approvals.json", ask=["files/*"])
    call = asyncio.ensure_future(desk.decide(CALL))
    one, room = await waiting_in(desk), tmp_path / "waiting"
    await until(lambda: list(room.glob("*.json")))
    room.rename(tmp_path / "aside")
    room.write_text("no folder", encoding="utf-8")
    await desk.answer(one.id, Decision.ONCE, by="key_op")
    assert await call == "approved_once"


async def test_an_answer_is_good_for_one_call_alone() -> None:
    desk = approvals(ask=["files/*"])
    first = asyncio.ensure_future(desk.decide(CALL))
    one = await waiting_in(desk)
    await desk.answer(one.id, Decision.ONCE, by="key_op")
    await first
    second = asyncio.ensure_future(desk.decide(CALL))
    again = await waiting_in(desk)
    assert again.id != one.id
    with pytest.raises(NotFoundError):
        await desk.answer(one.id, Decision.ONCE, by="key_op")
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert desk.waiting == [], "a caller that went away waits no more"


async def test_always_is_kept_for_this_caller_and_this_definition_alone(tmp_path: Path) -> None:
    path = tmp_path / "approvals.json"
    desk = approvals(path, ask=["files/*"])
    call = asyncio.ensure_future(desk.decide(CALL))
    await desk.answer((await waiting_in(desk)).id, Decision.ALWAYS, by="key_op")
    await call
    assert path.stat().st_mode & 0o777 == 0o600
    later = approvals(path, ask=["files/*"], wait_seconds=0.01)
    assert await later.decide(replace(CALL, arguments={"path": "/b"})) == "approved_always"
    changed = replace(CALL, definition=replace(DELETE, description="Delete a file and tell everyone."))
    for other in (replace(CALL, caller="key_2"), changed):
        with pytest.raises(PolicyError, match="nobody answered"):
            await later.decide(other)
    await later.revoke(later.standing[0].id)
    with pytest.raises(PolicyError, match="nobody answered"):
        await approvals(path, ask=["files/*"], wait_seconds=0.01).decide(CALL)


@pytest.mark.parametrize(("on_timeout", "made"), [("deny", False), ("allow", True)])
async def test_silence_means_what_the_setting_says(on_timeout: str, made: bool) -> None:
    desk = approvals(ask=["*"], wait_seconds=0.01, on_timeout=on_timeout)
    if made:
        assert await desk.decide(CALL) == "approved_by_silence"
    else:
        with pytest.raises(PolicyError, match="nobody answered"):
            await desk.decide(CALL)


async def test_destructive_tools_wait_by_their_own_word_but_no_word_of_theirs_lets_them_through() -> None:
    """S-56: annotations are hints of strangers; they can only make it stricter."""
    desk = approvals(destructive=True, wait_seconds=0.01)
    with pytest.raises(PolicyError):
        await desk.decide(CALL)
    harmless = replace(DELETE, annotations={"readOnlyHint": True})
    with pytest.raises(PolicyError):
        await approvals(ask=["files/*"], wait_seconds=0.01).decide(replace(CALL, definition=harmless))


async def test_deny_beats_allow_and_allow_beats_ask() -> None:
    assert await approvals(ask=["*"], allow=["files/*"], destructive=True).decide(CALL) == "allowed"
    with pytest.raises(PolicyError, match=r"approvals\.deny"):
        await approvals(allow=["*"], deny=["files/delete"]).decide(CALL)


async def test_a_pattern_with_a_key_is_about_that_key_alone() -> None:
    """S-56: allow, ask and deny per key, server and tool."""
    mine, other = CALL, replace(CALL, caller="key_2")
    assert mine.caller != other.caller
    desk = approvals(ask=["*"], allow=[f"{mine.caller}@files/*"], wait_seconds=0.01)
    assert await desk.decide(mine) == "allowed"
    with pytest.raises(PolicyError, match="nobody answered"):
        await desk.decide(other)
    with pytest.raises(PolicyError, match=r"approvals\.deny"):
        await approvals(deny=["key_2@*/delete"]).decide(other)
    assert await approvals(deny=["key_2@*/delete"]).decide(mine) == "allowed"
    # A pattern without a key never reaches into the caller's name.
    assert await approvals(deny=["k*/delete"]).decide(replace(CALL, caller="k@files")) == "allowed"


async def test_only_so_many_calls_wait_at_a_time() -> None:
    desk = approvals(ask=["*"], max_waiting=1)
    first = asyncio.ensure_future(desk.decide(CALL))
    await waiting_in(desk)
    with pytest.raises(PolicyError, match="calls wait already"):
        await desk.decide(CALL)
    first.cancel()


async def test_s19_who_lets_many_calls_wait_gives_way_to_others_up_to_an_equal_share() -> None:
    desk = approvals(ask=["*"], max_waiting=4)
    mine = [asyncio.ensure_future(desk.decide(CALL)) for _ in range(4)]
    await until(lambda: len(desk.waiting) == 4)
    theirs = [asyncio.ensure_future(desk.decide(replace(CALL, caller=caller))) for caller in ("key_2", "key_2")]
    await until(lambda: [one.caller for one in desk.waiting] == ["key_1", "key_1", "key_2", "key_2"])
    for refused in (mine[2], mine[3], asyncio.ensure_future(desk.decide(replace(CALL, caller="key_2")))):
        with pytest.raises(PolicyError, match="calls wait already"):
            await refused
    assert [one.done() for one in mine] == [False, False, True, True], "the newest"
    for one in (*mine, *theirs):
        one.cancel()


async def test_a_tool_s_own_deadline_stands_still_while_a_person_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = approvals(ask=["*"])

    async def call() -> tuple[str, float]:
        with bound(60) as deadline, patient(deadline) as patience:
            decided = await desk.decide(CALL)
            await sleep_as_the_machine(monkeypatch, 50)  # it ran again, for as long as it had
            return decided, patience.waited_seconds

    waits = asyncio.ensure_future(call())
    one = await waiting_in(desk)
    await sleep_as_the_machine(monkeypatch, 100)
    await desk.answer(one.id, Decision.ONCE, by="key_op")
    decided, waited = await waits
    assert decided == "approved_once"
    assert waited > 99


async def test_the_client_that_called_is_told_and_may_answer_only_where_that_is_allowed() -> None:
    asked: list[bool] = []

    async def ask(waiting_id: str, *, may_answer: bool) -> str | None:
        asked.append(may_answer)
        return "once"

    desk = approvals(ask=["*"], wait_seconds=0.05)
    with pytest.raises(PolicyError, match="nobody answered"):
        await desk.decide(replace(CALL, ask=ask))
    assert await approvals(ask=["*"], ask_client=True).decide(replace(CALL, ask=ask)) == "approved_once"
    assert asked == [False, True]


async def test_a_call_that_one_process_holds_is_seen_and_answered_in_another(tmp_path: Path) -> None:
    """Issue 23, line 5: a second object over the same folder stands for the second process."""
    holder, other = (approvals(tmp_path / "approvals.json", ask=["files/*"]) for _ in range(2))
    call = asyncio.ensure_future(holder.decide(CALL))
    one = await waiting_in(other)
    assert one == (await waiting_in(holder))
    assert (one.server, one.tool, json.loads(one.arguments)) == ("files", "delete", {"path": "/a"})
    await other.answer(one.id, Decision.ALWAYS, by="key_op")
    assert await asyncio.wait_for(call, 30) == "approved_always"
    assert (holder.waiting, other.waiting) == ([], [])
    assert [each.given_by for each in other.standing] == ["key_op"]
    assert await other.decide(CALL) == "approved_always"
    await other.revoke(other.standing[0].id)
    assert holder.standing == []
    with pytest.raises(NotFoundError):
        await other.answer(one.id, Decision.ONCE, by="key_op")


async def test_two_processes_that_allow_something_for_always_keep_both(tmp_path: Path) -> None:
    desks = [approvals(tmp_path / "approvals.json", ask=["*"]) for _ in range(2)]
    for desk, tool in zip(desks, ("read", "write"), strict=True):
        call = asyncio.ensure_future(desk.decide(Call("files", tool, {}, "key_1", ToolDefinition(tool))))
        await desk.answer((await waiting_in(desk)).id, Decision.ALWAYS, by="key_op")
        await call
    assert [one.tool for one in desks[0].standing] == [one.tool for one in desks[1].standing] == ["read", "write"]


async def test_an_answer_that_cannot_be_kept_is_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = 0

    def full(*_: object) -> None:
        nonlocal looks
        looks += 1
        raise StoreError("the disk is full")

    monkeypatch.setattr(module, "replace_file", full)
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.01)
    holder, other = (approvals(tmp_path / "approvals.json", ask=["files/*"]) for _ in range(2))
    call = asyncio.ensure_future(holder.decide(CALL))
    await other.answer((await waiting_in(other)).id, Decision.ALWAYS, by="key_op")
    await until(lambda: looks > 3)
    assert sum("could not be kept" in record.getMessage() for record in caplog.records) == 1
    monkeypatch.undo()
    assert await asyncio.wait_for(call, 30) == "approved_always"


async def test_a_folder_of_waiting_calls_that_is_held_up_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go, went = threading.Event(), []

    def slowly(*_: object, **__: object) -> None:
        went.append(may_go.wait(20))

    monkeypatch.setattr(waiting_room, "replace_file", slowly)
    monkeypatch.setattr(waiting_room, "remove_file", slowly)
    desk = approvals(tmp_path / "approvals.json", ask=["files/*"])
    call = asyncio.ensure_future(desk.decide(CALL))
    one = await waiting_in(desk)
    await asyncio.sleep(0.01)
    await desk.answer(one.id, Decision.ONCE, by="key_op")
    await until(lambda: not desk.waiting)
    may_go.set()
    assert await call == "approved_once"
    assert went == [True] * 3, "entered, and left with its answer, while others went on"


async def test_a_call_whose_process_was_killed_waits_no_more(tmp_path: Path) -> None:
    desk = approvals(tmp_path / "approvals.json", ask=["files/*"])
    call = asyncio.ensure_future(desk.decide(CALL))
    one = await waiting_in(desk)
    place = tmp_path / "waiting" / f"{one.id}.json"
    await until(place.exists)
    assert place.stat().st_mode & 0o077 == 0
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    place.write_text(
        place.read_text(encoding="utf-8").replace(f'"pid": {os.getpid()}', f'"pid": {gone.pid}'), encoding="utf-8"
    )
    assert approvals(tmp_path / "approvals.json").waiting == []
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert list((tmp_path / "waiting").iterdir()) == []


class Hub(Alone):
    """One hub of several, which knows who else is there."""

    def __init__(self, me: str, *others: str) -> None:
        self.me = me
        self.others = others

    def members(self) -> Mapping[str, str]:
        return dict.fromkeys(self.others, "")


def test_a_hub_whose_clock_is_ahead_takes_no_call_of_another_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N9: the hub that holds a call knows when its time is over; the others know whether that hub is there."""
    now = time.time()
    one = Waiter("one", "files", "delete", "{}", "key_1", "", "asked", int(now * 1000), int(now * 1000) + 120_000)
    holder, ahead = (WaitingRoom(tmp_path, commons=Hub(*names)) for names in (("a", "b"), ("b", "a")))
    holder.enter(one)
    monkeypatch.setattr(time, "time", lambda: now + 600)
    assert ahead.waiting() == [one]
    assert WaitingRoom(tmp_path).waiting() == [], "a command knows no hub, and goes by the time"
    assert (tmp_path / "one.json").exists()
    assert WaitingRoom(tmp_path, commons=Hub("b")).waiting() == [], "its holder is gone"
    assert not (tmp_path / "one.json").exists()
    holder.enter(one)
    assert holder.waiting() == [], "its own clock says that it has forgotten it"
    assert not (tmp_path / "one.json").exists()


async def test_the_person_at_the_process_that_holds_a_call_is_asked(tmp_path: Path) -> None:
    desk = approvals(tmp_path / "approvals.json", ask=["files/*"])
    asked: list[Waiter] = []

    async def ask(one: Waiter) -> Decision | None:
        asked.append(one)
        return Decision.ONCE

    desk.ask_person = ask
    assert await asyncio.wait_for(desk.decide(CALL), 30) == "approved_once"
    assert [one.tool for one in asked] == ["delete"]
