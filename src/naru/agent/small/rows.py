"""What of a result a question is about, by its values and by meaning: small models take what stands first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.hooks import Near
from naru.agent.small.parameters import leaves
from naru.agent.small.sources import Text
from naru.tools.lines import branches, decoded, field_line, row_line

NEAR, ROWS_AS_NEAR = 0.2, 0.07
"""What a text of a row is near from, and how far behind the nearest others are meant as well: of 76 questions about
lists in nine languages 32 of 36 about rows get theirs, 7 of 40 about all a part (whole rows, .03: 31, and 17)."""
FIELDS_AS_NEAR, MOST_FIELDS = 0.1, 3
"""The same for fields of a record: of 122 questions 98 have at most three so near, 93 with the right one among them."""
MOST_TEXTS = 100
"""Texts that are compared in meaning: about a second."""
NOT_THERE, NO_ENTRY = "It does not exist: no entry with this id or name was found.", 0.25
"""What a tool says in words for which there is no entry, and how near that is: 33 of 43 in thirteen languages, none of
61 other short texts ("The museum is closed today.")."""
LONGEST = 300
"""Characters of a text that may say no more than this."""


async def nearest(question: Text, result: str, near: Near | None, taken: Sequence[Any] = ()) -> list[str]:
    """Return the rows that a question is about, or fields of a record, as lines; none where it may be about all.

    `taken` are values of the call: a record that holds them tells nothing by it.
    """
    value = decoded(result.strip())
    if isinstance(value, dict):
        listed = next((inner for inner in value.values() if isinstance(inner, list)), [])
        value = listed if len(str(listed)) * 2 > len(str(value)) else [value]
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    if len(rows) == 1:
        return await _fields(question, rows[0], near, taken)
    given = [*question.spans, *question.names]
    lines = [row_line(row) for row in rows]
    chosen = [at for at, line in enumerate(lines) if any(map(Text(line).holds, given))]
    if len(chosen) == 1:
        return [", ".join(await _fields(question, rows[chosen[0]], near, taken)) or lines[chosen[0]]]
    if near is not None and rows:
        pool = {at: _texts(rows[at]) for at in chosen or range(len(rows))}
        every = list(dict.fromkeys(one for of in pool.values() for one in of))[:MOST_TEXTS]
        closeness = dict(zip(every, await near(question.text, every), strict=True)) if every else {}
        best = {at: max((closeness.get(one, 0.0) for one in of), default=0.0) for at, of in pool.items()}
        least = max(NEAR, max(best.values()) - ROWS_AS_NEAR)
        chosen = [at for at, one in best.items() if one > least] or chosen
    return [lines[at] for at in chosen] if len(chosen) * 2 <= len(rows) else []


async def says_nothing(one: Outcome, near: Near | None) -> bool:
    """Tell whether all that a result tells beside what its call took are words for that there is no such thing."""
    value, given = decoded(one.result.text.strip()), set(map(str, leaves(one.call.arguments)))
    told = [one.result.text] if value is None else [str(each) for each in leaves(value) if str(each) not in given]
    if near is None or len(told) != 1 or not 0 < len(said := told[0].strip()) <= LONGEST:
        return False
    for each in given:
        said = said.replace(each, "")
    return (await near(NOT_THERE, [said]))[0] > NO_ENTRY


async def _fields(question: Text, record: dict[str, Any], near: Near | None, taken: Sequence[Any]) -> list[str]:
    """Return the lines of a record that a question names, and of the others the few nearest to what else it says."""
    told = {name: value for name, value in branches(record) if value not in (None, "") and not isinstance(value, list)}
    named = [name for name, value in told.items() if question.holds(value)]
    left = [name for name in told if name not in named]
    if near is None or not 1 < len(left) <= MOST_TEXTS:
        return []
    asked = question.text
    for name in named:
        asked = asked.replace(str(told[name]), "")
    closeness = await near(asked, [name.lower() for name in left])
    chosen = [name for name, one in zip(left, closeness, strict=True) if one > max(closeness) - FIELDS_AS_NEAR]
    kept = [*chosen, *(name for name in named if told[name] not in taken)]
    return [field_line(name, told[name]) for name in told if name in kept] if len(chosen) <= MOST_FIELDS else []


def _texts(row: dict[str, Any]) -> list[str]:
    """Return what of a row has a meaning: not its keys, which all rows share, nor numbers."""
    return [one for _, one in branches(row) if isinstance(one, str) and any(map(str.isalpha, one))]
