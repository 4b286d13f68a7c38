"""One question, answered: scope, statement, run, at most two repairs, the rows told in the question's language."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from naru.builtins.data.asking.grammar import select_grammar
from naru.builtins.data.asking.joins import links_of
from naru.builtins.data.asking.scope import Scope, Search, find_scope
from naru.builtins.data.databases.catalogue import Catalogue
from naru.builtins.data.databases.database import Database, QueryResult
from naru.builtins.data.databases.errors import QueryError, RefusedStatementError
from naru.builtins.data.databases.gather import quoted, quoted_table

REPAIRS = 2
ROWS_TOLD = 20
STATEMENT_TOKENS = 200
WRITE = """Write one {dialect} SELECT that answers the question.

{schema}

Question: {question}
{failures}Use these tables and columns only. Answer with the SQL alone."""
FAILED = "This was wrong: {sql}\nThe database says: {told}\nWrite a better one.\n"
TELL = """Question: {question}
The database's answer, as JSON rows: {rows}
Tell this answer in one or two sentences in {language}. Use only these rows."""
NO_ROWS = "none; nothing in the database is so"
_HANGUL = re.compile("[가-힣]")


class Writer(Protocol):
    """A model that writes one text."""

    async def write(self, prompt: str, *, grammar: str = "", max_tokens: int = 300) -> str:
        """Return what the model writes; with a grammar, where the model's engine knows grammars, nothing but that."""
        ...


@dataclass(slots=True)
class Asked:
    """What happened on the way to an answer."""

    question: str
    scope: Scope
    sql: str = ""
    written: list[str] = field(default_factory=list)
    """Statements as the model wrote them, before they were mended."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Statements that failed, each with the database's words."""
    result: QueryResult | None = None
    answer: str = ""


async def ask(
    question: str, catalogue: Catalogue, search: Search, database: Database, writer: Writer, *, language: str = ""
) -> Asked:
    """Answer a question; `result` is None when no statement ran.

    `language` is its name in English, when the caller can tell; else Korean is known by its letters.

    Raises:
        NaruError: the model or the database is not there.
    """
    asked = await find_rows(question, catalogue, search, database, writer)
    if asked.result is not None:
        records = asked.result.records[:ROWS_TOLD]
        rows = json.dumps(records, ensure_ascii=False) if records else NO_ROWS
        language = language or ("Korean" if _HANGUL.search(question) else "the language of the question")
        asked.answer = (await writer.write(TELL.format(question=question, rows=rows, language=language))).strip()
    return asked


async def find_rows(question: str, catalogue: Catalogue, search: Search, database: Database, writer: Writer) -> Asked:
    """Write, run and repair, without telling."""
    scope = await find_scope(question, catalogue, search, database)
    asked = Asked(question, scope)
    grammar = select_grammar(scope, database.dialect)
    for _ in range(1 + REPAIRS):
        failures = "".join(FAILED.format(sql=sql, told=told) for sql, told in asked.failures[-1:])
        prompt = WRITE.format(
            dialect=database.dialect, schema=schema_text(scope, database.dialect), question=question, failures=failures
        )
        asked.written.append(statement_in(await writer.write(prompt, grammar=grammar, max_tokens=STATEMENT_TOKENS)))
        if asked.written[-1] in asked.written[:-1]:
            break  # the same again: another try would give it once more
        asked.sql = await mended(asked.written[-1], scope, catalogue, database, question=question)
        try:
            asked.result = await database.query(asked.sql)
            break
        except (QueryError, RefusedStatementError) as error:
            asked.failures.append((asked.sql, str(error)))
    return asked


async def mended(sql: str, scope: Scope, catalogue: Catalogue, database: Database, *, question: str = "") -> str:
    """Return the statement with its values, joins, groups and ratios right; as it was where there is no parser."""
    if importlib.util.find_spec("sqlglot") is None:
        return sql
    from naru.builtins.data.asking import mend, stored  # noqa: PLC0415 - of an extra

    tree = mend.parsed(sql, database.dialect)
    if tree is None:
        return sql
    everything = [*scope.tables, *(table for table in catalogue.tables if not scope.table(table.name))]
    whole = Scope(everything, links_of(catalogue), scope.values)
    await stored.as_stored(tree, whole, database)
    mend.mend(tree, whole, database.dialect, question)
    return mend.written(tree, database.dialect)


def schema_text(scope: Scope, dialect: str) -> str:
    """Write the scope as a model reads it: tables with comments, joins, values that the question names."""
    mark = "`" if dialect == "MySQL" else '"'
    tables = []
    for table in scope.tables:
        columns = [
            f"  {quoted(column.name, mark)} {column.type}," + _comment(column.comment, column.values)
            for column in table.columns
        ]
        tables.append(
            f"CREATE TABLE {quoted_table(table.name, mark)} ({_comment(table.comment, ())}\n"
            + "\n".join(columns)
            + "\n);"
        )

    def called(table: str, column: str) -> str:
        return f"{quoted_table(table, mark)}.{quoted(column, mark)}"

    joins = [
        f"-- {called(link.table, own)} = {called(link.other, theirs)}"
        for link in scope.links
        for own, theirs in link.columns
    ]
    values = [f"-- {called(value.table, value.column)} has the value '{value.text}'" for value in scope.values]
    return "\n".join([*tables, *joins, *values])


def statement_in(text: str) -> str:
    """Take the statement out of a fenced block, or the text as it is."""
    found = re.search(r"```(?:sql)?\s*(.*?)(?:```|\Z)", text, re.DOTALL | re.IGNORECASE)
    return (found[1] if found else text).strip().rstrip(";").strip()


def _comment(text: str, values: Sequence[str]) -> str:
    told = text + (f" (values: {', '.join(values[:6])})" if values else "")
    return f" -- {told}" if told else ""
