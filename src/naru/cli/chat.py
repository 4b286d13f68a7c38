"""`naru chat`: talk to the model with its tools in a terminal; what it calls is shown as it happens."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Annotated

import typer
from rich.markup import escape

from naru.agent.events import AgentEvent, AnswerText, CallFinished, CallStarted, RunFinished
from naru.agent.loop import run as run_agent
from naru.cli.chat_hub import open_talk
from naru.cli.options import BaseUrl, Config, JoinProgress, Model, settings_from
from naru.cli.serve.listening import run
from naru.cli.terminal.asking import Desk, ask_here
from naru.cli.terminal.exit_codes import exit_code
from naru.cli.terminal.lines import Lines
from naru.cli.terminal.output import AsJson, console, plain, print_note, print_warnings
from naru.cli.terminal.told_once import news_of, unreadable, unusable
from naru.cli.terminal.working import connected
from naru.config import Settings
from naru.errors import NaruError
from naru.hub import open_hub
from naru.messages import ChatRequest, JsonObject, Message

CONNECT_SECONDS = 10.0


def command(
    question: Annotated[str, typer.Argument(help="One question; without it, a conversation until Ctrl-D.")] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    demo: Annotated[bool, typer.Option("--demo", help="Register the HR server with its demo data.")] = False,
    config: Config = None,
    as_json: AsJson = False,
    local: Annotated[bool, typer.Option("--local", help="Leave a hub that runs here alone; open all in here.")] = False,
) -> None:
    """Answer one question, or talk; with --json one line for each answer, with the calls it took.

    A hub that runs on this machine is asked, unless --local, --demo or --base-url wants another model or servers.
    """
    settings = settings_from(config, model__model=model, model__base_url=base_url, hub__demo=demo or None)
    lines = Lines()
    desk = Desk(lines)
    hub = None if local or demo or base_url else open_talk(settings, model, desk)
    if hub is not None:
        run(_Chat(hub.events, lines, as_json=as_json).go_on(question))
    else:
        run(_chat_here(settings, question, desk, as_json=as_json))


async def _chat_here(settings: Settings, question: str, desk: Desk, *, as_json: bool) -> None:
    """Talk with a model and servers of this process."""
    async with open_hub(settings, progress=JoinProgress(console(stderr=True))) as hub:
        ask_here(hub.manager.supervision, desk)
        await connected(hub.manager, CONNECT_SECONDS)
        if hub.manager.store_trouble:
            print_warnings([hub.manager.store_trouble])
        problems = news_of(unreadable(hub.manager) | unusable(hub.manager), settings.hub.data_dir)
        print_warnings(f"{name}: {what}" for name, what in problems.items())
        model = settings.model.model or next(iter(await hub.backend.models()), "")

        def events(turns: Sequence[Message]) -> AsyncGenerator[AgentEvent]:
            request = ChatRequest(model, tuple(turns))
            return run_agent(hub.backend, hub.tools(), request, limits=hub.limits, hooks=hub.hooks)

        await _Chat(events, desk.lines, as_json=as_json).go_on(question)


class _Chat:
    """One conversation, wherever its model is."""

    def __init__(
        self, events: Callable[[Sequence[Message]], AsyncGenerator[AgentEvent]], lines: Lines, *, as_json: bool
    ) -> None:
        self._events = events
        self._lines = lines
        self._as_json = as_json
        self._turns: list[Message] = []

    async def go_on(self, question: str) -> None:
        """Answer one question, or what is typed until the end."""
        failed: NaruError | None = None
        while text := question or await _ask(self._lines):
            self._turns.append(Message("user", text))
            try:
                async with aclosing(self._events(self._turns)) as events:
                    answer = await (_as_json(text, events) if self._as_json else _as_text(events))
                self._turns.append(Message("assistant", answer))
            except NaruError as error:
                if question:
                    raise
                self._turns.pop()
                print_note(str(error))
                failed = error
            if question:
                return
        if os.isatty(0):
            return  # a person has read it all
        if failed is not None:
            raise typer.Exit(exit_code(failed))
        if not self._turns:
            print_note('No question came. Ask one: naru chat "…", or write one a line to its input.')


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


async def _as_text(events: AsyncGenerator[AgentEvent]) -> str:
    """Stream one answer to stdout, its calls to stderr."""
    answer, steps = "", console(stderr=True)
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


async def _as_json(question: str, events: AsyncGenerator[AgentEvent]) -> str:
    """Print one answer with its calls as one line of JSON."""
    calls: list[JsonObject] = []
    told: JsonObject = {"question": question}
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
