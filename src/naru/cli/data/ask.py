"""`naru data ask`: from a question to rows and a sentence, with the model of the settings."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from naru.agent.language import language_of
from naru.builtins.data.asking.ask import Asked, ask
from naru.builtins.data.sources import DataSources
from naru.cli.options import BaseUrl, Config, JoinProgress, Model, settings_from
from naru.cli.terminal.called import as_called
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, console, plain, print_json, print_note
from naru.config import DataSettings, Settings
from naru.messages import ChatRequest, Message, Text
from naru.models.backend import Backend
from naru.models.open import open_backend

ROWS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Writes with a backend; its grammar goes along where the engine knows grammars."""

    backend: Backend
    model: str

    async def write(self, prompt: str, *, grammar: str = "", max_tokens: int = 300) -> str:
        """Return what the model writes."""
        grammar = grammar if self.backend.profile.guided == "grammar" else ""
        turns = (Message("user", prompt),)
        request = ChatRequest(self.model, turns, temperature=0.0, max_tokens=max_tokens, grammar=grammar)
        return "".join([event.text async for event in self.backend.stream(request) if isinstance(event, Text)])


def ask_database(
    question: Annotated[str, typer.Argument(help="A question to the database, in any language.")],
    database: Annotated[
        str, typer.Option("--database", help="Its URL or path, as of `naru data index`.", envvar="NARU_DATABASE_URL")
    ] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Answer QUESTION from the database."""
    settings = settings_from(config, model__model=model, model__base_url=base_url)
    data = DataSettings(naru_database_url=database) if database else DataSettings()
    asked = asyncio.run(_ask(question, settings, data))
    if as_json:
        print_json(_as_json(asked))
    elif asked.result is not None:
        print_note(f"· {asked.sql}")
        for row in asked.result.records[:ROWS_SHOWN]:
            print(plain(json.dumps(row, ensure_ascii=False)))
        if len(asked.result.records) > ROWS_SHOWN or asked.result.is_truncated:
            print_note(f"… of {len(asked.result.records)} rows; --json prints them all")
        print(plain(asked.answer))
    if asked.result is None:
        sql, told = asked.failures[-1] if asked.failures else (asked.sql, "no statement was written")
        print(f"naru: No statement answered the question. The last one was {sql!r}: {told}", file=sys.stderr)
        print(as_called("Ask in other words, or with a larger model: `naru data ask --model …`."), file=sys.stderr)
        raise typer.Exit(Exit.NOT_WELL)


async def _ask(question: str, settings: Settings, data: DataSettings) -> Asked:
    sources = DataSources(data)
    steps = console(stderr=True)
    try:
        if not await sources.columns.count():
            print_note("· reading the database's columns, once (`naru data index --database` does so again)")
        catalogue = await sources.catalogue()
        backend = await open_backend(settings, progress=JoinProgress(steps))
        try:
            name = settings.model.model or next(iter(await backend.models()), "")
            writer, language = ModelWriter(backend, name), language_of(question)
            return await ask(question, catalogue, sources.find_columns, sources.database, writer, language=language)
        finally:
            await backend.close()
    finally:
        await sources.close()


def _as_json(asked: Asked) -> dict[str, Any]:
    found = asked.result
    return {
        "question": asked.question,
        "tables": [table.name for table in asked.scope.tables],
        "sql": asked.sql,
        "failures": [{"sql": sql, "told": told} for sql, told in asked.failures],
        "columns": found.columns if found else [],
        "records": found.records if found else [],
        "truncated": bool(found and found.is_truncated),
        "answer": asked.answer,
    }
