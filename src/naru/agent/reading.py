"""Results as a small model and a person read them: as lines, with the call where needed, or as the answer itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from naru.agent.asked import asks_for_id, is_reference
from naru.agent.casing import snake
from naru.agent.execute import Outcome
from naru.agent.rendering import decoded, readable, records, row_line
from naru.agent.sources import Sources, flat, rows_of
from naru.messages import ToolCall

LISTED = 6
"""A list of so many rows is given as it is: a small model tires or invents before its end."""
SHOWN_CHARACTERS = 80
"""A text of so many characters, or of more than one line, that a person asked to see is given as it is."""
_BARE_CHARACTERS = 60
_BARE_WORDS = 3
_SHOW = re.compile(
    r"\b(find|search|show|read|display|open|print|get|list|look up)\b|찾아|보여|검색|읽어|조회|출력", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(how|when|who|why|what|which|where|many|much|count|summari[sz]e|explain|compare|difference)\b"
    r"|몇|언제|누구|왜|무엇|뭐|어느|어떤|얼마|어디|요약|설명|비교|차이",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\bwhat (?:does|do|is|'s) .+ (?:says?|contains?|reads?|written)\b|(?:내용|본문)[은이]?\s*(?:뭐|무엇|어떻|\?)",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"\bhow (many|much)\b|\bcount\b|\bnumber of\b|몇|개수|얼마", re.IGNORECASE)
_ASKS_FOR_ONE = re.compile(
    r"\b(how (many|much)|when|where|cheapest|most|least|latest|earliest|highest|lowest|first|last|best|worst|average)\b"
    r"|몇|언제|어디|가장|제일|최고|최저|평균|비교",
    re.IGNORECASE,
)
_WANTS_ROWS = re.compile(
    r"\b(what|which|who|list|show|find|any|all)\b|뭐|무엇|어떤|목록|찾|보여|알려|누구|모두|[은는]\s*\?", re.IGNORECASE
)
_WANTS_RECORD = re.compile(r"\b(tell me about|how is|information|details)\b|어때|정보|상세|대해", re.IGNORECASE)
_ROWS_AT_MOST = 12
_LISTS = re.compile(r"(^|_)list(_|$|ed)")
_YES_NO = re.compile(r"\s*(?:yes|no|예|네|아니)", re.IGNORECASE)
_DENIES = re.compile(
    r"\bno[tn]?\b|n't|\bcannot|\bunknown|\binvalid|\bfail|\bdenied|\bmust\b|없|않|아닙|못|실패|오류|잘못", re.IGNORECASE
)
"""What says by itself that something is not so."""
_FAILURE_HEAD = re.compile(r"^(?:Error:\s*|Error executing tool [\w-]+:\s+|MCP error -?\d+:\s*)+", re.IGNORECASE)


def _words(name: str) -> str:
    return re.sub(r"[_\W]+", " ", snake(name.rsplit("__", 1)[-1])).strip().lower()


def reading(one: Outcome) -> str:
    """What a model or person reads of a result: lines rather than JSON, unless it had to be cut."""
    return readable(one.result) if one.shown == one.result.text.strip() else one.shown


def call_line(call: ToolCall) -> str:
    """Return a call as one short line."""
    given = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    return f"{call.name.rsplit('__', 1)[-1]}({given})"


def is_sentence(text: str) -> bool:
    """Tell whether a text is words for a person: no JSON, and more than a word or two."""
    return text.strip()[:1] not in "{[" and len(text.split()) > 2


def is_bare(text: str) -> bool:
    """Tell whether a result is one value that does not say what it is: `3`, `closed`, `09:00-13:00`."""
    return len(text) <= _BARE_CHARACTERS and "\n" not in text and ": " not in text and len(text.split()) <= _BARE_WORDS


def facts(found: Sequence[Outcome]) -> str:
    """Return the results alone: the calls' own words mislead a small model in the last turn.

    Only where a result does not say what it is (`3`, `closed`), or several came from one tool, a head says so.
    """
    made = Counter(one.call.name for one in found)
    parts = []
    for one in found:
        text = reading(one)
        values = ", ".join(str(value) for value in one.call.arguments.values() if isinstance(value, str | int | float))
        if made[one.call.name] > 1 and values and values not in text:
            parts.append(f"{values}:\n{text}")
        elif is_bare(text):
            parts.append(f"{_words(one.call.name)}{f' ({values})' if values else ''}: {text}")
        else:
            parts.append(text)
    return "\n\n".join(parts)


def ready(question: str, found: Sequence[Outcome], *, changed: bool = False, about: Sequence[str] = ()) -> str:
    """Return the answer that needs no model: what was asked to be listed or shown, when one call gave just that.

    `changed`: the last call changed something; a tool's own words are the surest way to say so. `about`: what the
    question names; a list of which it means one row is no answer.
    """
    if changed and found:
        return reading(found[-1])
    if len(found) != 1:
        return ""
    one = found[0]
    if _means_one_row(one, about):
        return ""
    if _is_listing(one) and not _COUNTS.search(question):
        return reading(one)
    rows = records(one.result)
    if len(rows) >= LISTED and not Sources(question).ids():
        return "\n".join(f"- {row_line(row)}" for row in rows)
    text = reading(one)
    is_long = len(text) >= SHOWN_CHARACTERS or "\n" in text
    if is_long and (_SAYS.search(question) or (_SHOW.search(question) and not _ASKS.search(question))):
        return text
    return ""


def _means_one_row(one: Outcome, about: Sequence[str]) -> bool:
    """Tell whether some rows of a result, and not all, hold what a question names."""
    rows = [flat(row) for row in rows_of(one.result.text)]
    named = [row for row in rows if any(flat(name) in row for name in about)]
    return 0 < len(named) < len(rows) and not one.call.arguments


def incomplete(question: str, answer: str, found: Sequence[Outcome]) -> bool:
    """Tell whether an answer leaves out rows, or most of a record, though a person asked for all of it."""
    if not found:
        return False
    if is_bare(text := reading(found[-1])):
        return flat(text).removesuffix(".0") not in flat(answer)
    if _ASKS_FOR_ONE.search(question):
        return False
    if _only_points(question, answer, found[-1]) or _only_agrees(question, answer, found[-1]):
        return True
    value = decoded(found[-1].result.text.strip())
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if value is None:
        value = _items(found[-1].result.text)
    said = flat(answer)
    if isinstance(value, list) and 2 <= len(value) <= _ROWS_AT_MOST and found[-1].call.arguments:
        return bool(_WANTS_ROWS.search(question)) and not all(_is_said(row, said, value) for row in value)
    if isinstance(value, dict) and _WANTS_RECORD.search(question):
        told = [str(one) for one in value.values() if isinstance(one, str | int | float) and one != ""]
        return sum(flat(one).removesuffix(".0") in said for one in told) * 2 < len(told)
    return False


def _items(text: str) -> list[str] | None:
    """Return the lines of a text that lists names or titles, without keys."""
    lines = [line.strip(" -*") for line in text.splitlines() if line.strip()]
    is_list = all(len(line) <= SHOWN_CHARACTERS and ": " not in line for line in lines)
    return lines if is_list and len(lines) > 1 else None


def _only_agrees(question: str, answer: str, one: Outcome) -> bool:
    """Tell whether an answer agrees or denies, and says nothing of the one record found: small models just agree."""
    if not _YES_NO.match(answer):
        return False
    line = one.result.text.strip()
    if line[:1] not in "{[" and "\n" not in line:
        counted = set(re.findall(r"\d+", line)) - set(re.findall(r"\d+", question))
        return bool(counted) and not counted & set(re.findall(r"\d+", answer))
    rows = records(one.result) or [value for value in [decoded(one.result.text.strip())] if isinstance(value, dict)]
    if len(rows) != 1 or any(isinstance(value, bool) for value in rows[0].values()):
        return False
    said, asked = flat(answer), flat(question)
    told = [flat(str(value)) for value in rows[0].values() if isinstance(value, str | int | float)]
    told = [value for value in told if value and value not in asked]
    return bool(told) and not any(value in said for value in told)


def _only_points(question: str, answer: str, one: Outcome) -> bool:
    """Tell whether an answer names the id of the one record found, but no title or name that stands beside it."""
    rows = records(one.result)
    if len(rows) != 1 or asks_for_id(question):
        return False
    texts = [flat(value) for value in rows[0].values() if isinstance(value, str) and value]
    said, asked = flat(answer), flat(question)
    pointed = any(is_reference(text) and text in said and text not in asked for text in texts)
    titles = [text for text in texts if not is_reference(text) and not text[:1].isdigit()]
    return pointed and not any(title in said or title in asked for title in titles) and bool(titles)


def _is_said(row: Any, said: str, rows: list[Any]) -> bool:
    """Tell whether an answer holds a value that only this row has."""
    values = row.values() if isinstance(row, dict) else [row]
    others = [flat(str(one)) for one in rows if one != row]
    own = [flat(str(one)) for one in values if isinstance(one, str) and len(one) > 1]
    own = [one for one in own if not any(one in other for other in others)]
    own = [one for one in own if not is_reference(one) and not one[:1].isdigit()] or own
    return not own or any(one in said for one in own)


def _is_listing(one: Outcome) -> bool:
    """Tell whether a tool that lists gave several short lines."""
    if not _LISTS.search(snake(one.call.name.rsplit("__", 1)[-1])):
        return False
    lines = [line for line in reading(one).splitlines() if line.strip()]
    return 2 <= len(lines) <= 200 and max(map(len, lines)) <= 120


def said_of_failure(one: Outcome) -> str:
    """Return a tool's own message, without the heads that SDKs put before it; one that tells nothing names the call."""
    said = _FAILURE_HEAD.sub("", one.shown).strip()
    values = [str(value) for value in one.call.arguments.values()]
    is_told = any(value in said for value in values) or len(said) > _BARE_CHARACTERS
    if _DENIES.search(said):
        return said if is_told else f"{call_line(one.call)}: {said}"
    return f"{call_line(one.call)} did not succeed: {said}" if said.isascii() else f"{call_line(one.call)} 실패: {said}"
