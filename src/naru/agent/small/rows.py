"""The rows of a result that a question is about, by its values and by meaning: small models take the first row."""

from __future__ import annotations

from naru.agent.hooks import Near
from naru.agent.small.reading import decoded, row_line
from naru.agent.small.sources import Text

ABOUT_AS_NEAR = 0.03
"""Rows that lie no further behind the nearest are meant as well (of 24 questions for all rows 19 lie so)."""
MOST = 100
"""Rows that are compared in meaning: about a second."""


async def nearest(question: Text, result: str, near: Near | None) -> list[str]:
    """Return the rows that a question is about, as lines; none where it may be about all, or nothing can tell."""
    value = decoded(result.strip())
    if isinstance(value, dict):
        value = next((inner for inner in value.values() if isinstance(inner, list)), None)
    rows = [row_line(row) for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    given = [*question.spans, *question.names]
    chosen = [row for row in rows if any(map(Text(row).holds, given))] or rows
    if near is not None and len(chosen) > 1:
        closeness = await near(question.text, chosen[:MOST])
        least = max(closeness) - ABOUT_AS_NEAR
        chosen = [row for row, one in zip(chosen, closeness, strict=False) if one > least]
    return chosen if len(chosen) < len(rows) else []
