"""What the sentence before a call says of it: second evidence, where structure cannot tell.

"For example:" and a call looks as "I will look:" and a call does. With nothing after it only the words tell the two
apart, so they are asked then, and only of the last sentence; where they say nothing either, its meaning is asked
(`meaning.py`). All else is structure's (`shown.py`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.judging.layout import is_thought, last_line, without_declaration
from naru.dialects.judging.meaning import means_making, means_showing
from naru.dialects.judging.talk import MADE, NEEDS, POLITE, TALK, WAITS
from naru.dialects.texts.patterns import lazy_pattern

_WEIGHTS = {
    "example": 1.0,
    "form": 0.9,
    "likeness": 0.9,
    "told": 0.9,
    "refused": 0.4,
    "not run": 0.6,
    "negated": 0.5,
    "past": 0.8,
    "taught": 0.9,
}
"""How much what a sentence speaks of says that its call is only shown."""
_MADE_WEIGHT = 0.6
"""What it takes away that the sentence speaks of doing."""
_ENDED = 0.6
"""What words count for where their sentence is over and does not go on in the call."""
_FORBIDDEN = 0.3
"""What a negation counts for beyond its own weight in the clause that leads on to the call by a colon."""
_LIMIT = 0.75
_SAID_OF_CODE = ("taught", "likeness")
_ORDINARY = ("taught", "past", "negated")
"""`I'd like to`, `the previous attempt` and `I could not` are said of calls that are made."""
_MAY_WAIT = ("taught", "past")
"""What words of waiting may be taken for: `once` and `when` are both."""
_LONGEST_WAIT = 120
_SHORT = 20
"""Characters; a shorter sentence is read with the one before it."""
_LOOKED_AT = 240
_COLONS = (":", "：")
_SENTENCE_ENDS = ".!?…。！？।؟"
_ENDS_OF_SENTENCES = lazy_pattern(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_ENDS_OF_QUESTIONS = lazy_pattern(r"(?<=\?)(?=\s|[^\x00-\x7f])|(?<=[？؟])")
_TO_DO = lazy_pattern(r"[ \t]{0,8}(?:[-*+•]|\d{1,2}[.)]) \[[ \w✓✔]\] ")
_CLAUSES = lazy_pattern(r"[,;，、；]")
_PLAIN = str.maketrans("’：", "':")
_LETTER = lazy_pattern(r"(?<!\\)[a-z]")
_UPPER = lazy_pattern(r"\\.|[A-Z]")
_BAR = lazy_pattern(r"[()\[\]]|\|")


def speaks_of_showing(
    text: str,
    *,
    is_over: bool,
    is_turn: bool = False,
    of_code: bool = False,
    by_meaning: bool = True,
    of_its_matter: bool = True,
) -> bool:
    """Tell whether the last sentence of a text speaks of a call that is not made by it.

    Args:
        text: what stands before the call.
        is_over: whether a sentence that has ended speaks of its call less: an unmarked call is often shown after one.
        is_turn: whether a token with which a message begins stands right before the call.
        of_code: whether the call is written as code: who is asked for code makes a call by saying what it would be.
        by_meaning: whether its meaning is asked where words say nothing.
        of_its_matter: whether it has a word of what the call is about.
    """
    sentence = last_sentence(text)
    told = _tell(sentence, text, is_over=is_over, of_code=of_code)
    if not of_code and _asks_leave(text, by_meaning=by_meaning):
        return True
    if told and (is_turn or is_thought(last_line(text))) and _may_be_ordinary(sentence):
        return False
    if not by_meaning or of_code or not _leads_on(text):
        return told is True
    if told is None:
        return means_showing(sentence, of_its_matter=of_its_matter or is_turn or _is_polite(sentence))
    return told and not (_may_be_ordinary(sentence) and means_making(sentence))


def _asks_leave(text: str, *, by_meaning: bool) -> bool:
    """Tell whether a text ends in a question about a call that is shown and one sentence that does not speak of doing.

    `Should I run this? I need to know first.` waits for an answer; `Is it up? Let me see.` gives its own.
    """
    line = last_line(text)
    *_, question, answer = ("", "", *_ENDS_OF_QUESTIONS.split(line))
    if (
        is_thought(line)
        or not (question.strip() and answer.strip())
        or _does().are_in(answer.lower().translate(_PLAIN))
    ):
        return False
    if len([part for part in _ENDS_OF_SENTENCES.split(answer) if part.strip()]) > 1:
        return False
    question = [part for part in _ENDS_OF_SENTENCES.split(question) if part.strip()][-1]
    told = _tell(question, question, is_over=False, of_code=False)
    return told is True or (by_meaning and means_showing(question))


def _may_be_ordinary(sentence: str) -> bool:
    """Tell whether what a sentence says of showing are words that who makes a call has use for as well."""
    plain = sentence.lower().translate(_PLAIN)
    return not any(words.are_in(plain) for name, words in _concepts()[0].items() if name not in _ORDINARY)


def means_showing_politely(text: str) -> bool:
    """Tell whether the last sentence of a text speaks of doing by its polite ending alone, and means to show."""
    sentence = last_sentence(text)
    return _is_polite(sentence) and means_showing(sentence)


def _is_polite(sentence: str) -> bool:
    """Tell whether nothing of a sentence speaks of doing but an ending that any polite sentence has."""
    plain = sentence.lower().translate(_PLAIN)
    return _polite().are_in(plain) and not _concepts()[1].are_in(plain)


def _leads_on(text: str) -> bool:
    """Tell whether a text is over before a call or leads on to it: the beginning of a sentence means nothing yet.

    What ends in a tag or a bracket of another call's is no sentence, nor is an item of a list of what is to be done.
    A thought of ReAct's is a part of its form, and a marker that a sentence's end touches is a model's own.
    """
    bare = text.rstrip()
    last = bare[-1:]
    line = last_line(bare)
    if is_thought(line) or (last not in _COLONS and _TO_DO.match(line)):
        return False
    gap = text[len(bare) :]
    return last in _COLONS or (gap != "" and last in _SENTENCE_ENDS) or ("\n" in gap and last not in ">}]")


def _tell(sentence: str, text: str, *, is_over: bool, of_code: bool) -> bool | None:
    """Return what the words of the last sentence say of its call: it is shown, it is made, or nothing."""
    plain = sentence.lower().translate(_PLAIN)
    concepts, made = _concepts()
    doubt = sum(
        _WEIGHTS[name]
        for name, words in concepts.items()
        if not (of_code and name in _SAID_OF_CODE) and words.are_in(plain)
    )
    if text.rstrip()[-1:] in _COLONS:
        doubt += _FORBIDDEN * concepts["negated"].are_in(_CLAUSES.split(plain)[-1])
    elif is_over and text.rstrip()[-1:] in _SENTENCE_ENDS:
        doubt *= _ENDED
    if made.are_in(plain):
        return doubt >= _LIMIT + _MADE_WEIGHT
    if _polite().are_in(plain):
        return doubt >= _LIMIT + _MADE_WEIGHT or None
    return doubt >= _LIMIT or denies_running(text[-_LOOKED_AT:]) or None


def denies_running(text: str) -> bool:
    """Tell whether a text says that something was not run."""
    return _concepts()[0]["not run"].are_in(text.lower().translate(_PLAIN))


def speaks_of_doing(text: str) -> bool:
    """Tell whether the last sentence of a text speaks of doing, and of nothing else."""
    sentence = last_sentence(text).lower().translate(_PLAIN)
    concepts, made = _concepts()
    does = made.are_in(sentence) or _polite().are_in(sentence)
    return does and not any(words.are_in(sentence) for words in concepts.values())


def means_doing(text: str) -> bool:
    """Tell whether the last sentence of a text has words of doing and means it, with others that any call may have."""
    sentence = last_sentence(text)
    made = _concepts()[1].are_in(sentence.lower().translate(_PLAIN))
    return made and _may_be_ordinary(sentence) and means_making(sentence)


def speaks_of_waiting(text: str) -> bool:
    """Tell whether a short text speaks of waiting for a result, and neither of an example nor of a refusal."""
    if len(text) > _LONGEST_WAIT:
        return False
    plain = text.lower().translate(_PLAIN)
    concepts, _ = _concepts()
    return _waits().are_in(plain) and not any(
        words.are_in(plain) for name, words in concepts.items() if name not in _MAY_WAIT
    )


def last_sentence(text: str) -> str:
    """Return the last sentence of a text; a short one with that before it."""
    said = without_declaration(text[-_LOOKED_AT:])
    sentences = [part for part in _ENDS_OF_SENTENCES.split(said) if part.strip()]
    if not sentences:
        return ""
    return sentences[-1] if len(sentences[-1]) >= _SHORT else " ".join(sentences[-2:])


class _Words:
    """Alternatives to look for in lower-case text; those of other scripts only where there are any."""

    __slots__ = ("_latin", "_other")

    def __init__(self, words: str) -> None:
        plain = _UPPER.sub(lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), words)
        parts = _alternatives(plain)
        latin = [part for part in parts if _LETTER.search(part)]
        self._latin = re.compile("|".join(latin) or "(?!)")
        self._other = re.compile("|".join(part for part in parts if part not in latin) or "(?!)")

    def are_in(self, text: str) -> bool:
        """Tell whether any is found."""
        return self._latin.search(text) is not None or (not text.isascii() and self._other.search(text) is not None)


def _alternatives(words: str) -> list[str]:
    """Split a pattern at the bars that stand outside of brackets."""
    parts, depth, start = [], 0, 0
    for found in _BAR.finditer(words):
        if found[0] in "([":
            depth += 1
        elif found[0] in ")]":
            depth -= 1
        elif not depth:
            parts.append(words[start : found.start()])
            start = found.end()
    return [*parts, words[start:]]


@lru_cache(maxsize=1)
def _concepts() -> tuple[dict[str, _Words], _Words]:
    return {name: _Words(words) for name, words in TALK.items()}, _Words(f"{MADE}|{NEEDS}")


@lru_cache(maxsize=1)
def _does() -> _Words:
    return _Words(MADE)


@lru_cache(maxsize=1)
def _polite() -> _Words:
    return _Words(POLITE)


@lru_cache(maxsize=1)
def _waits() -> _Words:
    return _Words(WAITS)
