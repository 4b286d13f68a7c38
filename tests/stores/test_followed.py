"""Files that several processes write (S-24, S-50): read when they change, told when they cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from naru.config import ApprovalSettings
from naru.connections.rules.pins import PinBook
from naru.errors import ConfigError, StoreError
from naru.stores.files.followed import FollowedFile
from naru.tools.supervision.approvals import Approvals
from naru.web.gate.logins import Logins


def followed(path: Path) -> FollowedFile[list[int]]:
    return FollowedFile(path, lambda document: list(document["kept"]), what="What is kept", remedy="Remove it.")


def test_only_another_file_is_news(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    file = followed(path)
    assert file.news([]) == []
    path.write_text('{"kept": [1]}', encoding="utf-8")
    assert file.news([]) == [1]
    assert file.news([]) is None
    path.write_text('{"kept": [1, 2]}', encoding="utf-8")
    assert file.news([]) == [1, 2]
    file.read_again()
    assert file.news([]) == [1, 2]
    path.unlink()
    assert file.news([]) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kept": 5}'])
def test_what_cannot_be_read_is_told_with_a_remedy_each_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept.json"
    path.write_text(text, encoding="utf-8")
    file = followed(path)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"What is kept in .*kept\.json cannot be read") as told:
            file.news([])
        assert told.value.remedy == "Remove it."


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda path: PinBook(path).load(), '{"servers": {}}'),
        (lambda path: Approvals(ApprovalSettings(), path).load(), '{"standing": []}'),
        (lambda path: Logins(path).find(b"a cookie"), '{"logins": {}}'),
    ],
    ids=["pins", "approvals", "logins"],
)
def test_a_file_that_others_may_write_is_trusted_with_nothing(
    tmp_path: Path, read: Callable[[Path], object], text: str
) -> None:
    path = tmp_path / "kept.json"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    read(path)
    path.chmod(0o620)
    with pytest.raises(ConfigError, match="may be written by others"):
        read(path)
