"""`naru data`: index documents, search them, check the database, print the reading role's SQL."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naru.builtins.data.demo.reader import READER, reader_sql
from naru.builtins.data.documents import read_documents
from naru.builtins.data.sources import DataSources
from naru.config import DataSettings

app = typer.Typer(
    help="Documents and the database of the data search server; settings as in .env.example.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def index(
    file: Annotated[Path, typer.Argument(help="JSON, JSON lines, CSV or plain lines.")],
    replace: Annotated[bool, typer.Option("--replace", help="Remove the collection first, with all it holds.")] = False,
) -> None:
    """Embed the documents of FILE into the collection of CHROMADB_COLLECTION_NAME."""
    asyncio.run(_index(file, replace=replace))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    n_results: Annotated[int, typer.Option("--results", "-n", min=1, max=100, help="How many.")] = 3,
) -> None:
    """Show the documents most like QUERY, nearest first."""
    for line in asyncio.run(_search(query, n_results)):
        print(line)


@app.command()
def check() -> None:
    """Connect to everything, prove that the database is only read, and say what is used."""
    asyncio.run(_check())


@app.command("reader-sql")
def print_reader_sql(
    database: Annotated[str, typer.Option(help="Database that it may read.")] = "",
    role: Annotated[str, typer.Option(help="Name of the role.")] = READER,
) -> None:
    """Print the SQL that creates a role which only reads; run it as the database's owner."""
    name = database or DataSettings().postgresql_db_name or "bga_database"
    print(reader_sql(name, role=role, password="change-me"), end="")  # noqa: S106  # a placeholder to be replaced


async def _index(file: Path, *, replace: bool) -> None:
    documents = await asyncio.to_thread(read_documents, file)
    sources = DataSources()
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        if replace:
            await sources.store.clear()
        with Progress(*columns, console=console) as progress:
            task = progress.add_task(f"Indexing {file.name}", total=len(documents))
            async for done in sources.index(documents):
                progress.update(task, completed=done)
        name = sources.settings.chromadb_collection_name
        print(f"{await sources.store.count()} documents in collection {name} ({sources.embedder.status})")
    finally:
        await sources.close()


async def _search(query: str, n_results: int) -> list[str]:
    sources = DataSources()
    try:
        return (await sources.search([query], n_results))[0]
    finally:
        await sources.close()


async def _check() -> None:
    sources = DataSources()
    settings = sources.settings
    try:
        print(f"embeddings: {sources.embedder.status}; {len((await sources.embed(['나루']))[0])} numbers")
        where = "Chroma" if settings.chromadb_host else "local file"
        print(f"documents: {await sources.store.count()} in {settings.chromadb_collection_name} ({where})")
        await sources.database.query("SELECT 1")
        proof = sources.database.proof
        assert proof is not None, "a query has run, so the self-test has"
        where = "POSTGRESQL_DB_HOST" if sources.is_database_configured else "embedded, demo data"
        print(
            f"database: PostgreSQL {proof.server_version // 10_000} ({where}); {proof.refused} writes tried and refused"
        )
        for warning in proof.warnings:
            print(f"  warning: {warning}")
    finally:
        await sources.close()
