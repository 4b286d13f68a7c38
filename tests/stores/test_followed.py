"""Files that several processes write (S-24, S-50): read when they change, told when they cannot be used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from naru.config import ApprovalSettings
from naru.connections.rules.pins import PinBook
from naru.errors import ConfigError, StoreError
from naru.stores.files.followed import FollowedFile
from naru.tools.supervision.approvals import Approvals
from naru.web.gate.logins import Logins


def followed(path: Path, take: Callable[[list[int]], None]) -> FollowedFile[list[int]]:
    return FollowedFile(path, lambda document: list(document["kept"]), take, what="What is kept", remedy="Remove it.")


def test_only_another_file_is_news(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    taken: list[list[int]] = []
    file = followed(path, taken.append)

    def news() -> list[list[int]]:
        taken.clear()
        file.look([])
        return list(taken)

    assert news() == [[]]
    path.write_text('{"kept": [1]}', encoding="utf-8")
    assert news() == [[1]]
    assert news() == []
    path.write_text('{"kept": [1, 2]}', encoding="utf-8")
    assert news() == [[1, 2]]
    file.read_again()
    assert news() == [[1, 2]]
    path.unlink()
    assert news() == [[]]


def test_of_two_threads_that_look_the_one_with_the_older_content_is_not_the_last_to_be_believed(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text('{"kept": [1]}', encoding="utf-8")
    has_read, may_go_on = threading.Event(), threading.Event()
    taken: list[list[int]] = []

    def take(content: list[int]) -> None:
        if content == [1]:
            has_read.set()
            may_go_on.wait(60)
        taken.append(content)

    file = followed(path, take)
    looks = [threading.Thread(target=file.look, args=([],)) for _ in range(2)]
    looks[0].start()
    assert has_read.wait(60)
    path.write_text('{"kept": [1, 2]}', encoding="utf-8")  # as when a key is revoked meanwhile
    looks[1].start()
    looks[1].join(0.2)  # in which it would overtake
    may_go_on.set()
    for look in looks:
        look.join(60)
    assert taken == [[1], [1, 2]]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kept": 5}'])
def test_what_cannot_be_read_is_told_with_a_remedy_each_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept.json"
    path.write_text(text, encoding="utf-8")
    taken: list[list[int]] = []
    file = followed(path, taken.append)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"What is kept in .*kept\.json cannot be read") as told:
            file.look([])
        assert told.value.remedy == "Remove it."


def test_a_list_in_the_place_of_the_sessions_is_told_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    path.write_text('{"logins": []}', encoding="utf-8")
    with pytest.raises(StoreError, match=r"sessions in .* cannot be read"):
        Logins(path).find(b"a cookie")


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
