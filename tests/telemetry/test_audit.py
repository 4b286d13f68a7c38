"""The audit log as calls and changes use it (S-35, S-61)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from naru.config import AuditSettings, Settings
from naru.errors import PolicyError, StoreError, ToolTimeoutError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.telemetry.arguments import shape
from naru.telemetry.audit import MAX_QUEUED, Audit, audit_once, open_audit
from naru.telemetry.audit_file import AuditFile, read_entries, verify
from naru.tools.supervision.calls import Call, Came, Supervision
from tests.waiting import HANG_SECONDS

CALL = Call("hr", "get", {"employee_id": "EMP-CANARY-4711", "year": 2025}, "key_1", ToolDefinition("get"))


def settings_in(folder: Path, **audit: Any) -> Settings:
    return Settings.model_validate({"hub": {"data_dir": folder}, "audit": audit})


def entries(folder: Path) -> list[JsonObject]:
    return list(read_entries(folder / "audit.jsonl"))


async def answer() -> ToolResult:
    return ToolResult.of_text("secret result")


def came(result: ToolResult) -> Came:
    return Came(result.is_error, len(result.text))


async def test_a_call_leaves_who_what_outcome_and_the_shape_of_its_arguments_but_no_value(tmp_path: Path) -> None:
    audit = open_audit(settings_in(tmp_path))
    await Supervision(audit).run(CALL, answer, came)
    (entry,) = entries(tmp_path)  # written before the answer went out
    await audit.close()
    assert (entry["what"], entry["who"], entry["server"], entry["tool"]) == ("call", "key_1", "hr", "get")
    assert (entry["decision"], entry["outcome"], entry["result_size"]) == ("allowed", "ok", 13)
    assert entry["arguments"]["shape"] == {"employee_id": "string(15)", "year": "integer"}
    assert len(entry["definition"]) == 64
    text = (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    assert "CANARY" not in text, "S-35"
    assert "secret result" not in text


async def test_values_are_kept_redacted_where_that_is_asked_for(tmp_path: Path) -> None:
    audit = open_audit(settings_in(tmp_path, arguments="values"))
    call = Call("hr", "get", {"id": "EMP001", "api_key": "sk-abcdefghijklmnop"})
    await Supervision(audit).run(call, answer, came)
    await audit.close()
    values = entries(tmp_path)[0]["arguments"]["values"]
    assert "EMP001" in values
    assert "abcdefghijklmnop" not in values


async def test_equal_arguments_have_equal_digests_that_another_installation_cannot_guess(tmp_path: Path) -> None:
    digests = []
    for folder in (tmp_path / "a", tmp_path / "a", tmp_path / "b"):
        audit = open_audit(settings_in(folder))
        await Supervision(audit).run(CALL, answer, came)
        await audit.close()
        digests.append(entries(folder)[-1]["arguments"]["digest"])
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(ToolTimeoutError("late"), "timeout"), (PolicyError("no"), "refused"), (RuntimeError("bug"), "failed")],
)
async def test_every_failure_is_an_outcome(tmp_path: Path, error: Exception, outcome: str) -> None:
    async def fail() -> ToolResult:
        raise error

    audit = open_audit(settings_in(tmp_path))
    with pytest.raises(type(error)):
        await Supervision(audit).run(CALL, fail, came)
    await audit.close()
    assert entries(tmp_path)[0]["outcome"] == outcome


async def test_a_cancelled_call_is_written_down_too(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def hang() -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    audit = open_audit(settings_in(tmp_path))
    call = asyncio.ensure_future(Supervision(audit).run(CALL, hang, came))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await audit.close()
    assert entries(tmp_path)[0]["outcome"] == "cancelled"


class Disk(AuditFile):
    """A disk that can be held up or full, and counts the writes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.batches: list[int] = []
        self.is_full = False

    def append(self, entries: Sequence[JsonObject], *, durable: bool = False) -> None:
        self._count(entries)
        super().append(entries, durable=durable)

    def try_append(self, entries: Sequence[JsonObject]) -> bool:
        self._count(entries)
        return super().try_append(entries)

    def _count(self, entries: Sequence[JsonObject]) -> None:
        if self.is_full:
            raise StoreError("full")
        self.batches.append(len(entries))


def audit_on(disk: Disk, **settings: Any) -> Audit:
    return Audit(disk, AuditSettings(**settings), lambda arguments: {"shape": shape(arguments)})


async def test_calls_that_end_while_the_disk_is_waited_for_share_one_write(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "audit.jsonl")
    audit = audit_on(disk)
    change = asyncio.ensure_future(audit.commit("admin.asked", "key_1"))
    await asyncio.sleep(0)
    await asyncio.gather(change, *(audit.note("call", "", number=number) for number in range(999)))
    assert sum(disk.batches) == 1000
    assert len(disk.batches) < 10
    await audit.close()
    assert verify(disk.path).entries == 1000


async def test_queued_calls_do_not_wait_and_are_written_at_the_end(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "audit.jsonl")
    audit = audit_on(disk, calls="queued")
    for number in range(100):
        await audit.note("call", "", number=number)
    assert disk.batches == [], "nobody has waited for the disk"
    await audit.close()
    assert [entry["number"] for entry in read_entries(disk.path)] == list(range(100))


async def test_a_full_queue_drops_what_was_only_mentioned_and_says_how_many(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "audit.jsonl")
    audit = audit_on(disk)
    for _ in range(MAX_QUEUED + 7):
        audit.mention("refused.wrong_key", "")
    assert audit.dropped == 7
    await audit.close()
    assert next(entry for entry in read_entries(disk.path) if entry["what"] == "audit.dropped")["entries"] == 7


@pytest.mark.parametrize("calls", ["written", "queued"])
async def test_what_a_full_queue_was_given_before_the_end_is_written_and_nobody_waits_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: str
) -> None:
    monkeypatch.setattr("naru.telemetry.audit.MAX_QUEUED", 2)
    disk = Disk(tmp_path / "audit.jsonl")
    audit = audit_on(disk, calls=calls)
    changes = [asyncio.ensure_future(audit.commit("admin.asked", "key_1", number=number)) for number in range(3)]
    await asyncio.sleep(0)
    noted = [asyncio.ensure_future(audit.note("call", "key_1", number=number)) for number in range(3, 6)]
    await asyncio.sleep(0)
    await audit.close()
    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.gather(*changes, *noted)
    assert [entry["number"] for entry in read_entries(disk.path)] == list(range(6))


@pytest.mark.parametrize(
    ("policy", "changes_go_on", "calls_go_on"),
    [("refuse_changes", False, True), ("refuse_all", False, False), ("go_on", True, True)],
)
async def test_a_full_disk_stops_what_the_setting_says(
    tmp_path: Path, policy: str, changes_go_on: bool, calls_go_on: bool
) -> None:
    disk = Disk(tmp_path / "audit.jsonl")
    disk.is_full = True
    audit = audit_on(disk, when_it_fails=policy)

    async def went_on(work: Any) -> bool:
        try:
            await work
        except StoreError:
            return False
        return True

    assert await went_on(audit.commit("admin.asked", "key_1")) is changes_go_on
    assert await went_on(Supervision(audit).run(CALL, answer, came)) is calls_go_on
    assert audit.failures == 2, "/readyz tells of it"
    disk.is_full = False
    await audit.commit("admin.asked", "key_1")
    await audit.close()


async def test_an_entry_that_cannot_be_written_is_an_error_and_not_the_end_of_the_log(tmp_path: Path) -> None:
    audit = open_audit(settings_in(tmp_path))
    async with asyncio.timeout(HANG_SECONDS):
        with pytest.raises(StoreError, match="cannot be written"):
            await audit.commit("admin.asked", "key_1", fact={1, 2})
        await audit.commit("admin.asked", "key_2")
        await audit.close()
    assert [entry["who"] for entry in entries(tmp_path)] == ["key_2"]


async def test_off_means_that_no_file_is_made(tmp_path: Path) -> None:
    audit = open_audit(settings_in(tmp_path, enabled=False))
    await Supervision(audit).run(CALL, answer, came)
    await audit.commit("admin.asked", "key_1")
    audit.mention("refused.wrong_key", "")
    await audit.close()
    audit_once(settings_in(tmp_path, enabled=False), "key.created")
    assert list(tmp_path.iterdir()) == []


def test_a_shape_is_bounded_however_large_the_arguments_are() -> None:
    deep: Any = 1
    for _ in range(50):
        deep = {"in": deep}
    wide = {f"name {number}" * 100: number for number in range(1000)}
    assert len(str(shape({"deep": deep, "wide": wide, "list": list(range(10_000))}))) < 5000
