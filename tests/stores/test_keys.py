"""API keys: A-01, A-02, A-05, S-07."""

from __future__ import annotations

import json
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from naru.errors import ConfigError, NotFoundError, StoreError
from naru.stores.secrets import keys as keys_module
from naru.stores.secrets.keys import ROLES, KeyFile


@pytest.fixture
def keys(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "data" / "keys.json")


@pytest.mark.parametrize("role", ROLES)
def test_a02_a_key_is_shown_once_and_kept_as_a_hash(keys: KeyFile, role: str) -> None:
    key, secret = keys.create(role, owner="Kim")
    text = keys.path.read_text(encoding="utf-8")
    assert secret not in text
    assert secret.removeprefix("naru_") not in text
    assert len(secret) >= 5 + 43, "256 random bits"
    assert key.id not in secret
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    found = keys.find(secret.encode())
    assert found is not None
    assert (found.role, found.owner) == (role, "Kim")
    assert "sha256" not in key.shown()


@pytest.mark.parametrize(
    "secret", [b"", b"'", b"naru_'; drop table keys; --", b"\0", b"x" * 1_000_000, "키".encode(), b"\xff\xfe"]
)
def test_s07_a_wrong_key_of_any_shape_is_only_wrong(keys: KeyFile, secret: bytes) -> None:
    keys.create("admin")
    assert keys.find(secret) is None


def test_a02_a_revoked_key_is_refused_at_once_and_elsewhere_within_a_second(
    keys: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, secret = keys.create("user")
    elsewhere = KeyFile(keys.path)
    assert elsewhere.find(secret.encode())
    keys.revoke(key.id)
    assert keys.find(secret.encode()) is None
    now = time.monotonic()
    monkeypatch.setattr(keys_module.time, "monotonic", lambda: now + keys_module.RELOAD_SECONDS)
    assert elsewhere.find(secret.encode()) is None
    with pytest.raises(NotFoundError):
        keys.revoke(key.id)


def test_a02_an_expired_key_is_refused(keys: KeyFile) -> None:
    now = int(time.time() * 1000)
    assert keys.find(keys.create("user", expires_at=now - 1)[1].encode()) is None
    assert keys.find(keys.create("user", expires_at=now + 60_000)[1].encode()) is not None


def test_a01_the_first_start_writes_an_admin_key_that_only_its_owner_can_read(keys: KeyFile) -> None:
    place = keys.ensure_admin()
    assert place is not None
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    found = keys.find(place.read_text(encoding="utf-8").strip().encode())
    assert found is not None
    assert found.role == "admin"
    assert keys.ensure_admin() is None


def test_a01_two_hubs_that_start_together_on_one_folder_make_one_admin_key(
    keys: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_have_looked = threading.Barrier(2)
    look = KeyFile.is_empty

    def looked(self: KeyFile) -> bool:
        found = look(self)
        both_have_looked.wait(60)
        return found

    monkeypatch.setattr(KeyFile, "is_empty", looked)
    with ThreadPoolExecutor() as hubs:
        told = sorted(map(str, hubs.map(lambda hub: hub.ensure_admin(), [KeyFile(keys.path), KeyFile(keys.path)])))
    place = keys.path.with_name("admin.key")
    assert told == [str(place), "None"]
    (only,) = keys.list()
    assert keys.find(place.read_text(encoding="utf-8").strip().encode()) == only


@pytest.mark.parametrize(
    "weak", ["changeme", "x" * 40, "password" * 5, "0123456789abcdef" * 2, "q8Zk2bW" * 6, "admin123" + "q8Zk2" * 5]
)
def test_a05_a_key_that_can_be_guessed_is_refused(weak: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="too easy") as refused:
        KeyFile(tmp_path / "keys.json", fixed_admin_key=weak)
    assert weak not in str(refused.value)


RANDOM = ["Zr8-qK2vN0xWm5TgYb7LpQ4sHd9EjUc3", "e460f7f152c0300094691149705105195081c26c011fc683"]
"""The second is of those hexadecimal ones in which a few digits come often, as it happens."""


@pytest.mark.parametrize("strong", [*RANDOM, RANDOM[1][:32]])
def test_a_strong_key_from_outside_is_an_admin(strong: str, tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json", fixed_admin_key=strong)
    assert not keys.is_empty()
    found = keys.find(strong.encode())
    assert found is not None
    assert found.role == "admin"


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", ["", "{", '{"keys": 1}', '{"format": 1, "keys": [{"id": 1}]}', '{"keys": ["k"]}', "[]"]
)
def test_r26_broken_keys_open_nothing(keys: KeyFile, content: str) -> None:
    _, secret = keys.create("admin")
    keys.path.write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be read"):
        KeyFile(keys.path).find(secret.encode())
    with pytest.raises(StoreError):
        keys.create("admin")
    assert keys.path.read_text(encoding="utf-8") == content


def test_r26_keys_that_break_while_a_hub_runs_open_nothing_at_every_look(keys: KeyFile) -> None:
    _, secret = keys.create("admin")
    running = KeyFile(keys.path)
    assert running.find(secret.encode())
    good = keys.path.read_bytes()
    keys.path.write_text("{", encoding="utf-8")
    running.look_again()
    for _ in range(3):
        with pytest.raises(StoreError, match="no key is accepted until it is mended"):
            running.find(secret.encode())
    keys.path.write_bytes(good)
    assert running.find(secret.encode()), "mended"


def test_an_unknown_role_is_refused(keys: KeyFile) -> None:
    with pytest.raises(ConfigError, match="read, user, operator, admin"):
        keys.create("root")
    assert not keys.path.exists()
    assert json.dumps([]) == json.dumps(list(keys.list()))


def test_a_broken_keys_file_is_told_with_the_place(keys: KeyFile) -> None:
    _, secret = keys.create("admin")
    keys.path.write_text('{"keys": [\n  {"id": "a",}\n]}', encoding="utf-8")
    with pytest.raises(StoreError, match="line 2, column"):
        KeyFile(keys.path).find(secret.encode())


def test_the_configured_key_is_found_by_its_id_as_others_are(tmp_path: Path) -> None:
    fixed = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"
    keys = KeyFile(tmp_path / "keys.json", fixed_admin_key=fixed)
    configured = keys.find(fixed.encode())
    assert configured is not None
    assert keys.of_id(configured.id) == configured
    made, _ = keys.create("user")
    past, _ = keys.create("user", expires_at=1)
    assert keys.of_id(made.id) == made
    assert keys.of_id(past.id) is None
    assert keys.of_id("none") is None
