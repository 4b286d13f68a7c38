"""Python tools under the same approval and audit as servers' (N15)."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.config import ApprovalSettings, Settings
from naru.errors import PolicyError
from naru.telemetry.audit import open_audit
from naru.telemetry.audit_file import read_entries
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.supervised import SupervisedToolset
from naru.tools.supervision.approvals import Approvals
from naru.tools.supervision.calls import Supervision
from naru.tools.toolset import CallContext


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_a_function_is_audited_and_may_be_denied_like_a_server_s_tool(tmp_path: Path) -> None:
    audit = open_audit(Settings.model_validate({"hub": {"data_dir": tmp_path}}))
    open_to_all = SupervisedToolset(FunctionToolset([add]), "own", Supervision(audit))
    denied = Supervision(audit, Approvals(ApprovalSettings(deny=["own/add"])))
    assert (await open_to_all.call("add", {"a": 1, "b": 2}, CallContext("key_1"))).text == "3"
    with pytest.raises(PolicyError):
        await SupervisedToolset(FunctionToolset([add]), "own", denied).call("add", {"a": 1, "b": 2}, CallContext())
    await audit.close()
    told = [(one["server"], one["tool"], one["who"], one["outcome"]) for one in read_entries(tmp_path / "audit.jsonl")]
    assert told == [("own", "add", "key_1", "ok"), ("own", "add", "", "refused")]
