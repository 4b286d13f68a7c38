"""The audit log on disk (S-36, S-61)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from naru.errors import StoreError
from naru.telemetry import audit_file
from naru.telemetry.audit_file import FIRST, AuditFile, Head, all_files, read_entries, verify


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.jsonl"
    file = AuditFile(path)
    for number in range(20):
        file.append([{"what": "call", "number": number}], durable=False)
    return path


def test_a_log_that_nobody_touched_holds(log: Path) -> None:
    found = verify(log)
    assert (found.holds, found.entries, found.first_seq, found.head.seq) == (True, 20, 1, 20)
    assert json.loads(log.read_text(encoding="utf-8").splitlines()[0])["prev"] == FIRST
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("line", [0, 7, 18])
def test_a_changed_line_is_found(log: Path, line: int) -> None:
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[line] = lines[line].replace('"what":"call"', '"what":"cell"')
    log.write_text("".join(lines), encoding="utf-8")
    found = verify(log)
    assert not found.holds
    assert found.problems[0].startswith(f"audit.jsonl:{line + 1}:")


@pytest.mark.parametrize("line", [1, 7, 18])
def test_a_line_that_was_taken_out_is_found(log: Path, line: int) -> None:
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    del lines[line]
    log.write_text("".join(lines), encoding="utf-8")
    assert not verify(log).holds


def test_a_line_that_was_put_in_with_a_right_hash_of_its_own_is_found(log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    _, forged = audit_file.chained(Head(7, "f" * 64), {"what": "call", "number": 7})
    log.write_bytes(b"".join([*lines[:7], forged, *lines[8:]]))
    assert not verify(log).holds


def test_two_lines_that_changed_places_are_found(log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    lines[4], lines[5] = lines[5], lines[4]
    log.write_bytes(b"".join(lines))
    assert not verify(log).holds


def test_a_cut_off_end_and_a_log_written_anew_show_against_a_head_that_was_kept(log: Path) -> None:
    head = verify(log).head
    assert verify(log, expect=head).holds
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    assert verify(log).holds, "the chain alone cannot tell"
    assert not verify(log, expect=head).holds
    log.unlink()
    AuditFile(log).append([{"what": "call"} for _ in range(20)], durable=False)
    assert not verify(log, expect=head).holds


def test_an_unfinished_last_line_is_cut_off_and_the_chain_goes_on(log: Path) -> None:
    with log.open("ab") as file:
        file.write(b'{"seq":21,"at":"2026')
    found = verify(log)
    assert found.holds
    assert found.torn_bytes == 20
    AuditFile(log).append([{"what": "call", "number": 20}], durable=True)
    kinds = [entry["what"] for entry in read_entries(log)]
    assert kinds[-2:] == ["audit.recovered", "call"]
    assert verify(log).holds


def test_a_last_line_that_was_changed_by_hand_gets_no_successor(log: Path) -> None:
    log.write_text(log.read_text(encoding="utf-8").replace('"number":19', '"number":91'), encoding="utf-8")
    with pytest.raises(StoreError, match="changed by hand"):
        AuditFile(log).append([{"what": "call"}], durable=False)


def test_the_chain_goes_on_over_files_put_aside_and_old_ones_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    file = AuditFile(path, max_bytes=4096, keep_files=3)
    for number in range(200):
        file.append([{"what": "call", "number": number}], durable=False)
    found = verify(path)
    assert found.holds
    assert found.head.seq == 200
    assert 1 < found.first_seq < 200
    assert len(list(tmp_path.glob("audit-*.jsonl"))) == 3
    sorted(tmp_path.glob("audit-*.jsonl"))[1].unlink()
    assert not verify(path).holds


def test_two_writers_share_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"

    def write(name: str) -> None:
        file = AuditFile(path, max_bytes=8192, keep_files=1000)
        for number in range(100):
            file.append([{"what": name, "number": number}], durable=False)

    writers = [threading.Thread(target=write, args=(f"writer {each}",)) for each in range(4)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    found = verify(path)
    assert (found.holds, found.entries) == (True, 400)


def test_a_killed_writer_loses_nothing_that_it_had_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    acknowledged = 0
    for round_number in range(5):
        command = [sys.executable, str(Path(__file__).with_name("audit_writer.py")), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            wanted = random.Random(round_number).randint(5, 400)
            for _ in range(wanted):
                child.stdout.readline()
            os.kill(child.pid, signal.SIGKILL)
            said = wanted + len(child.stdout.read().split())
        acknowledged += said
    AuditFile(path).append([{"what": "end"}], durable=True)
    found = verify(path)
    calls = sum(entry["what"] == "call" for entry in read_entries(path))
    assert found.holds, found.problems
    assert acknowledged <= calls <= acknowledged + 5


def test_a_disk_that_refuses_half_a_line_leaves_none_of_it(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    full = OSError(28, "No space left on device")

    def half(descriptor: int, data: bytes) -> int:
        real(descriptor, data[:10])
        raise full

    file = AuditFile(log)
    monkeypatch.setattr(os, "write", half)
    with pytest.raises(StoreError, match="No space left"):
        file.append([{"what": "call"}], durable=False)
    monkeypatch.undo()
    assert verify(log).entries == 20
    file.append([{"what": "call"}], durable=False)
    found = verify(log)
    assert (found.holds, found.entries, found.torn_bytes) == (True, 21, 0)


def test_what_the_disk_did_not_take_in_the_end_is_not_in_the_log(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fails)
    with pytest.raises(StoreError, match="Input/output"):
        AuditFile(log).append([{"what": "refused change"}], durable=True)
    found = verify(log)
    assert (found.holds, found.entries) == (True, 20)


def test_a_full_file_whose_first_line_was_changed_by_hand_is_put_aside_all_the_same(log: Path) -> None:
    first, *rest = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([b"x" * len(first[:-1]) + b"\n", *rest]))
    AuditFile(log, max_bytes=100).append([{"what": "call"}])
    assert [path.name for path in all_files(log)] == ["audit-000000000020.jsonl", "audit.jsonl"]
    assert [entry["seq"] for entry in read_entries(log)] == list(range(2, 22))


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\u2028b", "a\x7fb", "a\x9bb", 'a"},{"b', "\ud800"])
def test_no_name_can_forge_a_line_or_reach_the_terminal(tmp_path: Path, name: str) -> None:
    path = tmp_path / "audit.jsonl"
    AuditFile(path).append([{"what": "call", "tool": name}], durable=False)
    data = path.read_bytes()
    assert data.count(b"\n") == 1
    assert all(0x20 <= byte < 0x7F for byte in data[:-1]), "S-36"
    assert next(iter(read_entries(path)))["tool"] == name
