"""`naru data`: index documents, search them, check the database, print the reading role's SQL."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naru.builtins.data.demo.reader import READER, reader_sql
from naru.builtins.data.documents import read_documents
from naru.builtins.data.sources import DataSources
from naru.cli.terminal import AsJson, console, print_json, print_warnings
from naru.config import DataSettings

app = typer.Typer(
    add_completion=False,
    help="Documents and the database of the data search server; settings as in .env.example.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def index(
    file: Annotated[Path, typer.Argument(help="JSON, JSON lines, CSV or plain lines; or a folder of such files.")],
    replace: Annotated[bool, typer.Option("--replace", help="Remove the collection first, with all it holds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Embed documents into the collection. Its name is CHROMADB_COLLECTION_NAME."""
    count, collection, embedder = asyncio.run(_index(file, replace=replace))
    if as_json:
        print_json({"collection": collection, "documents": count, "embeddings": embedder})
    else:
        print(f"{count} documents in collection {collection} ({embedder})")


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    n_results: Annotated[int, typer.Option("--results", "-n", min=1, max=100, help="How many.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Show the documents most like QUERY, nearest first."""
    found = asyncio.run(_search(query, n_results))
    if as_json:
        print_json(found)
        return
    for line in found:
        print(line)


@app.command()
def check(as_json: AsJson = False) -> None:
    """Connect to everything and say what is used. Proves that the database is only read."""
    found = asyncio.run(_check())
    if as_json:
        print_json(found)
        return
    print(f"embeddings: {found['embeddings']}; {found['dimensions']} numbers")
    print(f"documents: {found['documents']} in {found['collection']} ({found['vectors']})")
    print(
        f"database: PostgreSQL {found['postgresql']} ({found['database']}); {found['refused']} writes tried and refused"
    )
    print_warnings(found["warnings"])


@app.command("reader-sql")
def print_reader_sql(
    database: Annotated[str, typer.Option(help="Database that it may read.")] = "",
    role: Annotated[str, typer.Option(help="Name of the role.")] = READER,
) -> None:
    """Print the SQL that makes a role which only reads. Run it as the database's owner."""
    name = database or DataSettings().postgresql_db_name or "bga_database"
    print(reader_sql(name, role=role, password="change-me"), end="")  # noqa: S106  # a placeholder to be replaced


async def _index(file: Path, *, replace: bool) -> tuple[int, str, str]:
    documents = await asyncio.to_thread(read_documents, file)
    sources = DataSources()
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        if replace:
            await sources.store.clear()
        with Progress(*columns, console=out, disable=not out.is_terminal) as progress:
            task = progress.add_task(f"Indexing {file.name}", total=len(documents))
            async for done in sources.index(documents):
                progress.update(task, completed=done)
        name = sources.settings.chromadb_collection_name
        return await sources.store.count(), name, sources.embedder.status
    finally:
        await sources.close()


async def _search(query: str, n_results: int) -> list[str]:
    sources = DataSources()
    try:
        return (await sources.search([query], n_results))[0]
    finally:
        await sources.close()


async def _check() -> dict[str, Any]:
    sources = DataSources()
    settings = sources.settings
    try:
        dimensions = len((await sources.embed(["나루"]))[0])
        await sources.database.query("SELECT 1")
        proof = sources.database.proof
        assert proof is not None, "a query has run, so the self-test has"
        return {
            "embeddings": sources.embedder.status,
            "dimensions": dimensions,
            "documents": await sources.store.count(),
            "collection": settings.chromadb_collection_name,
            "vectors": "Chroma" if settings.chromadb_host else "local file",
            "postgresql": proof.server_version // 10_000,
            "database": "POSTGRESQL_DB_HOST" if sources.is_database_configured else "embedded, demo data",
            "refused": proof.refused,
            "warnings": list(proof.warnings),
        }
    finally:
        await sources.close()
