"""`naru data`: index documents, search them, check the database, print the reading role's SQL."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naru.builtins.data.databases.open import label_of, own_label_of
from naru.builtins.data.demo.reader import READER, mysql_reader_sql, reader_sql
from naru.builtins.data.documents.document import Reading, Refused
from naru.builtins.data.documents.files import read_documents
from naru.builtins.data.indexing import Indexed
from naru.builtins.data.sources import DataSources
from naru.builtins.data.vectors.choose import collection_name
from naru.cli.data.ask import ask_database
from naru.cli.terminal.output import AsJson, console, group, print_json, print_note, print_warnings
from naru.cli.terminal.working import working
from naru.config import DataSettings
from naru.errors import NotFoundError
from naru.paths import found_at

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
    warnings: list[str]
    """What the database's opening found, or how a file's letters were read."""


app = group("Documents and the database of the data search server; settings as in .env.example.")


app.command("ask")(ask_database)

DatabaseUrl = Annotated[
    str,
    typer.Option(
        "--database",
        help="sqlite:///x.db, duckdb:///x.duckdb, mysql://…, postgresql://…, a CSV or Parquet file, a folder of such.",
        envvar="NARU_DATABASE_URL",
    ),
]


@app.command()
def index(
    file: Annotated[
        Path | None,
        typer.Argument(help="Tables, JSON, YAML, SQL, text, Markdown, HTML, Excel, PDF, Word; or a folder of such."),
    ] = None,
    database: DatabaseUrl = "",
    values: Annotated[bool, typer.Option(help="Tell a few values of columns that have few.")] = True,
    replace: Annotated[bool, typer.Option("--replace", help="Put what is read in place of all it holds now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Embed what is new or changed. The collection is CHROMADB_COLLECTION_NAME.

    Without FILE it reads the columns of the database, into a collection of their own.
    """
    if file is not None and not found_at(file):
        raise NotFoundError(f"There is no file or folder {file}.", remedy="Name one that holds documents.")
    result = asyncio.run(_index(file, _settings(database), replace=replace, values=values))
    if as_json:
        print_json(asdict(result))
        return
    print(f"{result.documents} documents in collection {result.collection} ({result.embeddings})")
    if result.unchanged:
        print(f"{result.embedded} embedded, {result.unchanged} unchanged")
    shown = result.refused[:REFUSED_SHOWN]
    more = len(result.refused) - len(shown)
    lines = [f"{one.source}: left out, {one.reason}" for one in shown]
    print_warnings([*result.warnings, *lines, *([f"… and {more} more; --json names them all"] if more else [])])


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    n_results: Annotated[int, typer.Option("--results", "-n", min=1, max=100, help="How many.")] = 3,
    database: DatabaseUrl = "",
    as_json: AsJson = False,
) -> None:
    """Show the documents most like QUERY, nearest first."""
    found = asyncio.run(_search(query, n_results, _settings(database)))
    if as_json:
        print_json(found)
        return
    for one in found:
        print(f"{one['score']:.2f}  {one['text']}  [{one['source'] or one['id']}]")
    if not found:
        print_note("Nothing was found. Say what to look for; documents are put in with: naru data index FILE-OR-FOLDER")


@app.command()
def check(database: DatabaseUrl = "", as_json: AsJson = False) -> None:
    """Connect to everything and say what is used. Proves that the database is only read."""
    found = asyncio.run(_check(_settings(database)))
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
    schema: Annotated[list[str] | None, typer.Option(help="Schema that it may read; repeatable.")] = None,
    engine: Annotated[Literal["postgresql", "mysql"], typer.Option(help="Whose SQL.")] = "postgresql",
) -> None:
    """Print the SQL that makes a role which only reads. Run it as the database's owner."""
    name = database or DataSettings().postgresql_db_name or "bga_database"
    if engine == "mysql":
        print(mysql_reader_sql(name, role=role), end="")
    else:
        placeholder = "change-me"
        print(reader_sql(name, role=role, password=placeholder, schemas=schema or ["public"]), end="")


def _settings(database: str) -> DataSettings:
    return DataSettings(naru_database_url=database) if database else DataSettings()


async def _index(path: Path | None, settings: DataSettings, *, replace: bool, values: bool) -> _IndexResult:
    reading = await asyncio.to_thread(read_documents, path) if path else Reading()
    sources = DataSources(settings)
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    report = Indexed()
    try:
        with Progress(*columns, console=out, disable=not out.is_terminal) as progress:
            task = progress.add_task(f"Indexing {path.name if path else label_of(settings)}", total=None)
            if path:
                indexing = sources.index(reading.documents, replace=replace)
                progress.update(task, total=len(reading.documents))
            else:
                indexing = sources.index_database(values=values)
            async for report in indexing:
                progress.update(task, completed=report.done)
        return _IndexResult(
            collection=collection_name(settings, "" if path else own_label_of(settings)),
            documents=await (sources.store if path else sources.columns).count(),
            embeddings=sources.embeddings,
            read=len(reading.documents) + len(reading.refused) if path else report.done,
            embedded=report.embedded,
            unchanged=report.unchanged,
            refused=[*reading.refused, *report.refused],
            warnings=[
                f"{name}: read as {encoding}, which it does not say" for name, encoding in reading.assumed.items()
            ]
            if path
            else list((await sources.database.check()).warnings),
        )
    finally:
        await sources.close()


async def _search(query: str, n_results: int, settings: DataSettings) -> list[dict[str, Any]]:
    sources = DataSources(settings)
    try:
        if settings.naru_database_url and not await sources.columns.count():
            print_note(
                f"The columns of database {label_of(settings)} were never indexed: naru data index --database URL "
                f"reads them. What is looked in is the collection {settings.chromadb_collection_name}."
            )
        with working("looking (the embedding model is loaded first)"):
            (found,) = await sources.find([query], n_results)
        return [
            {"id": one.id, "text": one.text, "score": round(one.score, 4), "source": one.metadata.get("source", "")}
            for one in found
        ]
    finally:
        await sources.close()


async def _check(settings: DataSettings) -> dict[str, Any]:
    sources = DataSources(settings)
    try:
        with working("embedding a word, then trying the database") as tell:
            dimensions = len((await sources.embed(["나루"]))[0])
            tell("trying the database")
            checked = await sources.database.check()
        return {
            "embeddings": sources.embeddings,
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
