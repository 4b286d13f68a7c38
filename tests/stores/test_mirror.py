"""Which files of a data folder several hubs have in common, and how a hub's own come to be (R-27)."""

from __future__ import annotations

from pathlib import Path

from naru.stores.shared.mirror import Mirror


def test_renewed_tokens_are_brought_in_once_and_then_common(tmp_path: Path) -> None:
    """A refresh token that another hub has renewed is void here as well."""
    mirror, kept = Mirror(tmp_path), tmp_path / "tokens" / "a.json"
    kept.parent.mkdir()
    kept.write_text("mine", encoding="utf-8")
    kept.with_name(".a.json.lock").touch()
    assert mirror.covers("tokens/a.json")
    assert not mirror.covers("tokens/.a.json.lock")
    assert mirror.take([]) == ["tokens/a.json"]
    assert kept.read_text(encoding="utf-8") == "mine"
    assert mirror.take([("tokens/a.json", 7, b"another hub's")]) == []
    assert kept.read_text(encoding="utf-8") == "another hub's"
