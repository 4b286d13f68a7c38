"""What a child is started with."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from naru.connections.state.faults import LinkError
from naru.connections.transports.launch import find_command, inherited_secrets, prepare


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_missing_command_names_the_path_that_was_searched() -> None:
    """f09"""
    with pytest.raises(LinkError) as caught:
        find_command("npx-nowhere", "/usr/bin:/bin")
    assert caught.value.failure.code == "command_not_found"
    assert "/usr/bin:/bin" in caught.value.failure.message
    assert "full path" in caught.value.failure.remedy
    assert "\n" not in caught.value.failure.message


@pytest.mark.parametrize(
    "folder",
    [
        ".nvm/versions/node/v22.1.0/bin",
        ".local/bin",
        ".bun/bin",
        ".deno/bin",
        ".docker/bin",
        ".volta/bin",
        ".cargo/bin",
    ],
)
def test_a_program_of_a_user_folder_is_found_where_a_desktop_start_does_not_look(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """f09, r2-30 and line 4 of issue 16; what lies beside it, as node beside npx, is on the child's PATH."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = executable(tmp_path / folder / "npx-of-nvm")
    executable(tmp_path / ".nvm/versions/node/v9.0.0/bin/npx-of-nvm") if "nvm" in folder else None
    launch = prepare({"command": "npx-of-nvm"})
    assert launch.argv[0] == str(found)
    assert launch.environment["PATH"] == f"/usr/bin:/bin:{found.parent}"


def test_where_a_missing_command_was_looked_for_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line 4."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".local/bin").mkdir(parents=True)
    with pytest.raises(LinkError) as caught:
        find_command("npx-nowhere", "/usr/bin:/bin")
    assert f"/usr/bin:/bin, then {tmp_path}/.local/bin" in caught.value.failure.message


def test_the_world_around_a_child_reaches_it_and_keys_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """r2-28, r2-29 and line 4: proxies in both cases, authorities, package indexes; S-33."""
    world = {
        "HTTP_PROXY": "http://proxy:1", "https_proxy": "http://u:SENTINEL-P1@proxy:2", "NO_PROXY": "localhost",
        "SSL_CERT_FILE": "/a.pem", "SSL_CERT_DIR": "/certs", "NODE_EXTRA_CA_CERTS": "/b.pem",
        "REQUESTS_CA_BUNDLE": "/c.pem",
        "PIP_INDEX_URL": "https://index/simple", "UV_DEFAULT_INDEX": "https://index/simple",
        "npm_config_registry": "https://registry/", "NARU_DATA_DIR": "/var/lib/naru",
    }  # fmt: skip
    keys = {"NPM_CONFIG__AUTHTOKEN": "CANARY", "UV_PUBLISH_TOKEN": "CANARY", "AWS_SECRET_ACCESS_KEY": "CANARY"}
    for name, value in {**world, **keys}.items():
        monkeypatch.setenv(name, value)
    environment = prepare({"command": sys.executable}).environment
    assert {name: environment.get(name) for name in world} == world
    assert "CANARY" not in str(environment)
    assert "SENTINEL-P1" in inherited_secrets()


def test_the_servers_own_path_is_used_for_the_look_up(tmp_path: Path) -> None:
    """f09"""
    tool = executable(tmp_path / "bin" / "own-tool")
    launch = prepare({"command": "own-tool", "env": {"PATH": str(tool.parent)}})
    assert launch.argv[0] == str(tool)
    assert launch.environment["PATH"] == str(tool.parent)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no PATH of its own")
def test_without_a_path_the_systems_own_folders_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """As every shell does where a service's environment lacks it."""
    monkeypatch.delenv("PATH")
    launch = prepare({"command": "sh"})
    assert launch.argv[0] == shutil.which("sh", path=os.defpath)
    assert launch.environment["PATH"] == os.defpath


def test_declared_variables_are_added_and_take_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """f09, S-33"""
    monkeypatch.setenv("HOME", "/home/of-naru")
    monkeypatch.setenv("NARU_SERVER__API_KEY", "CANARY-1")
    monkeypatch.setenv("OPENAI_API_KEY", "CANARY-2")
    monkeypatch.setenv("LD_PRELOAD", "CANARY-3")
    environment = prepare({"command": sys.executable, "env": {"A": "1"}}).environment
    assert environment["A"] == "1"
    assert environment["HOME"] == "/home/of-naru"
    assert "PATH" in environment
    assert "CANARY" not in str(environment)


def test_a_file_that_is_not_executable_and_a_folder_that_is_missing_are_told_apart(tmp_path: Path) -> None:
    plain = tmp_path / "server.py"
    plain.write_text("print()", encoding="utf-8")
    with pytest.raises(LinkError, match="exists but is not executable"):
        prepare({"command": str(plain)})
    with pytest.raises(LinkError, match="does not exist"):
        prepare({"command": "./nothing", "cwd": str(tmp_path)})
    with pytest.raises(LinkError, match="the folder"):
        prepare({"command": sys.executable, "cwd": str(tmp_path / "gone")})
    with pytest.raises(LinkError, match="NUL"):
        prepare({"command": sys.executable, "args": ["a\0b"]})


def test_a_relative_command_is_meant_from_the_servers_folder(tmp_path: Path) -> None:
    tool = executable(tmp_path / "bin" / "serve")
    assert prepare({"command": "./bin/serve", "cwd": str(tmp_path)}).argv == (str(tool),)


def test_arguments_arrive_as_they_are_written(tmp_path: Path) -> None:
    """S-23: an argv list, never a shell."""
    odd = ["a b", "$(touch x)", "`id`", "; rm -rf /", "한글", "", "C:\\Users\\me\\dir", "--flag=1"]
    assert prepare({"command": sys.executable, "args": odd}).argv[1:] == tuple(odd)


def test_a_batch_file_runs_through_cmd_with_its_arguments_intact(tmp_path: Path) -> None:
    """f10"""
    npx = executable(tmp_path / "npx.cmd")
    config = {
        "command": str(npx),
        "args": ["-y", "pkg", "a b", "C:\\Users\\me\\dir"],
        "env": {"COMSPEC": "C:\\cmd.exe"},
    }
    argv = prepare(config, platform="win32").argv
    assert argv == ("C:\\cmd.exe", "/d", "/c", str(npx), "-y", "pkg", "a b", "C:\\Users\\me\\dir")


@pytest.mark.parametrize("argument", ["a&calc", "%PATH%", 'say "x"', "a|b", "a\nb", "a^b"])
def test_a_batch_file_is_not_given_what_cmd_would_interpret(tmp_path: Path, argument: str) -> None:
    """S-23"""
    npx = executable(tmp_path / "npx.cmd")
    with pytest.raises(LinkError, match="would interpret"):
        prepare({"command": str(npx), "args": [argument]}, platform="win32")


def test_limits_of_a_record_are_read() -> None:
    """S-25"""
    limits = prepare({"command": sys.executable, "limits": {"memoryMb": 512, "cpuSeconds": 9, "openFiles": 64}}).limits
    assert (limits.memory_bytes, limits.cpu_seconds, limits.open_files) == (512 * 1024 * 1024, 9, 64)


@pytest.mark.parametrize("shell", [["cmd", "/c"], ["cmd.exe", "/C"]])
def test_what_a_guide_for_windows_puts_before_a_program_is_left_out_elsewhere(shell: list[str]) -> None:
    """f10"""
    config = {"command": shell[0], "args": [shell[1], "sh", "-c", "a b"]}
    assert prepare(config, platform="linux").argv[1:] == ("-c", "a b")
    assert Path(prepare(config, platform="linux").argv[0]).name == "sh"


def test_a_command_line_in_place_of_a_command_is_told_how_to_be_written() -> None:
    """f09"""
    with pytest.raises(LinkError) as caught:
        find_command("sh -c x", "/usr/bin:/bin")
    assert "Write 'sh' alone as `command`, and '-c x' as `args`" in caught.value.failure.remedy
