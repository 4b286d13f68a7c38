"""The vault's key out of the keyring (issue 21, line 1): kept there alone, and told when it does not open."""

import sys
import textwrap
from pathlib import Path

import pytest

from naru.errors import ConfigError, StoreError
from naru.stores.secrets.vault import Vault

KEPT = """
    from pathlib import Path
    from keyring import errors

    PLACE = Path(__file__).with_name("kept")

    def get_password(service, name):
        assert (service, name) == ("naru", "vault")
        return PLACE.read_text() if PLACE.exists() else None

    def set_password(service, name, secret):
        PLACE.write_text(secret)
"""
NONE = """
    from keyring import errors

    def get_password(service, name):
        raise errors.NoKeyringError("No recommended backend was available.")
"""
ERRORS = """
    class KeyringError(Exception): ...
    class NoKeyringError(KeyringError, RuntimeError): ...
"""


def package(folder: Path, body: str, patch: pytest.MonkeyPatch) -> Path:
    """Write what `keyring` offers of its API: it is no dependency, but installed beside Naru by who wants it."""
    made = folder / "site" / "keyring"
    made.mkdir(parents=True)
    (made / "errors.py").write_text(textwrap.dedent(ERRORS), encoding="utf-8")
    (made / "__init__.py").write_text(textwrap.dedent(body), encoding="utf-8")
    for name in ("keyring", "keyring.errors"):
        patch.delitem(sys.modules, name, raising=False)
        patch.setitem(sys.modules, name, None)  # so that what was imported is forgotten after the test
        patch.delitem(sys.modules, name)
    patch.syspath_prepend(folder / "site")
    return made


def test_key_is_kept_in_the_keyring_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = package(tmp_path, KEPT, monkeypatch)
    folder = tmp_path / "data"
    first = Vault(folder, "keyring")
    first.write("ada", "crm", "token", {"access": "s3cret"})
    first.close()
    again = Vault(folder, "keyring")
    assert again.read("ada", "crm", "token") == {"access": "s3cret"}
    again.close()
    assert len((made / "kept").read_text(encoding="utf-8")) == 64
    assert not (folder / "vault.key").exists()


def test_no_other_key_is_made_while_something_is_sealed_with_the_one_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = package(tmp_path, KEPT, monkeypatch)
    folder = tmp_path / "data"
    first = Vault(folder, "keyring")
    first.write("ada", "crm", "token", {"access": "s3cret"})
    first.close()
    key = (made / "kept").read_text(encoding="utf-8")
    (made / "kept").unlink()
    again = Vault(folder, "keyring")
    with pytest.raises(StoreError, match=r"entry vault of naru is gone") as told:
        again.write("bob", "crm", "token", {})
    assert told.value.remedy.startswith("Put it back.")
    (made / "kept").write_text(key, encoding="utf-8")
    assert again.read("ada", "crm", "token") == {"access": "s3cret"}
    again.close()


def test_keyring_that_does_not_open_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, NONE, monkeypatch)
    with pytest.raises(ConfigError, match=r"does not open: No recommended backend") as told:
        Vault(tmp_path / "data", "keyring").write("ada", "crm", "token", {})
    assert "file:PATH" in str(told.value.remedy)


def test_missing_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError, match="not installed"):
        Vault(tmp_path / "data", "keyring").write("ada", "crm", "token", {})
