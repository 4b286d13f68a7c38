"""`naru chat`: talk to the model with its tools in a terminal; what it calls is shown as it happens."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from naru.agent.events import AgentEvent, AnswerText, CallFinished, CallStarted, RunFinished
from naru.agent.loop import run as run_agent
from naru.cli.asking import Desk, ask_here
from naru.cli.called import as_called
from naru.cli.lines import Lines
from naru.cli.options import BaseUrl, Config, JoinProgress, Model, settings_from
from naru.cli.serving import run
from naru.cli.terminal import AsJson, console, plain, print_warnings
from naru.cli.told_once import unusable
from naru.config import Settings
from naru.errors import NaruError
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest, JsonObject, Message

CONNECT_SECONDS = 10.0


def command(
    question: Annotated[str, typer.Argument(help="One question; without it, a conversation until Ctrl-D.")] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    demo: Annotated[bool, typer.Option("--demo", help="Register the HR server with its demo data.")] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Answer one question, or talk; with --json one line for each answer, with the calls it took."""
    settings = settings_from(config, model__model=model, model__base_url=base_url, hub__demo=demo or None)
    run(_chat(settings, question, as_json=as_json))


async def _chat(settings: Settings, question: str, *, as_json: bool) -> None:
    steps = console(stderr=True)
    async with open_hub(settings, progress=JoinProgress(steps)) as hub:
        lines = Lines()
        ask_here(hub.manager.supervision, Desk(lines))
        await hub.manager.started(CONNECT_SECONDS)
        if hub.manager.store_trouble:
            print_warnings([hub.manager.store_trouble])
        print_warnings(f"{name}: {what}" for name, what in unusable(hub.manager).items())
        model = settings.model.model or next(iter(await hub.backend.models()), "")
        turns: list[Message] = []
        while text := question or await _ask(lines):
            turns.append(Message("user", text))
            try:
                request = ChatRequest(model, tuple(turns))
                answer = await (_answer_as_json(hub, request) if as_json else _answer(hub, request, steps))
                turns.append(Message("assistant", answer))
            except NaruError as error:
                if question:
                    raise
                steps.print(f"[red]{escape(plain(as_called(str(error))))}[/red]")
            if question:
                return


async def _ask(lines: Lines) -> str:
    """Return the next line that says something; empty at the end."""
    is_terminal = os.isatty(0)
    while True:
        if is_terminal:
            sys.stderr.write("› ")
            sys.stderr.flush()
        line = await lines.next()
        if line is None:
            if is_terminal:
                sys.stderr.write("\n")
            return ""
        if line.strip():
            return line.strip()


def _events(hub: Hub, request: ChatRequest) -> AsyncGenerator[AgentEvent, None]:
    return run_agent(hub.backend, hub.tools(), request, limits=hub.limits, hooks=hub.hooks)


async def _answer(hub: Hub, request: ChatRequest, steps: Console) -> str:
    """Stream one answer to stdout, its calls to stderr."""
    answer = ""
    async with aclosing(_events(hub, request)) as events:
        async for event in events:
            match event:
                case CallStarted(call=call):
                    given = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
                    steps.print(f"[dim]· {escape(plain(f'{call.name}({given})'))}[/dim]")
                case CallFinished(call=call, result=result) if result.is_error:
                    steps.print(f"[dim]· {escape(call.name)} failed: {escape(plain(result.text[:200]))}[/dim]")
                case AnswerText(text=text):
                    sys.stdout.write(plain(text) if sys.stdout.isatty() else text)
                    sys.stdout.flush()
                case RunFinished():
                    answer = event.answer
    sys.stdout.write("\n")
    return answer


async def _answer_as_json(hub: Hub, request: ChatRequest) -> str:
    """Print one answer with its calls as one line of JSON."""
    calls: list[JsonObject] = []
    told: JsonObject = {"question": request.messages[-1].text}
    async with aclosing(_events(hub, request)) as events:
        async for event in events:
            match event:
                case CallFinished(call=call, result=result, seconds=seconds, ran=ran):
                    wrote = {"writer": event.writer, "mended": event.mended}
                    outcome = {"text": result.text, "isError": result.is_error, "ran": ran, "seconds": seconds, **wrote}
                    calls.append({"name": call.name, "arguments": call.arguments, **outcome})
                case RunFinished(answer=answer, reason=reason, rounds=rounds):
                    told |= {"answer": answer, "ended": reason, "rounds": rounds, "calls": calls}
    sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    sys.stdout.flush()
    return str(told.get("answer", ""))
