"""Options that several commands share."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from naru.cli.options import JoinProgress, settings_from


def test_the_joining_of_a_model_writes_nothing_into_a_pipe() -> None:
    written = io.StringIO()
    progress = JoinProgress(Console(file=written))
    for done in (0, 50, 100):
        progress("joining", done, 100)
    assert written.getvalue() == ""


def test_the_joining_of_a_model_is_shown_on_a_terminal() -> None:
    written = io.StringIO()
    progress = JoinProgress(Console(file=written, force_terminal=True))
    for done in (0, 50, 100):
        progress("joining", done, 100)
    assert "joining" in written.getvalue()


@pytest.mark.parametrize("named", ["", "--config", "NARU_CONFIG"])
def test_s24_settings_beside_that_are_not_read_are_told_by_what_serves(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    beside = tmp_path / "naru.yaml"
    beside.write_text("server: {allowed_hosts: [naru.example.com]}", encoding="utf-8")
    if named == "NARU_CONFIG":
        monkeypatch.setenv("NARU_CONFIG", str(beside))
    settings = settings_from(beside if named == "--config" else None, is_service=True)
    assert settings.server.allowed_hosts == (["naru.example.com"] if named else [])
    assert ("--config naru.yaml" in capsys.readouterr().err) is (not named)


def test_s24_a_variable_of_a_section_that_there_is_not_is_told_by_what_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NARU_SERVR__ALLOWED_HOSTS", '["naru.example.com"]')
    monkeypatch.setenv("NARU_SERVICE_HOST", "10.0.0.7")  # Kubernetes sets it for a service of the name
    assert settings_from().server.allowed_hosts == []
    assert capsys.readouterr().err == "", "a command that is done in a moment tells of its own work alone"
    settings_from(is_service=True)
    told = capsys.readouterr().err
    assert "NARU_SERVR__ALLOWED_HOSTS is read by no setting: there is no section servr. See: naru validate" in told
    assert "NARU_SERVICE_HOST" not in told
