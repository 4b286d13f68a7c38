"""Which documents a query means: first the whole text, then its words, so that a small model's wording finds them."""

from __future__ import annotations

import re
from typing import Any

from naru.builtins.hr.database import HrDatabase

_WORD = re.compile(r"[0-9A-Za-z]+|[가-힣]+")
_FILLER = frozenset(
    (
        *("a", "an", "the", "of", "for", "in", "on", "to", "about", "find", "search", "show", "me", "my", "our"),
        *("please", "document", "documents", "doc", "docs", "file", "what", "is", "are", "how", "company"),
        *("문서", "문서를", "찾아줘", "찾아", "보여줘", "보여", "알려줘", "알려", "관련", "대한", "대해", "자료"),
        *("파일", "검색", "좀", "주세요", "무엇", "뭐야"),
    )
)
"""Words that ask for a document rather than say which."""
_PARTICLE = re.compile(r"(에서|에게|으로|이란|은|는|이|가|을|를|의|에|로|와|과|도|만)$")
_SELECT = "SELECT id, title, category, content FROM documents"
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
    words = [word for word in _words(text) if word not in _FILLER and (len(word) > 1 or not word.isascii())]
    if not words:
        return []
    scored = []
    for row in db.rows(f"{_SELECT} ORDER BY id"):
        title, content = _squeezed(row["title"]), _squeezed(f"{row['content']} {row['category']}")
        score = sum(3 if _holds(title, word) else 1 if _holds(content, word) else 0 for word in words)
        if score:
            scored.append((score, row))
    best = max((score for score, _ in scored), default=0)
    fitting = [(score, row) for score, row in scored if score * 2 > best]
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
        stem = _PARTICLE.sub("", word) if word not in _FILLER and len(word) > 2 else word
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
