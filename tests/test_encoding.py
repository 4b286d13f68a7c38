"""Any value that JSON can say is passed on, whole numbers beyond 64 bits included, wherever it comes by."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from naru.cli.tool.command import app
from naru.config import Settings
from naru.connections.rules.policy import Policy, PolicyGuard
from naru.encoding import encode
from naru.gateway.wire.seal import binding_of
from naru.messages import ToolDefinition, ToolResult
from naru.records import ServerRecord
from naru.stores.kept.conversations import ConversationStore
from naru.stores.kept.responses import Kept, ResponseStore
from naru.telemetry.audit import open_audit
from naru.telemetry.audit_file import read_entries
from naru.tools.supervision.calls import Call, Came, Supervision

HUGE = 2**128 - 1
ODD: list[Any] = [HUGE, -(2**70), "half \ud83d of a pair", {"list": [HUGE, None, True, 1.5, ""]}, {"\ud800": 1}]
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer", "minimum": 0, "maximum": HUGE}}}


@pytest.mark.parametrize("value", ODD, ids=ascii)
@pytest.mark.parametrize("option", [0, orjson.OPT_SORT_KEYS, orjson.OPT_INDENT_2])
def test_what_orjson_refuses_is_encoded_in_its_form(value: Any, option: int) -> None:
    written = encode({"value": value, "also": "한국어"}, option=option)
    assert json.loads(written) == {"value": value, "also": "한국어"}
    assert (b'"value": ' in written) is (option == orjson.OPT_INDENT_2)
    assert (written.find(b"also") < written.find(b"value")) is (option == orjson.OPT_SORT_KEYS)


def test_no_number_is_said_as_null_beside_a_huge_one_too() -> None:
    assert json.loads(encode([HUGE, float("nan"), float("-inf"), "NaN"])) == [HUGE, None, None, "NaN"]


def test_what_is_nested_too_deeply_is_said_to_be() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        encode(deep)


async def came_of(audited: Settings, arguments: dict[str, Any]) -> str:
    async def answer() -> ToolResult:
        return ToolResult.of_text("done")

    audit = open_audit(audited)
    call = Call("hr", "get", arguments, "key_1", ToolDefinition("get", "", SCHEMA))
    result = await Supervision(audit).run(call, answer, lambda result: Came(result.is_error, len(result.text)))
    await audit.close()
    return result.text


@pytest.mark.parametrize("arguments", ["shape", "values"])
async def test_a_call_with_a_huge_number_has_its_answer_and_its_line_in_the_audit_log(
    tmp_path: Path, arguments: str
) -> None:
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path}, "audit": {"arguments": arguments}})
    given = {f"argument{place}": value for place, value in enumerate(ODD)}
    assert await came_of(settings, given) == "done"
    (entry,) = read_entries(tmp_path / "audit.jsonl")
    assert entry["outcome"] == "ok"
    assert entry["arguments"]["shape"]["argument0"] == "integer"
    assert (str(HUGE) in entry["arguments"].get("values", "")) is (arguments == "values")
    again = tmp_path / "again"
    same = settings.model_copy(update={"hub": settings.hub.model_copy(update={"data_dir": again})})
    again.mkdir()
    (again / "audit.key").write_bytes((tmp_path / "audit.key").read_bytes())
    await came_of(same, dict(reversed(given.items())))
    assert next(iter(read_entries(again / "audit.jsonl")))["arguments"]["digest"] == entry["arguments"]["digest"]


async def test_a_call_is_answered_where_nothing_can_be_written_down(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    assert await came_of(Settings.model_validate({"hub": {"data_dir": tmp_path / "file"}}), {"id": 1}) == "done"


def test_a_tool_that_takes_128_bits_is_offered() -> None:
    guard = PolicyGuard(Policy())
    record = ServerRecord(name="ledger", config={"url": "https://ledger.example.com/mcp"})
    tool = ToolDefinition("get", "", SCHEMA, server="ledger")
    assert [one.name for one in guard.offered(record, [tool])] == ["get"]


def test_a_question_in_a_call_is_bound_to_a_huge_argument() -> None:
    bound = [binding_of("tools/call", {"name": "get", "arguments": {"id": HUGE - less}}) for less in (0, 0, 1)]
    assert bound[0] == bound[1] != bound[2]


async def test_responses_and_conversations_with_huge_numbers_are_kept(tmp_path: Path) -> None:
    item = {"id": "msg_1", "type": "message", "role": "user", "content": "hi", "number": HUGE}
    responses = ResponseStore(tmp_path / "responses.db", days=1)
    await responses.save("ada", Kept({"id": "resp_1", "created_at": 4_000_000_000, "output": [item]}, [item]))
    kept = await responses.get("ada", "resp_1")
    assert kept is not None
    assert (kept.input, kept.response["output"]) == ([item], [item])
    assert await responses.conversation("ada", "resp_1") == [item, item]
    conversations = ConversationStore(tmp_path / "conversations.db", days=1)
    await conversations.create("ada", "conv_1", {"number": HUGE}, 4_000_000_000)
    await conversations.add("ada", "conv_1", [item])
    assert await conversations.items("ada", "conv_1") == [item]
    assert await conversations.get("ada", "conv_1") == (4_000_000_000, {"number": HUGE})
    for store in (responses, conversations):
        await store.tables.close()


@pytest.mark.parametrize(
    ("words", "told"),
    [(["run"], str(2**70)), (["list"], '"default": 1180591620717411303424'), (["schema"], "1180591620717411303424")],
)
def test_a_function_with_a_huge_default_is_run_and_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    module = tmp_path / f"ledger_to_{words[0]}.py"
    module.write_text("def last(id: int = 2**70) -> int:\n    return id\n", encoding="utf-8")
    named = ["last"] if words == ["run"] else ["--json"] if words == ["list"] else []
    done = CliRunner().invoke(app, [*words, "--module", str(module), *named])
    assert done.exit_code == 0, done.output
    assert told in done.stdout
