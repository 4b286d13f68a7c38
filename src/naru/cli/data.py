"""`naru data`: index documents, search them, check the database, print the reading role's SQL."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naru.builtins.data.databases.open import label_of
from naru.builtins.data.demo.reader import READER, reader_sql
from naru.builtins.data.documents import Refused, read_documents
from naru.builtins.data.indexing import Indexed
from naru.builtins.data.sources import DataSources
from naru.cli.terminal import AsJson, console, print_json, print_warnings
from naru.config import DataSettings

REFUSED_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _IndexResult:
    """What `naru data index` did."""

    collection: str
    documents: int
    """That the collection holds now."""
    embeddings: str
    read: int
    """Rows, sections and pages."""
    embedded: int
    unchanged: int
    refused: list[Refused]


app = typer.Typer(
    add_completion=False,
    help="Documents and the database of the data search server; settings as in .env.example.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def index(
    file: Annotated[
        Path, typer.Argument(help="Tables, JSON, YAML, text, Markdown, HTML, Excel, PDF, Word; or a folder of such.")
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Put what is read in place of all it holds now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Embed what is new or changed. The collection is CHROMADB_COLLECTION_NAME."""
    result = asyncio.run(_index(file, replace=replace))
    if as_json:
        print_json(asdict(result))
        return
    print(f"{result.documents} documents in collection {result.collection} ({result.embeddings})")
    if result.unchanged:
        print(f"{result.embedded} embedded, {result.unchanged} unchanged")
    shown = result.refused[:REFUSED_SHOWN]
    more = len(result.refused) - len(shown)
    lines = [f"{one.source}: left out, {one.reason}" for one in shown]
    print_warnings([*lines, *([f"… and {more} more; --json names them all"] if more else [])])


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    n_results: Annotated[int, typer.Option("--results", "-n", min=1, max=100, help="How many.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Show the documents most like QUERY, their closeness and source."""
    found = asyncio.run(_search(query, n_results))
    if as_json:
        print_json(found)
        return
    for one in found:
        print(f"{one['score']:.2f}  {one['text']}  [{one['source'] or one['id']}]")


@app.command()
def check(as_json: AsJson = False) -> None:
    """Connect to everything and say what is used. Proves that the database is only read."""
    found = asyncio.run(_check())
    if as_json:
        print_json(found)
        return
    print(f"embeddings: {found['embeddings']}; {found['dimensions']} numbers")
    print(f"documents: {found['documents']} in {found['collection']} ({found['vectors']})")
    print(f"database: {found['engine']} ({found['database']}); {found['refused']} writes tried and refused")
    print_warnings(found["warnings"])


@app.command("reader-sql")
def print_reader_sql(
    database: Annotated[str, typer.Option(help="Database that it may read.")] = "",
    role: Annotated[str, typer.Option(help="Name of the role.")] = READER,
) -> None:
    """Print the SQL that makes a role which only reads. Run it as the database's owner."""
    name = database or DataSettings().postgresql_db_name or "bga_database"
    print(reader_sql(name, role=role, password="change-me"), end="")  # noqa: S106  # a placeholder to be replaced


async def _index(path: Path, *, replace: bool) -> _IndexResult:
    reading = await asyncio.to_thread(read_documents, path)
    sources = DataSources()
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    indexed = Indexed()
    try:
        with Progress(*columns, console=out, disable=not out.is_terminal) as progress:
            task = progress.add_task(f"Indexing {path.name}", total=len(reading.documents))
            async for indexed in sources.index(reading.documents, replace=replace):
                progress.update(task, completed=indexed.done)
        return _IndexResult(
            collection=sources.settings.chromadb_collection_name,
            documents=await sources.store.count(),
            embeddings=sources.embedder.status,
            read=len(reading.documents) + len(reading.refused),
            embedded=indexed.embedded,
            unchanged=indexed.unchanged,
            refused=[*reading.refused, *indexed.refused],
        )
    finally:
        await sources.close()


async def _search(query: str, n_results: int) -> list[dict[str, Any]]:
    sources = DataSources()
    try:
        (found,) = await sources.find([query], n_results)
        return [
            {"id": one.id, "text": one.text, "score": round(one.score, 4), "source": one.metadata.get("source", "")}
            for one in found
        ]
    finally:
        await sources.close()


async def _check() -> dict[str, Any]:
    sources = DataSources()
    settings = sources.settings
    try:
        dimensions = len((await sources.embed(["나루"]))[0])
        checked = await sources.database.check()
        return {
            "embeddings": sources.embedder.status,
            "dimensions": dimensions,
            "documents": await sources.store.count(),
            "collection": settings.chromadb_collection_name,
            "vectors": "Chroma" if settings.chromadb_host else "local file",
            "engine": checked.engine,
            "database": label_of(settings) if settings.is_database_configured else "embedded, demo data",
            "refused": checked.refused,
            "warnings": list(checked.warnings),
        }
    finally:
        await sources.close()
