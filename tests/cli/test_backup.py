"""`naru backup` and `naru restore`: nothing acknowledged is lost, nothing that was there is removed (N24)."""

from __future__ import annotations

import errno
import io
import json
import shutil
import sqlite3
import stat
import tarfile
import threading
from contextlib import closing
from pathlib import Path

import pytest

from naru.cli.terminal.exit_codes import Exit
from naru.errors import ConfigError, StoreError
from naru.stores import backup
from naru.stores.serving_lock import folder_in_use, serving_lock


def test_servers_keys_and_the_audit_log_come_back(naru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naru("servers", "add", "docs", "https://h/mcp", "--header", "Authorization=Bearer SENTINEL-b1")
    naru("keys", "create", "user")
    made = naru("backup", "copy.tar.gz")
    assert "copy.tar.gz" in made.stdout
    assert stat.S_IMODE((tmp_path / "copy.tar.gz").stat().st_mode) == 0o600
    naru("servers", "add", "later", "https://later/mcp")
    refused = naru("restore", "copy.tar.gz", code=Exit.USAGE).stderr
    assert "--replace" in refused
    back = naru("restore", "copy.tar.gz", "--replace")
    assert "What was there is in" in back.stderr
    listed = naru("servers", "list").stdout
    assert "docs" in listed
    assert "later" not in listed
    assert "user" in naru("keys", "list").stdout
    naru("audit", "verify")
    (aside,) = tmp_path.glob("data.before-*")
    monkeypatch.setenv("NARU_HUB__DATA_DIR", str(aside))
    assert "later" in naru("servers", "list").stdout, "what was there is moved, not removed"


def test_what_is_no_backup_is_said_before_what_is_there(naru, tmp_path: Path) -> None:
    naru("servers", "add", "docs", "https://h/mcp")
    (tmp_path / "text.txt").write_text("no backup", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with serving_lock(f"sqlite:{tmp_path / 'data' / 'naru.db'}", "http://127.0.0.1:1"):
        assert "none.tar.gz, which is not there" in naru("restore", "none.tar.gz", code=Exit.NOT_FOUND).stderr
        assert "folder, which is a folder" in naru("restore", str(tmp_path / "folder"), code=Exit.NOT_FOUND).stderr
        refused = naru("restore", str(tmp_path / "text.txt"), code=Exit.USAGE).stderr
        assert "is no backup of Naru" in refused
        assert "--replace" not in refused


def test_it_comes_back_on_another_machine(naru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naru("servers", "add", "docs", "https://h/mcp")
    naru("backup", "copy.tar.gz")
    monkeypatch.setenv("NARU_HUB__DATA_DIR", str(tmp_path / "elsewhere" / "data"))
    naru("restore", "copy.tar.gz")
    assert "docs" in naru("servers", "list").stdout


def test_what_is_not_in_it_is_said(naru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naru("keys", "create", "user")
    monkeypatch.setenv("NARU_HUB__STORE", f"file:{tmp_path / 'mcp.json'}")
    told = json.loads(naru("backup", "--json").stdout)
    assert told["notIn"] == [f"the servers in {tmp_path / 'mcp.json'}: copy that file too"]
    assert "keys.json" in told["files"]
    monkeypatch.delenv("NARU_HUB__STORE")
    monkeypatch.setenv("NARU_DATA_DIR", str(tmp_path / "documents"))
    (tmp_path / "documents").mkdir()
    file = tmp_path / "documents" / "vectors.sqlite"
    file.touch()
    (left,) = json.loads(naru("backup", "another.tar.gz", "--json").stdout)["notIn"]
    assert str(file) in left
    assert "naru data index" in left


def test_a_hub_that_serves_is_not_pulled_from_under(naru, tmp_path: Path) -> None:
    naru("servers", "add", "docs", "https://h/mcp")
    naru("backup", "copy.tar.gz")
    with serving_lock(f"sqlite:{tmp_path / 'data' / 'naru.db'}", "http://127.0.0.1:1"):
        told = naru("restore", "copy.tar.gz", "--replace", code=Exit.USAGE).stderr
        assert "serves the store" in told
        assert "--store" not in told, "which restore has not"
    with folder_in_use(tmp_path / "data", "a"), folder_in_use(tmp_path / "data", "http://127.0.0.1:2"):  # other stores
        told = naru("restore", "copy.tar.gz", "--replace", code=Exit.USAGE).stderr
        assert "uses the data folder" in told
        assert "http://127.0.0.1:2" in told
    assert "docs" in naru("servers", "list").stdout
    naru("restore", "copy.tar.gz", "--replace")


def test_a_database_that_is_written_meanwhile_is_whole_in_the_copy(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "runs.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("pragma journal_mode = wal")
        made.execute("create table pairs (one integer, other integer)")
    ends, wrote = threading.Event(), threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            number = 0
            while not ends.is_set():
                with connection:
                    connection.execute("insert into pairs values (?, ?)", [number, number])
                    connection.execute("insert into pairs values (?, ?)", [-number, -number])
                number += 1
                wrote.set()

    writer = threading.Thread(target=write, name="writer")
    writer.start()
    try:
        assert wrote.wait(60)
        with closing(sqlite3.connect(path)) as now:
            acknowledged = now.execute("select count(*) from pairs").fetchone()[0]
        backup.make(folder, tmp_path / "copy.tar.gz")
    finally:
        ends.set()
        writer.join(60)
    backup.restore(tmp_path / "copy.tar.gz", tmp_path / "back")
    assert sorted(file.name for file in (tmp_path / "back").iterdir()) == ["runs.db"]
    with closing(sqlite3.connect(tmp_path / "back" / "runs.db")) as restored:
        assert restored.execute("pragma integrity_check").fetchone()[0] == "ok"
        rows = restored.execute("select count(*), sum(one) from pairs").fetchone()
    assert rows[0] >= acknowledged
    assert rows[0] % 2 == 0, "no half of a transaction"
    assert rows[1] == 0


@pytest.mark.parametrize("harm", ["no archive", "cut", "changed", "newer", "outside"])
def test_a_bad_backup_changes_nothing(harm: str, tmp_path: Path) -> None:
    folder, copy = tmp_path / "data", tmp_path / "copy.tar.gz"
    folder.mkdir()
    (folder / "keys.json").write_text("{}", encoding="utf-8")
    backup.make(folder, copy)
    if harm == "no archive":
        copy.write_text("not a backup", encoding="utf-8")
    elif harm == "cut":
        copy.write_bytes(copy.read_bytes()[:-40])
    else:
        rewritten(copy, harm)
    with pytest.raises(ConfigError, match=r"backup|newer|damaged"):
        backup.restore(copy, folder, replace=True)
    assert (folder / "keys.json").read_text(encoding="utf-8") == "{}"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "copy.tar.gz"}


def test_a_backup_of_which_any_bit_is_another_is_told_as_damaged_or_comes_back_as_it_was(tmp_path: Path) -> None:
    """Some bits are of a block's own form, at which zlib fails with an error of its own.

    A few mean nothing: they fill up a byte, or point to another place where the same stands.
    """
    folder, copy, back = tmp_path / "data", tmp_path / "copy.tar.gz", tmp_path / "back"
    folder.mkdir()
    (folder / "keys.json").write_text(json.dumps([{"id": number**5} for number in range(3_000)]), encoding="utf-8")
    backup.make(folder, copy)
    whole = copy.read_bytes()
    told = []
    for at in (*range(10, len(whole), len(whole) // 40), *range(len(whole) - 8, len(whole))):
        for bit in (0, 3):
            copy.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
            try:
                backup.restore(copy, back, replace=True)
            except ConfigError as error:
                told.append(str(error))
            else:
                assert (back / "keys.json").read_bytes() == (folder / "keys.json").read_bytes()
    assert len(told) > 80
    assert all("damaged" in one for one in told)


def test_a_disk_that_is_full_is_no_damage_of_the_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "keys.json").write_text("{}", encoding="utf-8")
    backup.make(folder, tmp_path / "copy.tar.gz")

    def fails(source: object, to: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", fails)
    with pytest.raises(StoreError, match="No space left") as raised:
        backup.restore(tmp_path / "copy.tar.gz", tmp_path / "back")
    assert "Free space" in raised.value.remedy


def test_a_backup_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "copy.tar.gz").mkdir()
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        backup.restore(tmp_path / "copy.tar.gz", tmp_path / "back")


def rewritten(copy: Path, harm: str) -> None:
    """Write a backup anew with one thing wrong."""
    with tarfile.open(copy, "r:gz") as archive:
        held = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}  # type: ignore[union-attr]
    if harm == "changed":
        held["data/keys.json"] = b'{"keys": []}'
    elif harm == "newer":
        held[backup.MANIFEST] = held[backup.MANIFEST].replace(b'"format": 1', b'"format": 99')
    else:
        held["../../outside"] = b"x"
    with tarfile.open(copy, "w:gz") as archive:
        for name, data in held.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_a_file_that_goes_while_it_is_made_is_left_out_and_the_rest_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("a.json", "b.json", "c.json"):
        (folder / name).write_text(name, encoding="utf-8")
    made = backup.make(folder, tmp_path / "copy.tar.gz", lambda done, of: (folder / "b.json").unlink(missing_ok=True))
    assert sorted(made.files) == ["a.json", "c.json"]
    backup.restore(tmp_path / "copy.tar.gz", tmp_path / "back")
    assert (tmp_path / "back" / "c.json").read_text(encoding="utf-8") == "c.json"


def test_one_that_is_interrupted_leaves_no_half_file(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.json").write_text("secret", encoding="utf-8")

    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup.make(folder, tmp_path / "copy.tar.gz", interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_link_that_somebody_laid_where_it_is_made_gets_none_of_it(tmp_path: Path) -> None:
    folder, theirs = tmp_path / "data", tmp_path / "theirs"
    folder.mkdir()
    (folder / "vault.key").write_text("secret", encoding="utf-8")
    theirs.touch()
    (tmp_path / ".copy.tar.gz.tmp").symlink_to(theirs)
    backup.make(folder, tmp_path / "copy.tar.gz")
    assert theirs.read_bytes() == b""
    assert stat.S_IMODE((tmp_path / "copy.tar.gz").lstat().st_mode) == 0o600


def test_what_was_there_comes_back_when_the_last_step_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "keys.json").write_text("kept", encoding="utf-8")
    backup.make(folder, tmp_path / "copy.tar.gz")
    real = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self.name == ".data.restored":
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(StoreError, match="cannot be put back"):
        backup.restore(tmp_path / "copy.tar.gz", folder, replace=True)
    assert (folder / "keys.json").read_text(encoding="utf-8") == "kept"
    assert not list(tmp_path.glob("data.before-*"))


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a data folder that cannot be moved, in one where nothing can be made: a container's `/data`."""
    folder = tmp_path / "data"
    folder.mkdir()
    rename, mkdir = Path.rename, Path.mkdir

    def renamed(self: Path, target: Path) -> Path:
        if self == folder or target == folder:
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(self, target)

    def made(self: Path, *given: object, **more: object) -> None:
        if self.parent == tmp_path and self != folder:
            raise OSError(errno.EROFS, "Read-only file system")
        mkdir(self, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "is_mount", lambda self: self == folder)
    monkeypatch.setattr(Path, "rename", renamed)
    monkeypatch.setattr(Path, "mkdir", made)
    return folder


def test_a_volume_is_restored_within_itself(volume: Path, tmp_path: Path) -> None:
    (volume / "keys.json").write_text("old", encoding="utf-8")
    (volume / "index").mkdir()
    (volume / "index" / "one").write_text("old", encoding="utf-8")
    backup.make(volume, tmp_path / "copy.tar.gz")
    (volume / "keys.json").write_text("new", encoding="utf-8")
    (volume / "later.json").write_text("new", encoding="utf-8")
    _, aside = backup.restore(tmp_path / "copy.tar.gz", volume, replace=True)
    assert aside is not None
    assert {path.name for path in volume.iterdir()} == {"keys.json", "index", aside.name}
    assert (volume / "keys.json").read_text(encoding="utf-8") == "old"
    assert (aside / "keys.json").read_text(encoding="utf-8") == "new"
    assert (aside / "later.json").exists()
    again = backup.make(volume, tmp_path / "again.tar.gz")
    assert set(again.files) == {"keys.json", "index/one"}, "what was moved aside is no part of the next backup"


def test_a_volume_is_as_it_was_when_a_step_fails(volume: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.json", "b.json"):
        (volume / name).write_text("old", encoding="utf-8")
    backup.make(volume, tmp_path / "copy.tar.gz")
    for name in ("a.json", "b.json"):
        (volume / name).write_text("new", encoding="utf-8")
    real = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self == volume / ".data.restored" / "b.json":
            raise OSError(errno.EIO, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(StoreError, match="Input/output error"):
        backup.restore(tmp_path / "copy.tar.gz", volume, replace=True)
    assert {path.name: path.read_text(encoding="utf-8") for path in volume.iterdir()} == {
        "a.json": "new",
        "b.json": "new",
    }
