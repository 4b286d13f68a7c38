"""Leases of the processes that have one folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from naru.errors import StoreError
from naru.stores.secrets.common_rows import FileLeases


def test_a_lease_that_a_full_disk_refused_can_be_taken_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    leases = FileLeases(tmp_path, "w1")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match="No space left"):
        leases.take("a server")
    monkeypatch.undo()
    assert leases.take("a server")
    assert not FileLeases(tmp_path, "w2").take("a server"), "another process has it"
    assert leases.holder("a server") == "w1"
