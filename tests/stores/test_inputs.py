"""VS Code's `inputs`: defaults are used, what is asked for is named, a file of theirs stays theirs (N14)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from naru.records import ServerRecord
from naru.stores.formats.expand import expand
from naru.stores.formats.inputs import Input, read_inputs, wanted
from naru.stores.formats.shapes import parse_document
from naru.stores.json_file import JsonFileStore
from naru.stores.secrets.values import secrets_of

FILE = {
    "inputs": [
        {"type": "promptString", "id": "host", "description": "Which host?", "default": "h.example"},
        {"type": "promptString", "id": "api-key", "description": "GitHub token", "password": True},
        {"type": "pickString", "id": "mode", "options": ["r", {"label": "all", "value": "rw"}], "default": "r"},
        {"type": "promptString", "id": "price", "default": "5$ a ${DAY}"},
        {"type": "promptString", "id": "odd", "default": "a}b"},
        {"no": "id"},
        "nothing",
    ],
    "servers": {
        "a": {
            "url": "http://${input:host}/mcp?m=${input:mode}",
            "headers": {"Authorization": "Bearer ${input:api-key}"},
            "dev": {"watch": "x"},
        }
    },
}


def test_a_default_is_used_unless_the_variable_gives_another() -> None:
    ((_, _, entry),) = parse_document(json.dumps(FILE)).entries()
    assert expand(entry, server="a", variables={"NARU_INPUT_API_KEY": "k"})["url"] == "http://h.example/mcp?m=r"
    other = {"NARU_INPUT_API_KEY": "k", "NARU_INPUT_HOST": "o"}
    assert expand(entry, server="a", variables=other)["url"] == "http://o/mcp?m=r"


def test_inputs_of_settings_json_are_read_as_well() -> None:
    text = json.dumps({"mcp": {"inputs": FILE["inputs"], "servers": FILE["servers"]}})
    ((_, _, entry),) = parse_document(text).entries()
    assert "h.example" in entry["url"]


def test_what_has_no_default_is_named_with_its_question() -> None:
    inputs = read_inputs(FILE)
    assert list(wanted(FILE["servers"], {**inputs, "host": Input("host", default="x")})) != []
    ((_, _, entry),) = parse_document(json.dumps(FILE)).entries()
    (asked,) = wanted(entry, inputs)
    assert (asked.variable, asked.question) == ("NARU_INPUT_API_KEY", "GitHub token")
    assert inputs["mode"].question == "mode (r, rw)"


def test_a_default_that_cannot_stand_in_a_placeholder_is_asked_for_and_dollars_stay_dollars() -> None:
    inputs = read_inputs(FILE)
    assert inputs["odd"].default is None
    assert inputs["price"].default is None
    text = json.dumps({"inputs": [{"id": "p", "default": "5$HOME"}], "servers": {"a": {"command": "${input:p}"}}})
    ((_, _, entry),) = parse_document(text).entries()
    assert expand(entry, server="a", variables={"HOME": "/"})["command"] == "5$HOME"


async def test_writing_a_server_leaves_its_inputs_to_vs_code(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(FILE), encoding="utf-8")
    path.chmod(0o600)
    store = JsonFileStore(path)
    await store.open()
    (record,) = await store.list()
    assert isinstance(record, ServerRecord)
    assert "h.example" in record.config["url"]
    await store.update(record.model_copy(update={"config": {**record.config, "disabled": True}}))
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["inputs"] == FILE["inputs"]
    assert written["servers"]["a"]["url"] == FILE["servers"]["a"]["url"]
    assert written["servers"]["a"]["disabled"] is True


def test_only_what_vs_code_hides_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 16, line 6: `${input:…}` with password."""
    monkeypatch.setenv("NARU_INPUT_ZONE", "ap-northeast-2")
    monkeypatch.setenv("NARU_INPUT_PLACE", "SENTINEL-I1")
    inputs = [{"id": "zone", "type": "promptString"}, {"id": "place", "type": "promptString", "password": True}]
    servers = {"a": {"command": "x", "env": {"ZONE": "${input:zone}", "PLACE": "${input:place}"}}}
    document = parse_document(json.dumps({"inputs": inputs, "servers": servers}))
    ((_, _, entry),) = document.entries()
    assert secrets_of(entry, expand(entry, server="a")) == {"SENTINEL-I1"}
    assert {one.identifier for one in wanted(entry, document.inputs)} == {"zone", "place"}
