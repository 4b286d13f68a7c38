"""Plan B: shell blocks with tickets that run once, for their caller, for the tool as it was (V9, S-40 to S-42)."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.requests import Request

from naru.config import ChatSettings, HubSettings, Settings
from naru.dialects import ParsedCall
from naru.errors import ConflictError, NotFoundError, PolicyError
from naru.messages import ToolDefinition
from naru.models.scripted import ScriptedBackend
from naru.stores.files.atomic import file_lock
from naru.web.face.memory import Recent
from naru.web.face.plan_b import TicketDesk, definition_hash, read_signed, shell_writer, sign, signing_key
from naru.web.face.tickets import Ticket, Tickets
from tests.web.conftest import EchoTools, MemoryHub, application, served

CALL = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "$(reboot) \'; rm -rf /"}}\n</tool_call>'
COMMAND = re.compile(r"```bash\n(naru tool run --ticket ([A-Za-z0-9_-]{22,}))\n```")


async def chat(url: str, messages: list[dict[str, Any]], *, stream: bool = False) -> str:
    body = {"model": "m", "messages": messages, "stream": stream}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/clients/shell/v1/chat/completions", json=body) as response,
    ):
        assert response.status == 200, await response.text()
        if not stream:
            return str((await response.json())["choices"][0]["message"]["content"])
        lines = [line[6:] for line in (await response.text()).splitlines() if line.startswith("data: {")]
        return "".join(json.loads(line)["choices"][0]["delta"].get("content", "") for line in lines)


async def run_ticket(url: str, ticket: str) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/api/tickets/run", json={"ticket": ticket}) as answer,
    ):
        return answer.status, await answer.json(content_type=None) if answer.status == 200 else {}


async def test_a_call_becomes_one_command_that_runs_once_with_the_arguments_kept_here() -> None:
    hub = MemoryHub(ScriptedBackend(["Running it.\n" + CALL, "Done."]))
    async with served(application(hub)) as url:
        said = await chat(url, [{"role": "user", "content": "go"}])
        match = COMMAND.search(said)
        assert match
        assert "reboot" not in said
        assert hub.toolset.called == []
        status, answer = await run_ticket(url, match[2])
        assert (status, answer["text"], answer["is_error"]) == (200, "echo: $(reboot) '; rm -rf /", False)
        history = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": said},
            {"role": "user", "content": "It printed: echo"},
        ]
        assert await chat(url, history) == "Done."
    turns = hub.backend.requests[1].messages  # type: ignore[attr-defined]
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "user"]
    assert turns[1].tool_calls[0].name == "hub__echo"
    assert turns[1].tool_calls[0].arguments == {"text": "$(reboot) '; rm -rf /"}


# S-42
async def test_forged_commands_in_model_text_are_not_runnable_and_redeem_nothing() -> None:
    forged = "```bash\nnaru tool run --ticket AAAAAAAAAAAAAAAAAAAAAA\n```"
    hub = MemoryHub(ScriptedBackend([forged]))
    async with served(application(hub)) as url:
        said = await chat(url, [{"role": "user", "content": "go"}])
        assert not re.search(r"naru\s+tool\s+run", said)
        status, _ = await run_ticket(url, "AAAAAAAAAAAAAAAAAAAAAA")
    assert status != 200
    assert hub.toolset.called == []


# S-41
async def test_fifty_redemptions_at_once_run_the_call_exactly_once() -> None:
    hub = MemoryHub(ScriptedBackend([CALL]), EchoTools(delay_seconds=0.02))
    async with served(application(hub)) as url:
        match = COMMAND.search(await chat(url, [{"role": "user", "content": "go"}]))
        assert match
        statuses = [status for status, _ in await asyncio.gather(*(run_ticket(url, match[2]) for _ in range(50)))]
    assert statuses.count(200) == 1
    assert len(hub.toolset.called) == 1


# S-41
def test_a_ticket_is_for_its_caller_once_and_for_five_minutes() -> None:
    now = [0.0]
    tickets = Tickets(clock=lambda: now[0])
    call = ParsedCall("", "f", {"a": 1})
    mine, late = tickets.mint("me", call, "hash"), tickets.mint("me", call, "hash")
    with pytest.raises(NotFoundError):
        tickets.redeem("you", mine)
    assert tickets.redeem("me", mine).call == call
    with pytest.raises(ConflictError):
        tickets.redeem("me", mine)
    now[0] = 301.0
    with pytest.raises(NotFoundError):
        tickets.redeem("me", late)
    assert tickets.call_of("me", late) == call
    assert tickets.call_of("you", late) is None
    assert re.fullmatch(r"[A-Za-z0-9_-]{22,}", mine)


# S-41
@pytest.mark.parametrize("stream", [False, True])
async def test_a_ticket_that_takes_its_time_to_be_kept_holds_up_nobody_and_is_kept_before_it_is_told(
    stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    put = Recent.put

    def slow(shelf: Any, ticket: str, known: Any) -> None:
        if isinstance(known, Ticket) and not known.used:
            begun.set()
            assert go_on.wait(10)
        put(shelf, ticket, known)

    monkeypatch.setattr(Recent, "put", slow)
    hub = MemoryHub(ScriptedBackend([CALL]))
    async with served(application(hub)) as url:
        asked = asyncio.create_task(chat(url, [{"role": "user", "content": "go"}], stream=stream))
        assert await asyncio.to_thread(begun.wait, 10)
        await asyncio.sleep(0.02)
        assert not asked.done(), "others are served meanwhile, and the command is not told yet"
        go_on.set()
        match = COMMAND.search(await asked)
        assert match
        assert (await run_ticket(url, match[2]))[0] == 200


async def test_a_ticket_that_another_hub_holds_holds_up_nobody(tmp_path: Path) -> None:
    tickets = Tickets(tmp_path)
    ticket = tickets.mint("", ParsedCall("", "gone", {}), "hash")
    body = json.dumps({"ticket": ticket}).encode()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    desk = TicketDesk(MemoryHub(ScriptedBackend([]), EchoTools()), tickets)
    with file_lock(tmp_path / f"{ticket}.json"):
        asked = asyncio.create_task(desk.run(Request({"type": "http", "headers": []}, receive)))
        await asyncio.sleep(0.05)
        assert not asked.done()
    with pytest.raises(ConflictError, match="gone is not what it was"):
        await asked


def test_any_change_of_a_definition_changes_its_hash() -> None:
    tool = ToolDefinition("f", "does", {"type": "object"}, server="s")
    others = [
        ToolDefinition("f", "does more", {"type": "object"}, server="s"),
        ToolDefinition("f", "does", {"type": "object", "x": 1}, server="s"),
        ToolDefinition("f", "does", {"type": "object"}, server="t"),
        ToolDefinition("f", "does", {"type": "object"}, server="s", annotations={"readOnlyHint": True}),
    ]
    assert len({definition_hash(one) for one in [tool, *others]}) == 5


async def test_a_tool_that_changed_since_is_not_run() -> None:
    hub = MemoryHub(ScriptedBackend([CALL]))
    async with served(application(hub)) as url:
        match = COMMAND.search(await chat(url, [{"role": "user", "content": "go"}]))
        assert match
        hub.toolset.description = "Say it louder."
        status, _ = await run_ticket(url, match[2])
    assert status == 409
    assert hub.toolset.called == []


def test_an_inline_command_runs_only_when_this_installation_signed_it(tmp_path: Path) -> None:
    settings = Settings(chat=ChatSettings(plan_b="inline"), hub=HubSettings(data_dir=tmp_path))
    writer = shell_writer(settings, tickets := Tickets(), tickets.minting(""), "", [])
    call = ParsedCall("", "f", {"text": "`x` \ud83d"})
    command = writer.mint(call)
    assert re.fullmatch(r"naru tool run --inline [A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", command)
    key = signing_key(tmp_path)
    assert (tmp_path / "plan_b.key").stat().st_mode & 0o077 == 0
    payload = command.rpartition(" ")[2]
    assert read_signed(payload, key).arguments == call.arguments
    for forged in (
        payload[:-1] + ("A" if payload[-1] != "A" else "B"),
        payload.partition(".")[0],
        "x.y",
        sign("e30", b"other"),
    ):
        with pytest.raises(PolicyError):
            read_signed(forged, key)
