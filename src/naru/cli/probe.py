"""`naru probe MODEL`: measure what a model can do on its endpoint, and remember it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from naru.cli.options import BaseUrl, JoinProgress, settings_from
from naru.cli.serving import run
from naru.cli.terminal import AsJson, console, print_json
from naru.config import Settings
from naru.models.known.knowledge import Findings
from naru.models.open import findings_path, open_measurable
from naru.models.probe import Check, Report, probe


def command(
    model: Annotated[str, typer.Argument(help="As for --model: a demo model, a GGUF file, or the endpoint's name.")],
    base_url: BaseUrl = "",
    api: Annotated[str, typer.Option(help="auto, openai, ollama or gemini.")] = "",
    as_json: AsJson = False,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Remember what was found for later requests.")] = True,
) -> None:
    """Ask a dozen short questions, print what works, and keep the strategy that does best."""
    settings = settings_from(model__model=model, model__base_url=base_url, model__api=api)
    run(_probe(settings, as_json=as_json, keep=keep))


async def _probe(settings: Settings, *, as_json: bool, keep: bool) -> None:
    out = console(stderr=True)
    backend, knowledge, model = await open_measurable(settings, progress=JoinProgress(out))
    report = Report(model)
    try:
        with out.status(f"asking {escape(model)} …") as status:
            async with aclosing(probe(backend, knowledge, model)) as steps:
                async for step in steps:
                    if isinstance(step, Check):
                        status.update(f"asking {escape(model)} … {step.name}: {step.passed} of {step.of}")
                    else:
                        report = step
    finally:
        await backend.close()
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
