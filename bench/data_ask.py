"""Questions with gold SQL over defog's schemas: Naru's way beside the same model with the whole schema in a prompt.

    .venv/bin/python bench/data_ask.py --model qwen2.5-coder-0.5b --databases postgresql,sqlite --every 4
    .venv/bin/python bench/data_ask.py --table

Both ways get each column's description. A question is right when its rows are those of a gold statement, as defog's own
judge has it: columns in any order, further ones allowed, rows in any order. The
SQLite form is the same rows in a file; its rows are compared with what the gold statement gives in PostgreSQL. Answers
go to `output/data_ask.jsonl`; a run that was stopped (`--seconds`) goes on where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import datetime
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.question_runs import started_engine

from naru.builtins.data.asking.ask import find_rows, schema_text, statement_in
from naru.builtins.data.asking.scope import Scope, Search
from naru.builtins.data.databases.catalogue import Catalogue, Column, Table, documents_of
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.open import open_database
from naru.builtins.data.embeddings.choose import choose_embedder, choose_reader, choose_second_reading
from naru.builtins.data.indexing import Indexer
from naru.builtins.data.ranking import CANDIDATES, ordered
from naru.builtins.data.vectors.local import LocalStore
from naru.config import DataSettings
from naru.errors import NaruError
from naru.messages import ChatRequest, Message, Text
from naru.models.known.families import profile_for
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend
from naru.stores.embedded_postgres import EmbeddedPostgres

DEFOG = Path(__file__).parent.parent / "tests" / "cases" / "defog"
OUTPUT = Path("output/data_ask.jsonl")
ORDINARY = """### Database schema
{schema}

### Task
Generate a {dialect} query that answers the question: {question}
Answer with the SQL query in a ```sql block and nothing else."""
"""The schema stands first, so that an engine's prompt cache helps the ordinary way as much as it can."""
_CHOICE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Question:
    number: int
    text: str
    database: str
    gold: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    model: str
    engine: str
    way: str
    number: int
    right: bool
    ran: bool
    sql: str
    seconds: float
    told: str = ""
    written: str = ""
    """As the model wrote it first."""


def questions() -> list[Question]:
    found = []
    for path in ("questions_gen_postgres.csv", "instruct_basic_postgres.csv"):
        with (DEFOG / path).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if not (row.get("instructions") or "").strip():
                    found.append(
                        Question(len(found), row["question"], row["db_name"], tuple(alternatives(row["query"])))
                    )
    return found


def alternatives(query: str) -> list[str]:
    """Return each gold statement, with every sensible choice of its optional columns."""
    found = []
    for one in filter(str.strip, query.split(";")):
        choice = _CHOICE.search(one)
        columns = [part.strip() for part in choice[1].split(",")] if choice else [""]
        chosen = [", ".join(some) for size in range(1, len(columns) + 1) for some in permutations(columns, size)]
        wanted = dict.fromkeys(chosen if choice else [""])
        found += [_CHOICE.sub(some, one).replace("{}", some).strip() for some in wanted]
    return found


def plain(value: Any) -> Any:
    """Make values of both engines comparable: numbers by five digits, dates as text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    text = str(value)
    if re.fullmatch(r"\d{4}-\d\d-\d\d[ T]00:00:00(\.0+)?([+]00(:00)?)?", text):
        return text[:10]
    try:
        return None if value is None else float(f"{float(value):.5g}")
    except (TypeError, ValueError):
        return text.replace("T", " ") if re.match(r"\d{4}-\d\d-\d\dT", text) else text


def is_same(gold: Sequence[Sequence[Any]], given: Sequence[Sequence[Any]]) -> bool:
    """Compare rows as defog's judge does: gold columns found among the given ones, then the rows, in any order."""
    if len(gold) != len(given) or not gold:
        return not gold and not given
    gold, given = [[plain(cell) for cell in row] for row in gold], [[plain(cell) for cell in row] for row in given]
    columns = [Counter(map(repr, column)) for column in zip(*given, strict=True)]
    wanted = [Counter(map(repr, column)) for column in zip(*gold, strict=True)]
    fits = [[place for place, column in enumerate(columns) if column == one] for one in wanted]
    if not all(fits) or len(wanted) > len(columns):
        return False
    tried = 0

    def search(chosen: list[int]) -> bool:
        nonlocal tried
        tried += 1
        if tried > 500:
            return False
        if len(chosen) == len(wanted):
            rows = [tuple(repr(row[place]) for place in chosen) for row in given]
            right = [tuple(map(repr, row)) for row in gold]
            return Counter(rows) == Counter(right)
        return any(search([*chosen, place]) for place in fits[len(chosen)] if place not in chosen)

    return search([])


class Model:
    """Writes with the engine; the ordinary way has no grammar."""

    def __init__(self, backend: OpenAIBackend, name: str) -> None:
        self._backend, self._name = backend, name

    async def write(self, prompt: str, *, grammar: str = "", max_tokens: int = 300) -> str:
        request = ChatRequest(
            self._name, (Message("user", prompt),), temperature=0.0, max_tokens=max_tokens, grammar=grammar
        )
        return "".join([event.text async for event in self._backend.stream(request) if isinstance(event, Text)])


@dataclass
class Asked:
    """One schema on one engine."""

    database: Database
    catalogue: Catalogue
    search: Search


def described(catalogue: Catalogue, name: str) -> Catalogue:
    """Add defog's descriptions, which its SQL files do not hold."""
    metadata = json.loads((DEFOG / f"{name}.json").read_text(encoding="utf-8"))["table_metadata"]
    texts = {
        (table.rpartition(".")[2], column["column_name"]): column["column_description"]
        for table, columns in metadata.items()
        for column in columns
    }
    return Catalogue(
        tuple(
            Table(
                table.name,
                tuple(
                    Column(one.name, one.type, one.comment or texts.get((table.name.rpartition(".")[2], one.name), ""),
                           one.is_key, one.values)
                    for one in table.columns
                ),
                table.comment,
                table.references,
            )
            for table in catalogue.tables
        )
    )  # fmt: skip


async def opened(settings: DataSettings, name: str, embedder: Any) -> Asked:
    database = open_database(settings)
    catalogue = described(await database.catalogue(), name)
    store = LocalStore(None, name)
    async for _ in Indexer(embedder, store).run(documents_of(catalogue, name)):
        pass

    reader = choose_reader(DataSettings(text_embedding_model_url="", _env_file=None))
    bare_names = choose_second_reading(embedder)

    async def search(question: str, count: int) -> list[tuple[str, str, float]]:
        (vector,) = await embedder.embed([question], "query")
        (found,) = await store.query([vector], CANDIDATES, embedder=embedder.name)
        found = await bare_names.nearer(vector, found) if bare_names else found
        return [
            (str(one.metadata["table"]), str(one.metadata["column"]), one.score)
            for one in await ordered(question, found, count, reader)
        ]

    return Asked(database, catalogue, search)


def sqlite_copy(dsn: str, catalogue: Catalogue, path: Path) -> None:
    """Write PostgreSQL's tables as a SQLite file."""
    kinds = {"big": "INTEGER", "int": "INTEGER", "sma": "INTEGER", "boo": "INTEGER"}
    kinds |= dict.fromkeys(("num", "dou", "rea"), "REAL")
    with psycopg.connect(dsn) as source, sqlite3.connect(path) as target:
        for table in catalogue.tables:
            bare = table.name.rpartition(".")[2]
            columns = ", ".join(f'"{one.name}" {kinds.get(one.type[:3], "TEXT")}' for one in table.columns)
            target.execute(f'CREATE TABLE "{bare}" ({columns})')
            schema, _, name = table.name.rpartition(".")
            rows = source.execute(f'SELECT * FROM {f"{schema}." if schema else ""}"{name}"'.encode()).fetchall()
            marks = ", ".join("?" * len(table.columns))
            target.executemany(
                f'INSERT INTO "{bare}" VALUES ({marks})', [[_cell(cell) for cell in row] for row in rows]
            )


def _cell(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return str(value)


@asynccontextmanager
async def databases(engines: Sequence[str], wanted: set[str]) -> AsyncIterator[dict[tuple[str, str], Asked]]:
    """Load the schemas and open each on each engine; gives them with PostgreSQL's connection strings."""
    embedder = choose_embedder(DataSettings(text_embedding_model_url="", _env_file=None))
    found: dict[tuple[str, str], Asked] = {}
    with EmbeddedPostgres() as server, tempfile.TemporaryDirectory() as folder:
        with psycopg.connect(server.dsn, autocommit=True) as admin:
            admin.execute("CREATE ROLE reader LOGIN; GRANT pg_read_all_data TO reader")
            for name in sorted(wanted):
                admin.execute(f"CREATE DATABASE {name}".encode())
        for name in sorted(wanted):
            with psycopg.connect(server.dsn_for(name), autocommit=True) as connection:
                connection.execute((DEFOG / f"{name}.sql").read_text(encoding="utf-8").encode())
                connection.execute("ANALYZE")
            parameters = psycopg.conninfo.conninfo_to_dict(server.dsn_for(name, user="reader"))
            settings = DataSettings(
                naru_database_url="", postgresql_db_host=str(parameters["host"]), postgresql_db_name=name,
                postgresql_db_user="reader", postgresql_db_port=int(parameters.get("port") or 5432), _env_file=None,
            )  # fmt: skip
            postgres = await opened(settings, name, embedder)
            found["postgresql", name] = postgres
            if "sqlite" in engines:
                path = Path(folder) / f"{name}.db"
                sqlite_copy(server.dsn_for(name), postgres.catalogue, path)
                url = DataSettings(naru_database_url=f"sqlite:///{path}", _env_file=None)
                found["sqlite", name] = await opened(url, name, embedder)
        try:
            yield found
        finally:
            for asked in found.values():
                await asked.database.close()


async def gold_rows(database: Database, question: Question) -> list[list[list[Any]]]:
    found = []
    for sql in question.gold:
        try:
            rows = [list(row.values()) for row in (await database.query(sql)).records]
        except NaruError:
            continue
        found.append(rows)
    return found


async def answer(way: str, question: Question, asked: Asked, model: Model) -> tuple[str, Any, str, str]:
    if way == "naru":
        done = await find_rows(question.text, asked.catalogue, asked.search, asked.database, model)
        return done.sql, done.result, done.failures[-1][1] if done.failures else "", done.written[0]
    whole = Scope(asked.catalogue.tables, (), ())
    schema = schema_text(whole, asked.database.dialect)
    prompt = ORDINARY.format(dialect=asked.database.dialect, question=question.text, schema=schema)
    sql = statement_in(await model.write(prompt, max_tokens=400))
    try:
        return sql, await asked.database.query(sql), "", sql
    except NaruError as error:
        return sql, None, str(error), sql


async def run(given: argparse.Namespace) -> None:
    engines, ways = given.databases.split(","), given.ways.split(",")
    asked_questions = questions()[given.start :: given.every]
    if given.only:
        asked_questions = [one for one in asked_questions if one.database in given.only.split(",")]
    done = {(one["model"], one["engine"], one["way"], one["number"]) for one in outcomes()}
    OUTPUT.parent.mkdir(exist_ok=True)
    ends = time.monotonic() + given.seconds
    async with (
        databases(engines, {question.database for question in asked_questions}) as found,
        started_engine(given.model, given.threads) as engine,
    ):
        backend = OpenAIBackend(Endpoint(engine.base_url, engine.api_key), profile_for(given.model), model=given.model)
        model = Model(backend, given.model)
        for engine_name, way, question in [
            (one, way, question)
            for database in dict.fromkeys(question.database for question in asked_questions)
            for one in engines
            for way in ways
            for question in asked_questions
            if question.database == database
        ]:
            if (given.model, engine_name, way, question.number) in done or time.monotonic() > ends:
                continue
            gold = await gold_rows(found["postgresql", question.database].database, question)
            start = time.monotonic()
            sql, result, told, written = await answer(way, question, found[engine_name, question.database], model)
            rows = [list(row.values()) for row in result.records] if result else []
            right = result is not None and any(is_same(one, rows) for one in gold)
            outcome = Outcome(
                given.model, engine_name, way, question.number, right, result is not None, sql,
                round(time.monotonic() - start, 1), told, written,
            )  # fmt: skip
            with OUTPUT.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")
            if given.verbose:
                print(f"{'+' if right else '-'} {way:8} {question.database}: {question.text}\n    {sql}\n    {told}")
                print(f"    wrote {written}")
                print(f"    gold {question.gold[0]}", flush=True)
        await backend.close()


def outcomes() -> list[dict[str, Any]]:
    return [json.loads(line) for line in OUTPUT.read_text(encoding="utf-8").splitlines()] if OUTPUT.exists() else []


def table() -> None:
    """Print the share right, on the questions that both ways were asked."""
    groups: dict[tuple[str, str], dict[str, dict[int, dict[str, Any]]]] = {}
    for one in outcomes():
        groups.setdefault((one["model"], one["engine"]), {}).setdefault(one["way"], {})[one["number"]] = one
    for (model, engine), ways in groups.items():
        both = set.intersection(*(set(way) for way in ways.values()))
        for way, found in ways.items():
            right = sum(found[number]["right"] for number in both)
            ran = sum(found[number]["ran"] for number in both)
            seconds = sum(found[number]["seconds"] for number in both) / max(len(both), 1)
            print(f"{model} {engine:10} {way:9} right {right}/{len(both)} ({right / max(len(both), 1):.0%}), "
                  f"ran {ran}, {seconds:.1f} s a question")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--databases", default="postgresql,sqlite")
    parser.add_argument("--ways", default="ordinary,naru")
    parser.add_argument("--every", type=int, default=1, help="ask a sample")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", default="", help="schemas")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    if not given.table:
        asyncio.run(run(given))
    table()


if __name__ == "__main__":
    main()
