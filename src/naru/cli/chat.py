"""`naru chat`: talk to the model with its tools in a terminal; what it calls is shown as it happens."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from naru.agent.events import AnswerText, CallFinished, CallStarted, RunFinished
from naru.agent.hooks import Hooks
from naru.agent.loop import run as run_agent
from naru.cli.options import BaseUrl, Config, JoinProgress, Model, settings_from
from naru.cli.serving import run
from naru.config import Settings
from naru.errors import NaruError
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest, Message

CONNECT_SECONDS = 10.0


def command(
    question: Annotated[str, typer.Argument(help="One question; without it, a conversation until Ctrl-D.")] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    demo: Annotated[bool, typer.Option("--demo", help="Register the HR server with its demo data.")] = False,
    config: Config = None,
) -> None:
    """Answer one question, or talk."""
    settings = settings_from(config, model__model=model, model__base_url=base_url, hub__demo=demo or None)
    run(_chat(settings, question))


async def _chat(settings: Settings, question: str) -> None:
    steps = Console(stderr=True, highlight=False, soft_wrap=True)
    async with open_hub(settings, progress=JoinProgress(steps)) as hub:
        await hub.manager.started(CONNECT_SECONDS)
        model = settings.model.model or next(iter(await hub.backend.models()), "")
        turns: list[Message] = []
        while text := question or _ask():
            turns.append(Message("user", text))
            try:
                turns.append(Message("assistant", await _answer(hub, model, tuple(turns), steps)))
            except NaruError as error:
                if question:
                    raise
                steps.print(f"[red]{escape(str(error))}[/red]")
            if question:
                return


def _ask() -> str:
    try:
        return input("› ").strip() or _ask() if sys.stdin.isatty() else sys.stdin.readline().strip()
    except EOFError:
        return ""


async def _answer(hub: Hub, model: str, turns: tuple[Message, ...], steps: Console) -> str:
    """Stream one answer to stdout, its calls to stderr."""
    request = ChatRequest(model, turns)
    answer = ""
    async with aclosing(
        run_agent(hub.backend, hub.tools(), request, limits=hub.limits, hooks=Hooks(journal=hub.journal))
    ) as events:
        async for event in events:
            match event:
                case CallStarted(call=call):
                    given = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
                    steps.print(f"[dim]· {escape(f'{call.name}({given})')}[/dim]")
                case CallFinished(call=call, result=result) if result.is_error:
                    steps.print(f"[dim]· {escape(call.name)} failed: {escape(result.text[:200])}[/dim]")
                case AnswerText(text=text):
                    sys.stdout.write(text)
                    sys.stdout.flush()
                case RunFinished():
                    answer = event.answer
    sys.stdout.write("\n")
    return answer
