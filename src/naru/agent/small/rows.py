"""What of a result a question is about, by its values and by meaning: small models take what stands first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.hooks import Near
from naru.tools.lines import branches, decoded, entries, field_line, is_words, leaves, row_line, rows_of
from naru.tools.names import plain_name
from naru.tools.texts import Text, numbers

NEAR, ROWS_AS_NEAR = 0.2, 0.07
"""From where a row's text is near, if nearer than its key, and how far behind the nearest others are meant too: of 36
questions about some rows 32 get theirs, of 40 about all 1 a part (7 if keys are not looked at; whole rows: 17)."""
FIELDS_AS_NEAR, MOST_FIELDS, MOST_TEXTS = 0.1, 3, 100
"""The same for fields of a record: of 122 questions 98 have three so near at most, 93 with the right one among them."""
COUNTING = ("How many are there?", "How many of them are free?", "The number of open orders.", "How many has she?")
OTHERWISE = ("What is it called?", "Who is it?", "When is it?", "Which one is free?", "Where is it?", "How much is it?")
COUNTS, COUNTED = 0.05, 0.08  # How much nearer to the first a count lies (22 of 25, none of 14 others), and to a value.
NOT_THERE, NO_ENTRY, LONGEST = "It does not exist: no entry with this id or name was found.", 0.25, 300
"""What says that a thing is not there; how near 33 of 43 such texts lie and none of 61 others; how long they may be."""


async def nearest(question: Text, result: str, near: Near | None, taken: Sequence[Any] = ()) -> list[str]:
    """Return what of rows, or of a record beside the values that its call took, a question is about; [] for all."""
    rows, meant = rows_of(decoded(result.strip())), list[str]()
    given = [*question.spans, *question.names]
    chosen = [at for at, row in enumerate(rows) if len(rows) == 1 or any(map(Text(row_line(row)).holds, given))]
    if near is not None and rows and len(chosen) != 1:
        if counted := await _counted(question, rows, near):
            return counted
        pool = chosen or range(len(rows))
        texts = {at: [(plain_name(key), one) for key, one in entries(rows[at]) if is_words(one)] for at in pool}
        every = list(dict.fromkeys(one for of in texts.values() for pair in of for one in pair))
        how = dict.fromkeys(every, 0.0) | dict(zip(every, await near(question.text, every[:MOST_TEXTS]), strict=False))
        # "Which club" lies as near to the key as to each `FC`: only what lies nearer is meant itself.
        best = {at: max((how[one] for key, one in of if how[one] > how[key]), default=0.0) for at, of in texts.items()}
        chosen = [at for at, one in best.items() if one > max(NEAR, max(best.values()) - ROWS_AS_NEAR)] or chosen
        meant = [one for at in chosen for _, one in texts[at] if one == texts[at][0][1] or how[one] == best[at]]
    fields = await _fields(question, rows[chosen[0]], near, taken, meant) if len(chosen) == 1 else []
    return fields or ([row_line(rows[at]) for at in chosen] if len(chosen) * 2 <= len(rows) else [])


async def _counted(question: Text, rows: Sequence[dict[str, Any]], near: Near) -> list[str]:
    """Return how many rows have the value that a question for a count means, or each of the values of a key."""
    degrees = await near(question.text, [*COUNTING, *OTHERWISE])
    if fmean(degrees[: len(COUNTING)]) < fmean(degrees[len(COUNTING) :]) + COUNTS:
        return []
    counts = Counter((plain_name(key), one) for row in rows for key, one in row.items() if isinstance(one, str | int))
    often = {key: None for (key, _), count in counts.items() if count > 1}  # What differs in every row is a name.
    worded = [pair for pair in counts if pair[0] in often and not numbers(str(pair[1]))]
    texts = {key: of for key in often if 0 < len(of := [one for one in worded if one[0] == key]) <= MOST_FIELDS}
    texts |= {str(v) if is_words(v) else field_line(k, v): [(k, v)] for k, v in worded}
    how = dict(zip(texts, await near(question.text, list(texts)[:MOST_TEXTS]), strict=False))
    best = max(how, key=how.__getitem__, default="")
    held = [pair for pair in counts if pair[0] in often and question.holds(pair[1])][:1]
    meant = held or (texts[best] if how.get(best, 0.0) > COUNTED else [])
    return [f"{field_line(*pair)} ({counts[pair]} rows)" for pair in meant]


async def says_nothing(one: Outcome, near: Near | None) -> bool:
    """Tell whether all that a result tells beside what its call took are words for that there is no such thing."""
    value, given = decoded(one.result.text.strip()), set(map(str, leaves(one.call.arguments)))
    told = [one.result.text] if value is None else [str(each) for each in leaves(value) if str(each) not in given]
    if near is None or len(told) != 1 or not is_words(said := told[0]) or len(said) > LONGEST:
        return False
    for each in given:
        said = said.replace(each, "")
    return (await near(NOT_THERE, [said]))[0] > NO_ENTRY


async def _fields(
    question: Text, record: dict[str, Any], near: Near | None, taken: Sequence[Any], meant: Sequence[str] = ()
) -> list[str]:
    """Return the lines of a record that a question names, and of the others the few nearest to what else it says."""
    told = {name: value for name, value in branches(record) if value not in (None, "") and not isinstance(value, list)}
    named = [name for name, value in told.items() if value in meant or question.holds(value)]
    left = [name for name in told if name not in named and told[name] not in taken]
    if near is None or not 1 < len(left) <= MOST_TEXTS:
        return []
    asked = question.text
    for name in named:
        asked = asked.replace(str(told[name]), "")
    closeness = dict(zip(left, await near(asked, [name.lower() for name in left]), strict=True))
    first = max(left, key=closeness.__getitem__)
    chosen = [name for name in left if closeness[name] > closeness[first] - FIELDS_AS_NEAR]
    # A yes or no is told well without, and said again it was taken for the other.
    if isinstance(told[first], bool) or len(chosen) > min(MOST_FIELDS, len(left) - 1):
        return []
    chosen += [name for name in named if told[name] not in taken]
    return [field_line(name, value) for name, value in told.items() if name in chosen]
