"""MCPB bundles: added after they were shown, asked for what they need, and harmless until then (issue 22, line 10)."""

from __future__ import annotations

import json
import shutil
import stat
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from naru.cli.published import bundle as bundles
from naru.cli.published.bundle import read_bundle, unpack
from naru.errors import ConfigError

SERVER = Path(__file__).parents[2] / "journeys" / "paper_server.py"
TOOL = {"name": "draw", "description": "Draws a square.", "inputSchema": {"type": "object"}}
SECRET = "Zq7xW2pLm9vRt4sB8nKc3Jd6"


def manifest(**changed: Any) -> dict[str, Any]:
    launch = {"command": sys.executable, "args": ["${__dirname}/server/main.py", "${__dirname}/tools.json"]}
    return {
        "manifest_version": "0.3",
        "name": "Paper & pens",
        "version": "1.2.0",
        "description": "Draws.",
        "author": {"name": "Kim"},
        "server": {"type": "python", "entry_point": "server/main.py", "mcp_config": launch},
        **changed,
    }


def made(folder: Path, told: dict[str, Any] | None = None, **files: bytes) -> Path:
    """Write a bundle whose server runs."""
    path = folder / "paper.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(told or manifest()))
        archive.write(SERVER, "server/main.py")
        archive.writestr("tools.json", json.dumps([TOOL]))
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def kept(folder: Path) -> list[dict[str, Any]]:
    return list(json.loads((folder / "listed.json").read_text(encoding="utf-8")))


@pytest.mark.slow
def test_a_bundle_is_shown_then_added_and_its_server_runs(naru: Any, tmp_path: Path) -> None:
    path = made(tmp_path)
    shown = naru("servers", "add", "paper", str(path), code=1)
    assert "It runs on this machine, with your rights" in shown.stderr
    assert "server/main.py" in shown.stderr
    assert "Say --yes" in shown.stderr
    assert not (tmp_path / "data" / "bundles").exists(), "nothing is laid down before a yes"
    assert json.loads(naru("servers", "list", "--json").stdout) == []
    naru("servers", "add", "paper", str(path), "--yes")
    assert "draw" in naru("tools", "list", "--server", "paper").stdout


def test_what_a_bundle_asks_for_is_needed_checked_and_hidden(naru: Any, tmp_path: Path) -> None:
    launch = {
        "command": "node",
        "args": ["${__dirname}/server/main.js", "--port", "${user_config.port}", "${user_config.folders}"],
        "env": {"API_KEY": "${user_config.api_key}", "EMPTY": "${user_config.nickname}"},
        "platform_overrides": {sys.platform: {"command": "node22"}},
    }
    asks = {
        "api_key": {"type": "string", "title": "Key", "sensitive": True, "required": True},
        "port": {"type": "number", "default": 8080},
        "folders": {"type": "directory", "multiple": True, "default": ["${HOME}/Desktop", "${DOCUMENTS}"]},
        "nickname": {"type": "string"},
    }
    told = manifest(user_config=asks, server={"type": "node", "entry_point": "server/main.js", "mcp_config": launch})
    path = str(made(tmp_path, told))
    missing = naru("servers", "add", "paper", path, "--yes", code=2)
    assert "This server needs: api_key (Key). --set api_key=…" in missing.stderr
    assert "is no input" in naru("servers", "add", "paper", path, "--yes", "--set", "nothing=1", code=2).stderr
    told = naru("servers", "add", "paper", path, "--yes", "--set", "SENTINEL-s1", code=2).stderr
    assert "is no NAME=VALUE" in told
    assert "SENTINEL" not in told
    assert "is a number" in naru("servers", "add", "paper", path, "--yes", "--set", "port=high", code=2).stderr
    twice = naru("servers", "add", "paper", path, "--yes", "--set", f"api_key={SECRET}", "--set", "api_key=k", code=2)
    assert "--set api_key was given more than once" in twice.stderr
    done = naru("servers", "add", "paper", path, "--yes", "--set", f"api_key={SECRET}", "--json")
    assert SECRET not in done.stdout + done.stderr
    entry = json.loads(naru("servers", "export", "--with-secrets").stdout)["mcpServers"]["paper"]
    assert entry["command"] == "node22"
    assert entry["env"] == {"API_KEY": SECRET}
    assert entry["args"][1:] == ["--port", "8080", f"{tmp_path}/Desktop", f"{tmp_path}/Documents"]
    naru("servers", "remove", "paper")
    given = [word for one in ("api_key=k", "folders=/a", "folders=/b c") for word in ("--set", one)]
    naru("servers", "add", "paper", path, "--yes", *given)
    entry = json.loads(naru("servers", "export", "--with-secrets").stdout)["mcpServers"]["paper"]
    assert entry["args"][3:] == ["/a", "/b c"]


@pytest.mark.parametrize(
    "launch",
    [
        {"command": "node", "args": ["${AWS_SECRET_ACCESS_KEY}"]},
        {"command": "node", "args": ["x"], "env": {"STOLEN": "${env:GITHUB_TOKEN}"}},
        {"command": "node", "args": ["--key=$GITHUB_TOKEN"]},
        {"command": "node", "args": ["{env:GITHUB_TOKEN}"]},
        {"command": "node", "args": ["os.environ/GITHUB_TOKEN"]},
        {"command": "node", "args": ["${input:password}"]},
        {"command": "node", "args": ["$${user_config.trap}"]},
        {"command": "${user_config.trap2}"},
    ],
    ids=lambda launch: json.dumps(launch),
)
def test_a_manifest_reads_no_variable_of_this_machine(naru: Any, tmp_path: Path, launch: dict[str, Any]) -> None:
    asks = {"trap": {"type": "string", "default": "{GITHUB_TOKEN}"}, "trap2": {"default": "${GITHUB_TOKEN}"}}
    told = manifest(user_config=asks, server={"type": "node", "entry_point": "main.js", "mcp_config": launch})
    refused = naru("servers", "add", "paper", str(made(tmp_path, told)), "--yes", code=2)
    assert "reads a variable of this machine" in refused.stderr
    assert json.loads(naru("servers", "list", "--json").stdout) == []


LINK = zipfile.ZipInfo("server/link")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
DEVICE = zipfile.ZipInfo("server/device")
DEVICE.external_attr = (stat.S_IFCHR | 0o666) << 16


@pytest.mark.parametrize(
    "member",
    [
        "../outside", "server/../../outside", "/etc/outside", "\\outside", "..\\outside", "C:\\outside", "C:outside",
        "a\x1bb", "manifest.json", "MANIFEST.json", "server//main.py", LINK, DEVICE,
    ],
    ids=lambda one: repr(getattr(one, "filename", one)),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_leads_elsewhere_or_is_no_file_is_refused_before_anything_is_written(
    tmp_path: Path, member: str | zipfile.ZipInfo
) -> None:
    path = made(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, b"/etc/passwd")
    with pytest.raises(ConfigError, match=r"cannot be added: .*(elsewhere|link|twice)"):
        read_bundle(path)


def test_sizes_are_counted_and_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path, **{"big.bin": bytes(3_000_000)})
    opened = read_bundle(path)
    monkeypatch.setattr(bundles, "MAX_BYTES", 1_000_000)
    with pytest.raises(ConfigError, match="unpacks to more"):
        read_bundle(path)
    monkeypatch.setattr(bundles, "_check", lambda *_: None)  # as if the directory had told a smaller size
    with pytest.raises(ConfigError, match="unpacks to more"):
        unpack(opened, tmp_path / "out" / "paper")
    assert list((tmp_path / "out").iterdir()) == [], "nothing is left of it"


def test_too_many_files_and_too_large_a_manifest_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MAX_FILES", 2)
    with pytest.raises(ConfigError, match="more than 2 files"):
        read_bundle(made(tmp_path))
    monkeypatch.undo()
    with pytest.raises(ConfigError, match="sensible size"):
        read_bundle(made(tmp_path, manifest(long="x" * 2_000_000)))


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ([], "no JSON object"), ({"name": "x"}, "names no server"), (manifest(name=""), "names no server"),
        (manifest(server={"type": "python", "entry_point": "../../bin/sh"}), "leads elsewhere"),
        (manifest(server={"type": "python"}), "does not say what to run"),
        (manifest(server={"type": "python", "mcp_config": "sh"}), "no object"),
        (manifest(compatibility={"platforms": ["plan9"]}), "it is for plan9"),
    ],
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused_with_its_reason(tmp_path: Path, told: Any, says: str) -> None:
    path = tmp_path / "odd.mcpb"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(told))
    with pytest.raises(ConfigError, match=says):
        read_bundle(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"text", b"\x00" * 4000])
def test_a_file_that_is_no_bundle_is_refused_without_a_traceback(naru: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.mcpb").write_bytes(content)
    assert "no zip file" in naru("servers", "add", "odd", "odd.mcpb", "--yes", code=2).stderr
    assert "There is no file" in naru("servers", "add", "odd", "none.mcpb", "--yes", code=3).stderr


def test_a_damaged_bundle_leaves_nothing_behind(tmp_path: Path) -> None:
    path = made(tmp_path, **{"noise.bin": bytes(range(256)) * 400})
    whole = path.read_bytes()
    content = bytearray(whole)
    at = content.index(b"noise.bin") + 40
    content[at : at + 40] = bytes(40)
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="damaged"):
        unpack(read_bundle(path), tmp_path / "out" / "paper")
    path.write_bytes(whole)
    shown = read_bundle(path)
    path.write_bytes(whole + b" ")
    with pytest.raises(ConfigError, match="not the file that was shown"):
        unpack(shown, tmp_path / "out" / "paper")
    assert list((tmp_path / "out").iterdir()) == []


def test_only_what_was_a_program_stays_one_and_all_is_the_owners_alone(tmp_path: Path) -> None:
    path = made(tmp_path)
    program = zipfile.ZipInfo("server/run")
    program.external_attr = (stat.S_IFREG | 0o4777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(program, b"#!/bin/sh\n")
    folder = tmp_path / "out" / "paper"
    unpack(read_bundle(path), folder)
    assert stat.S_IMODE((folder / "server" / "run").stat().st_mode) == 0o700, "no setuid, nobody else"
    assert stat.S_IMODE((folder / "server" / "main.py").stat().st_mode) == 0o600
    shutil.rmtree(folder)
