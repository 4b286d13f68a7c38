"""What a statement is, read with PostgreSQL's own grammar: one SELECT and the names that it uses.

Pure: no database. Whether a named function is harmless is for the server's catalog to say (`guard`).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from naru.builtins.data.databases.blanks import plain_blanks
from naru.builtins.data.databases.errors import RefusedStatementError
from naru.builtins.data.databases.statements import MAX_CHARACTERS, instead_of
from naru.errors import ConfigError
from naru.extras import install_command

MAX_DEPTH = 900
"""Levels of the parser's tree; Python's own JSON reader gives up a little later."""


QualifiedName = tuple[str, str]
"""Schema (empty when the text names none) and name."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One SELECT; `text` is byte for byte what will be sent, the rest is what the catalog must judge."""

    text: str
    calls: frozenset[QualifiedName]
    """Called functions."""
    row_attributes: frozenset[str]
    """`t.name` on a table or sub-select: a column, or else a function of the row."""
    value_attributes: frozenset[str]
    """`(value).name` and `f.name` on a function in FROM: a field, or else a function of the value."""
    operators: frozenset[QualifiedName]
    types: frozenset[str]
    relations: frozenset[QualifiedName]
    """Tables and views, and names of CTEs."""
    explains: bool = False
    """EXPLAIN stood before it: the plan is wanted, not the rows."""


_KEPT_OUT = {
    "intoClause": "SELECT INTO creates a table",
    "lockingClause": "FOR UPDATE and FOR SHARE lock rows",
    "ParamRef": "parameters such as $1 have no value here",
    "CurrentOfExpr": "WHERE CURRENT OF needs a cursor",
}
_EXPLAINED = frozenset({"verbose", "costs", "format", "summary", "buffers", "memory"})
"""Options of EXPLAIN that only shape the plan. ANALYZE, which runs the statement, is not among them, even as `off`."""
_VERBS = {"TransactionStmt": "BEGIN / COMMIT", "VariableSetStmt": "SET", "VariableShowStmt": "SHOW", "DropStmt": "DROP"}


@functools.lru_cache(maxsize=128)
def read_statement(sql: str) -> Statement:
    """Parse one SELECT.

    Raises:
        RefusedStatementError: it is empty, broken, too long, too deep, more than one, or not a plain SELECT.
    """
    tree, text = _parse(plain_blanks(sql))
    explained = tree.get("ExplainStmt")
    if explained:
        told = {option["DefElem"]["defname"] for option in explained.get("options", ())}
        if others := sorted(told - _EXPLAINED):
            raise RefusedStatementError(f"EXPLAIN is not run with {others[0].upper()}.", remedy="Leave it out.")
        tree = explained["query"]
    names = _Names()
    for depth, kind, node in _walk(tree):
        if depth > MAX_DEPTH:
            raise RefusedStatementError(*_too_deep())
        if kind.endswith("Stmt") and kind != "SelectStmt":
            verb = _VERBS.get(kind) or kind.removesuffix("Stmt").upper()
            remedy = instead_of(text, otherwise=_REMEDY)
            raise RefusedStatementError(f"Only one SELECT is run here, and this contains {verb}.", remedy=remedy)
        if kind in _KEPT_OUT:
            raise RefusedStatementError(f"{_KEPT_OUT[kind]}.", remedy="Leave it out.")
        names.note(kind, node)
    return replace(names.statement(text), explains=explained is not None)


_REMEDY = "Write a single SELECT (WITH, VALUES and TABLE are fine)."


def _parse(text: str) -> tuple[Any, str]:
    if "\x00" in text:
        raise RefusedStatementError("The statement contains a NUL character.", remedy="Leave it out.")
    if len(text) > MAX_CHARACTERS:
        raise RefusedStatementError(
            f"The statement has {len(text)} characters; at most {MAX_CHARACTERS} are read.",
            remedy="Write a shorter one.",
        )
    parser = _grammar()
    try:
        raw = text.encode()
        statements = parser.parse(text)
    except UnicodeEncodeError as error:
        raise RefusedStatementError("The statement is not valid Unicode.", remedy=_REMEDY) from error
    except RecursionError as error:
        raise RefusedStatementError(*_too_deep()) from error
    except parser.PGQueryError as error:
        raise RefusedStatementError(str(error), remedy=instead_of(text, otherwise="")) from error
    if not statements:
        raise RefusedStatementError("The statement is empty.", remedy=_REMEDY)
    if len(statements) > 1:
        raise RefusedStatementError(f"Only one statement is run, and these are {len(statements)}.", remedy=_REMEDY)
    start = statements[0].get("stmt_location", 0)
    length = statements[0].get("stmt_len", 0)
    return statements[0]["stmt"], (raw[start : start + length] if length else raw[start:]).decode()


def _too_deep() -> tuple[str]:
    return ("The statement is nested too deeply. Write it flatter.",)


def _grammar() -> Any:
    try:
        return importlib.import_module("pgparse")
    except ImportError as error:
        raise ConfigError(
            "The SQL tool needs the package pgparse.", remedy=f"Install it: {install_command('postgres')}"
        ) from error


def _walk(tree: Any) -> Iterator[tuple[int, str, Any]]:
    """Yield every key of the tree with its depth and value; a generic walk cannot miss a kind of node."""
    stack = [(0, tree)]
    while stack:
        depth, node = stack.pop()
        if isinstance(node, dict):
            for kind, value in node.items():
                yield depth, kind, value
                stack.append((depth + 1, value))
        elif isinstance(node, list):
            stack.extend((depth + 1, item) for item in node)


class _Names:
    """Gathers the names by the kind of node that carries them."""

    def __init__(self) -> None:
        self.calls: set[QualifiedName] = set()
        self.operators: set[QualifiedName] = set()
        self.types: set[str] = set()
        self.relations: set[QualifiedName] = set()
        self.value_attributes: set[str] = set()
        self.columns: set[QualifiedName] = set()
        self.function_aliases: set[str] = set()
        self.has_nameless_function = False

    def note(self, kind: str, node: Any) -> None:
        if isinstance(node, dict) and "names" in node:  # a type, under whatever key
            self.types.update(_strings(node["names"])[-1:])
        match kind:
            case "FuncCall":
                self.calls.add(_qualified(node["funcname"]))
            case "RangeVar":
                self.relations.add((node.get("schemaname", ""), node["relname"]))
            case "name" | "operName" | "useOp" if isinstance(node, list):
                self.operators.add(_qualified(node))
            case "indirection":
                self.value_attributes.update(_strings(node))
            case "ColumnRef" if len(_strings(node["fields"])) > 1:
                self.columns.add(_qualified(node["fields"]))
            case "RangeFunction":
                alias = node.get("alias", {}).get("aliasname")
                self.function_aliases.update({alias} if alias else ())
                self.has_nameless_function |= not alias

    def statement(self, text: str) -> Statement:
        """Sort the columns: a function in FROM may stand for a plain value, anything else there is a row."""
        of_values = {
            name for owner, name in self.columns if self.has_nameless_function or owner in self.function_aliases
        }
        return Statement(
            text=text,
            calls=frozenset(self.calls),
            row_attributes=frozenset(name for _, name in self.columns) - of_values,
            value_attributes=frozenset(self.value_attributes | of_values),
            operators=frozenset(self.operators),
            types=frozenset(self.types),
            relations=frozenset(self.relations),
        )


def _strings(nodes: Any) -> list[str]:
    """Return the strings among a list of nodes, in order."""
    return [node["String"]["sval"] for node in nodes or () if "sval" in node.get("String", {})]


def _qualified(nodes: Any) -> QualifiedName:
    *owners, name = _strings(nodes)
    return (owners[-1] if owners else "", name)
