"""`naru tool run --ticket` and `--inline` as a shell block runs them: real processes, a served hub (V9, S-44)."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from tests.web.conftest import MemoryHub, application, served

from naru.models.scripted import ScriptedBackend
from naru.web.face.plan_b import sign, signing_key

pytestmark = pytest.mark.slow

NARU = Path(sys.executable).parent / "naru"
CALL = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "\\u001b[31m$(reboot)"}}\n</tool_call>'


async def run(command: list[str], url: str, **variables: str) -> tuple[int, str, str]:
    port = str(urlsplit(url).port)
    process = await asyncio.create_subprocess_exec(
        "env",
        f"NARU_SERVER__PORT={port}",
        *(f"{name}={value}" for name, value in variables.items()),
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode is not None
    return process.returncode, out.decode(), error.decode()


async def shell_block(url: str) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/clients/shell/v1/chat/completions", json=body) as response,
    ):
        said = (await response.json())["choices"][0]["message"]["content"]
    match = re.search(r"```bash\n(.*)\n```", said)
    assert match
    return match[1]


async def test_the_command_of_a_shell_block_prints_the_result_once() -> None:
    hub = MemoryHub(ScriptedBackend([CALL]))
    async with served(application(hub)) as url:
        words = (await shell_block(url)).split()
        command = [str(NARU), *words[1:]]
        code, out, error = await run(command, url)
        assert (code, error) == (0, "")
        assert out == "echo: \x1b[31m$(reboot)\n"  # Not a terminal: bytes as they are.
        code, out, error = await run(command, url)
        assert code != 0
        assert out == ""
        assert "has been used" in error
    assert len(hub.toolset.called) == 1


async def test_a_tickets_result_is_json_where_json_is_asked_for() -> None:
    async with served(application(MemoryHub(ScriptedBackend([CALL])))) as url:
        words = (await shell_block(url)).split()
        _, out, _ = await run([str(NARU), *words[1:], "--json"], url)
    assert json.loads(out) == {"success": True, "result": "echo: \x1b[31m$(reboot)"}


async def test_a_forged_ticket_and_a_missing_hub_are_one_line_and_a_non_zero_exit() -> None:
    async with served(application(MemoryHub(ScriptedBackend([])))) as url:
        code, _, error = await run([str(NARU), "tool", "run", "--ticket", "A" * 22], url)
        assert code == 3
        assert "no such ticket" in error
        assert len(error.strip().splitlines()) == 1
    code, _, error = await run([str(NARU), "tool", "run", "--ticket", "A" * 22], "http://127.0.0.1:9")
    assert code == 5
    assert "naru serve" in error


async def test_an_inline_command_that_was_not_signed_here_is_not_run(tmp_path: Path) -> None:
    forged = sign("eyJuYW1lIjoiaHIiLCJhcmd1bWVudHMiOnt9fQ", b"another key")
    signing_key(tmp_path)
    command = [str(NARU), "tool", "run", "--inline", forged]
    code, out, error = await run(command, "http://127.0.0.1:9", NARU_HUB__DATA_DIR=str(tmp_path))
    assert code != 0
    assert out == ""
    assert "not written by this Naru" in error


# S-40
@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
async def test_every_shell_reads_the_command_as_the_same_five_words(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is missing: apt-get install {shell}")
    async with served(application(MemoryHub(ScriptedBackend([CALL])))) as url:
        command = await shell_block(url)
    script = f'naru() {{ printf "%s\\n" "$#" "$@"; }}\n{command}\n'
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["4", *command.split()[1:]]
