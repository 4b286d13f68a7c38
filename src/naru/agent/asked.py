"""Which values of a result a question asks for, told by their keys: `ward: West` for "Which ward is … in?"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.glossary import alike, in_english
from naru.agent.moments import dates_in, times_in
from naru.agent.rendering import decoded
from naru.agent.selection import terms
from naru.agent.sources import flat

_LONGEST = 60
_NAME_WORDS = 3
_HANDLE = re.compile(r"[a-z][a-z0-9._-]+")
_TOO_WIDE = frozenset(terms("id name value text data result type content information item title number"))
"""Keys that say too little to be what a question asks for."""

_NAME_KEY = re.compile(r"(^|_)(name|title|label|subject)$|이름|명$", re.IGNORECASE)
_ID_KEY = re.compile(r"(^|_)(id|no|number|code|key)$|(?<=[a-z])Id$|번호$", re.IGNORECASE)
_LABEL_KEY = re.compile(r"(^|_)(label|subject)$", re.IGNORECASE)
"""Keys that may name a record where none says so plainly."""
_BOTH = re.compile(r"\band\b|[가-힣](?:와|과|랑|하고)\s|\s및\s", re.IGNORECASE)
_WANTS_ID = re.compile(r"\b(?:id|ids|number|code)\b|번호|코드|아이디", re.IGNORECASE)
_ASKS_MOMENT = re.compile(r"\bwhen\b|\bwhat (?:time|date|day)\b|언제|몇 ?시|날짜", re.IGNORECASE)
_STARTS_WITH_NUMBER = re.compile(r"[-+]?\d")
_ASKS_NAME = re.compile(r"\b(?:name|title|called)\b|이름|제목|명칭", re.IGNORECASE)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|big|large|tall|high|heavy|fast)\b|몇|얼마|며칠", re.IGNORECASE
)


def asked_values(question: str, found: Sequence[Outcome]) -> list[tuple[str, str]]:
    """Return key and value of what is asked for, as far as single records hold it; the fullest match alone.

    To "when" and "how many" only a moment or number is an answer; the only one there is needs no word for its key.
    """
    matches, is_kind = _by_key(question, found), _kind_asked(question)
    if is_kind is None:
        return matches or _name_asked(question, found)
    fitting = [match for match in matches if is_kind(match[1])]
    if fitting:
        return fitting
    last = [(key, _text(value)) for one in found[-1:] for key, value in _told(one, question)]
    only = [(key, value) for key, value in last if is_kind(value) and not _ID_KEY.search(key)]
    return only if len(only) == 1 else []


def _name_asked(question: str, found: Sequence[Outcome]) -> list[tuple[str, str]]:
    """Return the name of the last record, where a name or title is asked for."""
    if not found or not _ASKS_NAME.search(question) or _pointed(question, found[-1]):
        return []
    named = [(key, _text(value)) for key, value in _told(found[-1], question) if _NAME_KEY.search(key)]
    return sorted(named, key=lambda one: _LABEL_KEY.search(one[0]) is not None)[:1]


def _pointed(question: str, one: Outcome) -> bool:
    """Tell whether a record only points to what a question speaks of: `host_id` for "the name of the host"."""
    meant = {*terms(question, keep_stop_words=True)}
    meant |= {term for word in in_english(question) for term in terms(word)}
    told = [(set(terms(key)) - _TOO_WIDE, _text(value)) for key, value in _told(one, question) if _ID_KEY.search(key)]
    return any(own and own <= meant and is_reference(value) for own, value in told)


def _kind_asked(question: str) -> Callable[[str], bool] | None:
    if _ASKS_MOMENT.search(question):
        return lambda value: bool(dates_in(value) or times_in(value))
    if _ASKS_NUMBER.search(question):
        return lambda value: (
            _STARTS_WITH_NUMBER.match(value) is not None and not dates_in(value) and not times_in(value)
        )
    return None


def _told(one: Outcome, question: str) -> list[tuple[str, Any]]:
    record = _single_record(decoded(one.result.text.strip()))
    return [(key, value) for key, value in record if _is_told(value, question)]


def _by_key(question: str, found: Sequence[Outcome]) -> list[tuple[str, str]]:
    meant = {*terms(question, keep_stop_words=True)}
    meant |= {term for word in {**in_english(question), **alike(question)} for term in terms(word)}
    matches: list[tuple[float, str, str]] = []
    for one in found:
        known = [(key, value, set(terms(key))) for key, value in _told(one, question)]
        full = [
            (float(len(words)), key, value)
            for key, value, words in known
            if words and words <= meant and not words <= _TOO_WIDE
        ]
        matches += [(weight, key, _text(value)) for weight, key, value in full]
        if not full and _was_followed_to(one, found):
            # What was looked up behind an id is asked for, even where the key says it in other words.
            partly = [(key, value) for key, value, words in known if (words & meant) - _TOO_WIDE]
            matches += [(0.5, key, _text(value)) for key, value in partly]
    wants_id = asks_for_id(question)
    followed = {value for one in found for value in map(str, one.call.arguments.values())}
    beyond = [match for match in matches if match[2] not in followed]
    if not wants_id and beyond:
        matches = beyond
    most = max((count for count, _, _ in matches), default=0)
    chosen = [(key, value) for count, key, value in matches if count == most]
    if wants_id:
        return chosen
    behind = [(key, _behind(value, found), value) for key, value in chosen]
    # An id that has been followed is asked for no more: what it led to is.
    return [(key, named) for key, named, value in behind if named != value or value not in followed]


def _was_followed_to(one: Outcome, found: Sequence[Outcome]) -> bool:
    """Tell whether a call was made with a value of an earlier result."""
    earlier = "\n".join(other.shown for other in found[: found.index(one)])
    return any(len(str(value)) > 1 and str(value) in earlier for value in one.call.arguments.values())


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def asked_lines(question: str, found: Sequence[Outcome]) -> str:
    """Return what is asked for as lines; of two records each line says whose it is."""
    asked = asked_values(question, found)
    if len({key for key, _ in asked}) == len(asked):
        return "\n".join(f"{_words(key)}: {value}" for key, value in asked)
    lines = []
    for one in found:
        whose = ", ".join(str(value) for value in one.call.arguments.values() if isinstance(value, str | int))
        lines += [
            f"{whose}: {_words(key)}: {value}" for key, value in asked_values(question, [one]) if (key, value) in asked
        ]
    return "\n".join(lines)


def asks_for_id(question: str) -> bool:
    """Tell whether a person wants an id itself, rather than what it points to."""
    return _WANTS_ID.search(question) is not None


def _words(key: str) -> str:
    return key.replace("_", " ")


def _behind(value: str, found: Sequence[Outcome]) -> str:
    """Return the name of the record that an id points to, when a later call has looked it up."""
    for one in found:
        if value in map(str, one.call.arguments.values()):
            record = dict(_single_record(decoded(one.result.text.strip())))
            name = next((str(record[key]) for key in record if _NAME_KEY.search(key)), "")
            return name or value
    return value


def holds_asked(answer: str, asked: Sequence[tuple[str, str]], question: str = "") -> bool:
    """Tell whether an answer says one of the values, or all of them where several were asked for."""
    said, days = flat(answer), dates_in(answer)
    told = [_says(said, days, value) for _, value in asked]
    wants_all = len({key for key, _ in asked}) < len(asked) or _BOTH.search(question) is not None
    return not asked or (all(told) if wants_all else any(told))


def _says(said: str, days: list[str], value: str) -> bool:
    parts = value.split(", ")
    if len(parts) > 1 and all(len(part.split()) <= _NAME_WORDS for part in parts):
        return all(flat(part) in said for part in parts)
    known = flat(value)
    return known in said or known.removesuffix(".0") in said or any(day in days for day in dates_in(value))


def _single_record(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _single_record(inner)
        else:
            yield str(key), inner


def _is_told(value: Any, question: str) -> bool:
    if isinstance(value, list) and not all(isinstance(one, str | int | float) for one in value):
        return False
    if isinstance(value, bool) or value is None:
        return False
    text = _text(value)
    return 0 < len(text) <= _LONGEST and flat(text) not in flat(question)


def asks_behind(question: str, found: Sequence[Outcome]) -> bool:
    """Tell whether all that is asked for is an id so far, and a person wants what stands behind it."""
    asked = _by_key(question, found)
    if _WANTS_ID.search(question) is not None:
        return False
    is_nameless = bool(found) and _ASKS_NAME.search(question) is not None and not _name_asked(question, found)
    if is_nameless and any(is_reference(_text(value)) for _, value in _told(found[-1], question)):
        return True  # A name is asked for, and all there is points to something else.
    return bool(asked) and all(is_reference(value) or _HANDLE.fullmatch(value) for _, value in asked)


def is_reference(value: str) -> bool:
    """Tell whether a value only points to a record: letters and digits in one word, no measure."""
    return re.fullmatch(r"(?=.*\d)[A-Za-z]{1,6}[-_]?[A-Za-z0-9_-]*", value) is not None
