"""`naru demo`: three questions, a real small model, real tools, and everything that happens in between."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

from rich.console import Console
from rich.markup import escape

from naru.agent.events import (
    AgentEvent,
    AnswerText,
    CallFinished,
    CallStarted,
    ModelAnswered,
    ModelText,
    RoundStarted,
    RunFinished,
    written_by,
)
from naru.agent.hooks import Hooks
from naru.agent.loop import run as run_agent
from naru.cli.options import BaseUrl, JoinProgress, Model, settings_from
from naru.cli.serve.listening import run
from naru.cli.terminal.called import as_called
from naru.cli.terminal.output import AsJson, console, plain, print_json
from naru.cli.terminal.working import connected
from naru.config import Settings
from naru.errors import UpstreamError
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest, JsonObject, Message

QUESTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("How many vacation days does EMP003 have left in 2025?", ("remaining",)),
    ("EMP005의 부서를 알려 주세요.", ("department",)),
    ("¿Cuántos días de vacaciones usó EMP003 en 2025?", ("used",)),
)
"""Question, and the fields of the tools' results that its answer must name."""
_WIDTH = 400

GO_ON = """
[bold]How to go on[/bold]
  naru serve --demo          the same over HTTP, for any client, on http://127.0.0.1:20006/v1

  [dim]# pip install openai[/dim]
  from openai import OpenAI
  naru = OpenAI(base_url="http://127.0.0.1:20006/v1", api_key="none")
  answer = naru.chat.completions.create(
      model="{model}+tools",
      messages=[{{"role": "user", "content": "EMP002의 2025년 남은 연차는?"}}],
  )
  print(answer.choices[0].message.content)
"""


def command(model: Model = "", base_url: BaseUrl = "", as_json: AsJson = False) -> None:
    """Ask three questions; exit with 1 when one of them is not answered from a tool's result."""
    out = console(stderr=as_json)
    with tempfile.TemporaryDirectory(prefix="naru-demo-") as data_dir:
        # Nothing of an earlier run or installation may change what the demo shows.
        settings = settings_from(
            model__model=model, model__base_url=base_url, hub__store="memory:", hub__demo=True, hub__data_dir=data_dir
        )
        run(_demo(settings, out, as_json=as_json))


async def _demo(settings: Settings, out: Console, *, as_json: bool) -> None:
    started = time.monotonic()
    out.print("[dim]· starting the hub, the HR server and the model …[/dim]")
    async with open_hub(settings, progress=JoinProgress(out)) as hub:
        await _wait_for_tools(hub)
        name = (await hub.backend.models())[0]
        tools = await hub.tools().tools()
        out.print(f"[dim]· {name}, with {len(tools)} tools: {', '.join(tool.name for tool in tools)}[/dim]")
        asked = [await _ask(hub, name, question, facts, out) for question, facts in QUESTIONS]
    unanswered = sum(not one["isAnswered"] for one in asked)
    out.print(
        f"\n[dim]· {len(QUESTIONS) - unanswered} of {len(QUESTIONS)} answered, {time.monotonic() - started:.0f} s[/dim]"
    )
    if as_json:
        print_json({"model": name, "questions": asked})
    else:
        out.print(as_called(GO_ON.format(model=name)))
    if unanswered:
        sys.exit(1)


async def _wait_for_tools(hub: Hub) -> None:
    await connected(hub.manager)
    if not await hub.tools().tools():
        raise UpstreamError(f"The HR server offers no tools: {'; '.join(hub.not_ready()) or 'it gave an empty list'}.")


async def _ask(hub: Hub, model: str, question: str, facts: tuple[str, ...], out: Console) -> JsonObject:
    """Ask one question and show each step; return the answer, and whether it names the facts that the tools gave."""
    out.print(f"\n[bold cyan]? {escape(question)}[/bold cyan]")
    request = ChatRequest(model, (Message("user", question),))
    known: dict[str, Any] = {}
    answer = ""
    text = ""
    hooks = Hooks(rank=hub.hooks.rank, near=hub.hooks.near, weigh=hub.hooks.weigh)
    async for event in run_agent(hub.backend, hub.tools(), request, limits=hub.limits, hooks=hooks):
        if isinstance(event, ModelText):
            text += event.text
            continue
        if isinstance(event, CallStarted | RoundStarted | RunFinished) and text.strip():
            out.print(f"  [dim]model[/dim]   {escape(_short(text))}")
            text = ""
        _show(event, out)
        if isinstance(event, CallFinished) and isinstance(event.result.structured, dict):
            known |= event.result.structured
        if isinstance(event, RunFinished):
            answer = event.answer
    missing = [fact for fact in facts if str(known.get(fact, "\0")) not in answer]
    if missing:
        out.print(f"  [red]missing[/red] the answer does not name the {' and the '.join(missing)} that a tool gave")
    return {"question": question, "answer": answer, "isAnswered": not missing}


def _show(event: AgentEvent, out: Console) -> None:
    match event:
        case ModelAnswered(raw=raw, calls=calls) if calls:
            out.print(f"  [dim]model[/dim]   {escape(_short(raw))}")
        case CallStarted(call=call, writer=writer, mended=mended):
            given = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
            by = written_by(writer, mended)
            out.print(f"  [yellow]call[/yellow]    {escape(f'{call.name}({given})')} [dim]{by}[/dim]")
        case CallFinished(result=result, seconds=seconds):
            out.print(f"  [green]result[/green]  {escape(_short(result.text))} [dim]{seconds * 1000:.0f} ms[/dim]")
        case RunFinished(answer=answer, reason=reason):
            out.print(f"  [bold green]answer[/bold green]  {escape(answer)} [dim]({reason})[/dim]")
        case AnswerText():
            pass


def _short(text: str) -> str:
    flat = " ".join(plain(text).split())
    return flat if len(flat) <= _WIDTH else f"{flat[:_WIDTH]} …"
