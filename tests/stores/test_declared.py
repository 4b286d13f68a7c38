"""Servers declared in YAML: one that cannot be used costs the others nothing (H8, f03, f08)."""

from __future__ import annotations

from pathlib import Path

from naru.config import load_settings
from naru.stores.declared import read_declared

YAML = """
mcp:
  servers:
    - {name: numbers, command: npx, args: [--port, 3000, true], env: {PORT: 3000, DEBUG: false, NO: }}
    - {name: bad-args, command: npx, args: x}
    - {name: bad-env, command: npx, env: [A]}
    - just a text
    - {name: [1], url: "http://h/"}
    - {name: bad-transport, url: "http://h/", transport: pigeon}
    - {url: "http://h/"}
    - {name: resting, url: "http://h/mcp", transport: http, lazy: true, idle-stop-ms: 5000}
    - {name: good, url: "http://h/mcp", transport: http}
"""


async def test_h8_a_declaration_that_cannot_be_used_is_named_and_the_others_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text(YAML, encoding="utf-8")
    declared = await read_declared(load_settings(file).mcp)
    assert list(declared.records) == ["numbers", "resting", "good"]
    assert declared.records["numbers"].config["args"] == ["--port", "3000", "true"]
    assert declared.records["numbers"].config["env"] == {"PORT": "3000", "DEBUG": "false"}
    assert declared.records["resting"].is_lazy(default=False)
    assert declared.records["resting"].idle_stop_seconds(0, is_lazy=False) == 5
    told = "\n".join(problem.reason for problem in declared.problems)
    assert len(declared.problems) == 6
    for said in (
        "mcp.servers[1] (bad-args): args",
        "mcp.servers[2] (bad-env): env",
        "mcp.servers[3] (nameless)",
        "mcp.servers[4] (nameless): name",
        "mcp.servers[5]: transport 'pigeon' is unknown",
        "mcp.servers[6]: the entry has no name",
    ):
        assert said in told
