"""`naru runs`: what the model did, step by step, from the store of runs; replayed offline or against a model (N13)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any, TypeVar

import typer
from rich.text import Text

from naru.agent.events import written_by
from naru.cli.options import BaseUrl, Config, JoinProgress, settings_from
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, console, group, plain, print_json, print_note, print_table
from naru.config import Settings
from naru.errors import NotFoundError, UserError
from naru.messages import JsonObject
from naru.models.backend import Backend
from naru.models.open import open_backend
from naru.replaying import replay as replay_run
from naru.stores.kept.runs import KEPT, RunStore
from naru.stores.shared.open import shared_tables

Found = TypeVar("Found")
app = group("List, show and replay runs.")

RunId = Annotated[str, typer.Argument(help="Its id, the beginning of it, or `latest`.")]
_WIDTH = 2000


@app.command("list")
def list_runs(
    words: Annotated[str, typer.Argument(help="Only runs with this in the question or the model's name.")] = "",
    reason: Annotated[str, typer.Option(help="Only runs that ended so: answered, failed, max_rounds …")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=KEPT, help="At most so many.")] = 20,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""
    store = _store(settings_from(config))
    found = asyncio.run(_closing(store, store.newest(limit=limit, text=words, reason=reason)))
    if as_json:
        print_json(list(found))
        return
    print_table(
        ("run", "started", "model", "ended", "seconds", "question"),
        [
            (run["id"], _moment(run["started_at"]), run["model"], run["reason"], f"{run['seconds']:.1f}", _line(run))
            for run in found
        ],
    )
    if not found:
        print_note("No runs are kept yet." if not (words or reason) else "No run matches.")


@app.command()
def show(run_id: RunId = "latest", config: Config = None, as_json: AsJson = False) -> None:
    """Show a run, step by step. What the model wrote, each call, its result; `--json` is the whole recording."""
    store = _store(settings_from(config))
    run = asyncio.run(_closing(store, _find(store, run_id)))
    if as_json:
        print_json(run)
    else:
        _print_run(run)


@app.command()
def replay(
    run_id: RunId = "latest",
    model: Annotated[str, typer.Option("--model", "-m", help="Ask this live model; tools answer as then.")] = "",
    base_url: BaseUrl = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Run it again from its recording. Says what differs; exits with 1 when something does."""
    settings = settings_from(config, model__model=model, model__base_url=base_url)
    outcome = asyncio.run(_replay(settings, run_id, model, is_live=bool(model or base_url)))
    if as_json:
        print_json(outcome)
    elif outcome["same"]:
        print("The replay came to the same.")
    else:
        for one in outcome["differences"]:
            print(f"{one['what']} differs")
            print(f"  before  {_short(one['before'])}\n  after   {_short(one['after'])}")
        if note := outcome["run"].get("note"):  # such as why the model did not answer
            print_note(plain(note))
    if not outcome["same"]:
        raise typer.Exit(Exit.NOT_WELL)


def _store(settings: Settings) -> RunStore:
    return RunStore(shared_tables(settings.hub) or settings.hub.data_dir / "runs.db")


async def _closing(store: RunStore, work: Awaitable[Found]) -> Found:
    try:
        return await work
    finally:
        await store.tables.close()


async def _find(store: RunStore, run_id: str) -> JsonObject:
    """Return the whole run that an id, the beginning of one, or `latest` names."""
    whole = await store.get(run_id)
    if whole is not None:
        return whole
    kept = await store.newest(limit=KEPT)
    matching = list(kept[:1]) if run_id == "latest" else [run for run in kept if run["id"].startswith(run_id)]
    if len(matching) > 1:
        raise UserError(f"{len(matching)} runs begin with {run_id!r}.", remedy="Give more of the id: naru runs list")
    found = await store.get(matching[0]["id"]) if matching else None
    if found is None:
        raise NotFoundError(
            "No runs are kept yet." if run_id == "latest" else f"There is no run {run_id!r}.",
            remedy="See: naru runs list",
        )
    return found


async def _replay(settings: Settings, run_id: str, model: str, *, is_live: bool) -> JsonObject:
    store = _store(settings)
    run = await _closing(store, _find(store, run_id))
    async with _backend(settings, is_live=is_live) as backend:
        name = model or (settings.model.model if is_live else "")
        return await replay_run(run, backend=backend, model=name)


@asynccontextmanager
async def _backend(settings: Settings, *, is_live: bool) -> AsyncIterator[Backend | None]:
    if not is_live:
        yield None
        return
    backend = await open_backend(settings, progress=JoinProgress(console(stderr=True)))
    try:
        yield backend
    finally:
        await backend.close()


def _print_run(run: JsonObject) -> None:
    out = console()

    def line(label: str, style: str, text: str, note: str = "") -> None:
        body = f"\n{' ' * 10}".join(plain(text).splitlines() or [""])
        out.print(Text.assemble((f"  {label:<8}", style), body, (f"  {note}" if note else "", "dim")))

    out.print(Text(plain(run["question"]), style="bold"))
    note = f"{run['model']} · {_moment(run['started_at'])} · {run['seconds']:.1f} s · {run['reason']} · {run['id']}"
    out.print(Text(note, style="dim"))
    for one in run["rounds"]:
        shown = f"tools shown: {_short(', '.join(one['offered']))}" if one["offered"] else "no tools shown"
        heading = "the last turn without tools" if one["final"] else shown
        out.print(Text(plain(f"Round {one['round']}, {heading}"), style="bold"))
        if one["round"]:  # Round 0 holds calls that were made before the model was asked.
            line("model", "cyan", _short(one.get("raw", "")), f"{one.get('seconds', 0):.2f} s")
        for call in one["calls"]:
            note = written_by(call.get("writer", ""), call.get("mended", False)) if call["ran"] else "not run"
            line("call", "yellow", f"{call['name']} {_short(call['arguments'])}", note)
            end = ("failed", "red") if call["is_error"] else ("result", "green")
            line(*end, _short(call["text"]), f"{call['seconds'] * 1000:.0f} ms")
    line("answer", "bold green", run["answer"] or run.get("note") or "none")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]} … ({len(text)} characters; --json has all)"


def _line(run: JsonObject) -> str:
    flat = " ".join(run["question"].split())
    return flat if len(flat) <= 100 else f"{flat[:99]}…"


def _moment(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
