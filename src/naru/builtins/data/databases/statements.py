"""What every engine's statement passes before its own grammar: length, blanks, and whether it only explains."""

from __future__ import annotations

import re
from dataclasses import dataclass

from naru.builtins.data.databases.blanks import plain_blanks
from naru.builtins.data.databases.errors import RefusedStatementError

MAX_CHARACTERS = 20_000
ONE_SELECT = "Write a single SELECT (WITH and VALUES are fine)."
CATALOGUE = "SELECT table_name, column_name, data_type FROM information_schema.columns"
_SHOWING = frozenset({"SHOW", "DESCRIBE", "DESC", "SUMMARIZE", "PRAGMA"})
"""What asks for tables and columns, in the words of some engine."""
_GAP = r"\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/"
_FIRST_WORD = re.compile(rf"(?:{_GAP}|\()*+([^\W\d_]*)", re.DOTALL)
_FIRST_WORDS = frozenset({"SELECT", "WITH", "VALUES"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement, cleaned."""

    explain: str
    """EXPLAIN with its options, where that was asked."""
    query: str
    """The SELECT."""

    @property
    def text(self) -> str:
        """What is sent: the SELECT as it is judged, and before it no comments, which engines read in their own ways."""
        return f"{self.explain} {self.query}" if self.explain else self.query


def instead_of(query: str, *, otherwise: str = ONE_SELECT, catalogue: str = CATALOGUE) -> str:
    """Return what to write instead of what shows tables or columns, and `otherwise` for anything else."""
    shows = first_word(query) in _SHOWING
    return f"{ONE_SELECT} Tables and columns are told by: {catalogue}" if shows else otherwise


def first_word(query: str) -> str:
    """Return the word that a statement begins with, in capitals; nothing where it begins with none."""
    found = _FIRST_WORD.match(query)
    return found[1].upper() if found else ""


def read_asked(
    sql: str, explain_options: str, first_words: frozenset[str] = _FIRST_WORDS, *, catalogue: str = CATALOGUE
) -> Asked:
    """Clean a statement and part it from EXPLAIN. Its first word is judged for the reader's sake, not for safety.

    `explain_options` is an expression of what may stand after EXPLAIN: it only shapes the plan. ANALYZE, which runs
    the statement, is not part of it.

    Raises:
        RefusedStatementError: it is empty, too long, or holds what no statement does.
    """
    text = plain_blanks(sql).strip()
    if "\x00" in text:
        raise RefusedStatementError("The statement contains a NUL character.", remedy="Leave it out.")
    if len(text) > MAX_CHARACTERS:
        raise RefusedStatementError(
            f"The statement has {len(text)} characters; at most {MAX_CHARACTERS} are read.",
            remedy="Write a shorter one.",
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RefusedStatementError("The statement is not valid Unicode.", remedy=ONE_SELECT) from error
    if not text.strip("; \t\r\n"):
        raise RefusedStatementError("The statement is empty.", remedy=ONE_SELECT)
    head = rf"(?:{_GAP})*+EXPLAIN\b(?:(?:{_GAP})*+({explain_options}))?"
    explain = re.match(head, text, re.IGNORECASE | re.DOTALL)
    query = text[explain.end() :].strip() if explain else text
    word = first_word(query)
    if word and word not in first_words:
        remedy = instead_of(query, catalogue=catalogue)
        raise RefusedStatementError(f"Only one SELECT is run here, and this is {word[:40]}.", remedy=remedy)
    return Asked(" ".join(filter(None, ("EXPLAIN", explain[1]))) if explain else "", query)
