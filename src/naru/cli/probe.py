"""`naru probe MODEL`: measure what a model can do on its endpoint, and remember it."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict
from typing import Annotated, get_args

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from naru.cli.options import BaseUrl, JoinProgress, settings_from
from naru.cli.serve.listening import run
from naru.cli.terminal.output import AsJson, console, print_json, print_warnings
from naru.cli.tools import offered_tools
from naru.config import Settings
from naru.config.model import Wire
from naru.errors import NaruError
from naru.measuring import measure
from naru.messages import ToolDefinition
from naru.models.known.knowledge import Findings
from naru.models.open import findings_path, open_measurable
from naru.models.probe import Check, Report


def command(
    model: Annotated[str, typer.Argument(help="As for --model: a demo model, a GGUF file, or the endpoint's name.")],
    base_url: BaseUrl = "",
    api: Annotated[str, typer.Option(help=f"{', '.join(get_args(Wire))}.")] = "",
    as_json: AsJson = False,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Remember what was found for later requests.")] = True,
    own_tools: Annotated[
        bool, typer.Option("--own-tools/--no-own-tools", help="Show it your own tools too; none of them is run.")
    ] = True,
) -> None:
    """Ask two dozen short questions, print what works, and keep what does best: strategy, help for small models."""
    settings = settings_from(model__model=model, model__base_url=base_url, model__api=api)
    own = _own_tools(settings) if own_tools else ()
    run(_probe(settings, own, as_json=as_json, keep=keep))


def _own_tools(settings: Settings) -> Sequence[ToolDefinition]:
    """Return the tools that the hub offers; a store or hub that does not answer only costs the person's tools."""
    try:
        return offered_tools(settings).tools
    except NaruError as error:
        print_warnings([f"measured without your own tools: {error}"])
        return ()


async def _probe(settings: Settings, own: Sequence[ToolDefinition], *, as_json: bool, keep: bool) -> None:
    out = console(stderr=True)
    async with AsyncExitStack() as stack:
        closeness = importlib.import_module("naru.hub").open_closeness(settings, stack)
        rank = closeness.rank if closeness else None
        backend, knowledge, model = await open_measurable(settings, progress=JoinProgress(out))
        stack.push_async_callback(backend.close)
        steps = await stack.enter_async_context(aclosing(measure(backend, knowledge, model, own, rank)))
        report = await _followed(steps, model, out)
    if keep:
        path = findings_path(settings)
        checks = [asdict(check) for check in report.checks]
        await asyncio.to_thread(Findings(path).keep, knowledge.endpoint, model, report.profile, checks)
    if as_json:
        print_json(_as_json(report))
    else:
        _print(report)
        if keep:
            out.print(f"Kept in {findings_path(settings)}; it is used from the next start on.", soft_wrap=True)


async def _followed(steps: AsyncIterator[Check | Report], model: str, out: Console) -> Report:
    """Show the checks as they come; return what they come to."""
    report = Report("")
    with out.status(f"asking {escape(model)} …") as status:
        async for step in steps:
            if isinstance(step, Check):
                status.update(f"asking {escape(model)} … {step.name}: {step.passed} of {step.of}")
            else:
                report = step
    return report


def _print(report: Report) -> None:
    out = console()
    table = Table("", "check", "result", "seconds", "note", title=f"{report.model}", title_justify="left")
    for check in report.checks:
        mark = "[green]✓[/]" if check.is_passed else ("[yellow]~[/]" if check.passed else "[red]✗[/]")
        table.add_row(mark, check.name, f"{check.passed} of {check.of}", f"{check.seconds:.1f}", escape(check.note))
    out.print(table)
    profile = report.profile
    budget = profile.tool_budget or "no limit"
    out.print(
        f"Strategy: [bold]{profile.strategy}[/]   tools at once: [bold]{budget}[/]   "
        f"guided by: [bold]{profile.guided or 'nothing'}[/]   helped as a small model: "
        f"[bold]{'yes' if profile.small else 'no'}[/]"
    )


def _as_json(report: Report) -> dict[str, object]:
    profile = asdict(report.profile) | {"refused_parameters": sorted(report.profile.refused_parameters)}
    return {"model": report.model, "checks": [asdict(check) for check in report.checks], "profile": profile}
