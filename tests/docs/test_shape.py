"""Every block and every command of the documents has the shape that it must have, also those that are not run."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripts import reference
from typer.core import TyperGroup
from typer.main import get_command

from naru.cli.main import app
from naru.config import load_settings
from naru.records import ServerRecord
from naru.stores.formats.shapes import parse_document, read_record
from naru.web.routes import RouteTable
from tests.docs.blocks import ROOT, Block, blocks, inline_commands

KNOWN = {"sh", "console", "python", "json", "yaml", "text"}
BLOCKS = blocks()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"].keys()
OTHER_PROGRAMS = {"docker", "kubectl", "python3", "install", "systemctl", "open-webui", "cp", "cat"}
"""Programs of others; only in blocks that are not run."""


def of(*languages: str) -> list[Any]:
    found = [block for block in BLOCKS if block.language in languages]
    return [pytest.param(block, id=block.id) for block in found]


@pytest.fixture(scope="module")
def routes() -> RouteTable:
    return RouteTable(reference.endpoints())


def test_there_are_blocks_and_each_names_its_language_and_gives_a_reason_when_it_is_not_run() -> None:
    assert len(BLOCKS) > 40
    for block in BLOCKS:
        assert block.language in KNOWN, block.id
        assert not block.reason or len(block.reason) > 10, block.id


@pytest.mark.parametrize("block", of("sh", "console"))
def test_the_commands_of_a_block_exist_with_their_options(block: Block, routes: RouteTable) -> None:
    for command in block.commands():
        check_command(command, block, routes)


@pytest.mark.parametrize(
    ("page", "command"), [pytest.param(*one, id=f"{one[0]} {one[1]}") for one in inline_commands()]
)
def test_a_command_in_running_text_exists_with_its_options(page: str, command: str) -> None:
    check_naru(shlex.split(command.replace("…", "").replace("'JSON_ARGS'", "'{}'"))[1:])


@pytest.mark.parametrize("block", of("python"))
def test_a_python_block_compiles(block: Block) -> None:
    compile(block.text, block.id, "exec")


@pytest.mark.parametrize("block", of("json"))
def test_a_json_block_is_json_and_our_loader_takes_its_servers(block: Block) -> None:
    for value in several(block.text):
        if isinstance(value, dict) and ("mcpServers" in value or "servers" in value):
            entries = list(parse_document(json.dumps(value)).entries())
            assert entries, block.id
            for name, place, entry in entries:
                read = read_record(name, place, entry, lambda: 1)
                assert isinstance(read, ServerRecord), read
        elif isinstance(value, dict) and ("url" in value or "command" in value):
            ServerRecord(name="x", config=value)
        elif isinstance(value, dict) and "config" in value:
            ServerRecord.model_validate(value)


@pytest.mark.parametrize("block", of("yaml"))
def test_a_yaml_block_is_taken_as_settings(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(yaml.safe_load(block.text), dict)
    if "not ours" in block.reason:
        return
    for name in [name for name in os.environ if name.startswith("NARU_")]:
        monkeypatch.delenv(name)
    file = tmp_path / "naru.yaml"
    file.write_text(block.text, encoding="utf-8")
    file.chmod(0o600)
    load_settings(file)


def several(text: str) -> list[Any]:
    """Read the JSON values that stand after one another."""
    decoder, values, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        values.append(value)
        rest = rest[end:].strip()
    return values


def check_command(command: str, block: Block, routes: RouteTable) -> None:
    words = shlex.split(command)
    while words and (re.fullmatch(r"[A-Z][A-Z0-9_]*=.*", words[0]) or words[0] == "export"):
        words = words[1:]
    if not words:
        return
    program = Path(words[0]).name
    if program == "naru":
        check_naru(words[1:])
    elif program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(f"\n{target}:" in makefile for target in words[1:]), command
    elif program == "pip" and words[1] == "install":
        wanted = re.search(r"\.\[([\w.,-]+)\]", command)
        assert wanted, command
        assert set(wanted[1].split(",")) <= EXTRAS, command
    elif program == "curl":
        check_curl(words, routes)
    elif program in ("naru-data", "naru-hr"):
        assert program in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    else:
        assert program in OTHER_PROGRAMS, f"{block.id}: what is {program}?"
        assert block.reason, f"{block.id}: {program} cannot be run here; say why"


def check_naru(words: list[str]) -> None:
    """Follow a command line to its command, and look every option up there."""
    command: Any = get_command(app)
    options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    while isinstance(command, TyperGroup) and words:
        if words[0].startswith("-"):
            assert words[0] in options | {"--help", "-h"}, words
            words = words[1:]
            continue
        inner = command.get_command(None, words[0])
        assert inner is not None, f"there is no command {words[0]!r}"
        command, words = inner, words[1:]
    options = {name for one in command.params for name in (*one.opts, *one.secondary_opts) if name.startswith("-")}
    for word in words:
        if word == "--":
            break
        if word.startswith("-") and len(word) > 1:
            assert word.partition("=")[0] in options | {"--help", "-h"}, (word, sorted(options))


def check_curl(words: list[str], routes: RouteTable) -> None:
    method, url, data = "GET", "", None
    rest = iter(words[1:])
    for word in rest:
        match word:
            case "-X":
                method = next(rest)
            case "-d":
                data = json.loads(next(rest))
                method = "POST" if method == "GET" else method
            case "-H":
                assert ":" in next(rest)
            case "-s" | "-N":
                pass
            case _:
                url = word
    path = re.sub(r"^http://(127\.0\.0\.1|localhost):20006", "", url)
    assert path.startswith("/"), url
    match = routes.match(path.partition("?")[0])
    assert match is not None, url
    assert method in match.by_method, (method, url)
    assert data is None or isinstance(data, dict)
