"""Which documents a query means: first the whole text, then its words, so that a small model's wording finds them."""

from __future__ import annotations

import math
import re
from typing import Any

from naru.builtins.hr.database import HrDatabase

_WORD = re.compile(r"[0-9A-Za-z]+|[가-힣]+")
_PARTICLE = re.compile(r"(에서|에게|으로|이란|은|는|이|가|을|를|의|에|로|와|과|도|만)$")
_SELECT = "SELECT id, title, category, content FROM documents"
IN_TITLE = 3
"""As often as a word in a text counts one of a title."""
ENOUGH = 1 / 3
"""Of what a query says, to be found in a text alone: `the document` is not found by its `the`."""
MAX_DOCUMENTS = 5
_LONGEST_QUERY = 2_000
"""What more there is says nothing new, and SQLite takes no pattern of 50,000 bytes."""


def find_documents(db: HrDatabase, query: str) -> list[dict[str, Any]]:
    """Return the documents that hold the query, titles first; else those that hold the most of its words."""
    text = " ".join(query.split())[:_LONGEST_QUERY]
    if not text:
        return []
    pattern = _contains(text)
    whole = db.rows(
        rf"{_SELECT} WHERE title LIKE ?1 ESCAPE '\' OR content LIKE ?1 ESCAPE '\'"
        r" ORDER BY title LIKE ?1 ESCAPE '\' DESC, id",
        (pattern,),
    )
    if whole or "%" in text or "_" in text:  # these mean themselves; their words would be another question
        return whole
    return _by_words(db, text)


def _by_words(db: HrDatabase, text: str) -> list[dict[str, Any]]:
    """Weigh each word by how few documents hold it: what asks for a document is in none, or in many."""
    rows = db.rows(f"{_SELECT} ORDER BY id")
    texts = [(_squeezed(row["title"]), _squeezed(f"{row['content']} {row['category']}")) for row in rows]
    scores, in_title = [0.0] * len(rows), [False] * len(rows)
    said = 0.0
    for word in _words(text):
        held = [IN_TITLE if _holds(title, word) else int(_holds(content, word)) for title, content in texts]
        weight = math.log((len(rows) + 1) / (sum(map(bool, held)) + 1))
        said += weight
        for place, times in enumerate(held):
            scores[place] += times * weight
            in_title[place] |= times == IN_TITLE
    best = max(scores, default=0.0)
    fitting = [
        (score, row)
        for score, row, is_titled in zip(scores, rows, in_title, strict=True)
        if score * 2 > best and (is_titled or score > said * ENOUGH)
    ]
    return [row for _, row in sorted(fitting, key=lambda pair: -pair[0])][:MAX_DOCUMENTS]


def _holds(text: str, word: str) -> bool:
    """Say whether a text holds a word: a Latin one from its beginning, a Korean one anywhere, as it is compounded."""
    if not word.isascii():
        return word in text
    end = r"\b" if len(word) < 3 else ""
    return re.search(rf"\b{word}{end}", text) is not None


def _words(text: str) -> list[str]:
    """Return the query's words without endings that a document may spell otherwise."""
    found = []
    for word in _WORD.findall(text.lower()):
        if len(word) == 1 and word.isascii():
            continue
        stem = _PARTICLE.sub("", word) if len(word) > 2 else word
        if stem.isascii() and len(stem) > 3 and stem.endswith("s"):
            stem = stem[:-1]
        found.append(stem)
    return list(dict.fromkeys(found))


def _squeezed(text: str) -> str:
    """Drop the spaces between Korean words, which people set as they like."""
    return re.sub(r"(?<=[가-힣])\s+(?=[가-힣])", "", text.lower())


def _contains(text: str) -> str:
    """Return the LIKE pattern of a text, with `%` and `_` as themselves (V5)."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"
