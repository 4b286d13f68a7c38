"""What a small model is told. Each question stands last: an instruction after it loses answers (UPLIFT)."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

_LANGUAGES = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian", "ja": "Japanese",
    "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "th": "Thai", "tr": "Turkish",
    "zh": "Chinese",
}  # fmt: skip
"""The languages that the embedded encoder was trained on; Chinese in both scripts."""
AHEAD = 8.0
"""How much likelier a language must be to be told, as a logarithm; 20 of 22 texts in others lie that far off."""


@lru_cache(maxsize=64)
def language_of(text: str, before: tuple[str, ...] = ()) -> str:
    """Name the language of a text, with what was said before it where it is too short; empty where nothing can tell."""
    if find_spec("py3langid") is None or not any(map(str.isalpha, text)):
        return ""
    ranked = import_module("py3langid").rank(text)
    (name, first), (_, second) = [one for one in ranked if one[0] in _LANGUAGES][:2]
    if before and first - second < AHEAD:
        return language_of(f"{before[-1]} {text}", before[:-1])
    return _LANGUAGES[name] if first > second and ranked[0][1] - first < AHEAD else ""


def answer_in(language: str) -> str:
    """Say in which language to answer: small models drift to that of the results."""
    return f"Answer in {language or 'the language of the question'}."


def final_turn(question: str, results: str, attempt: int, language: str) -> tuple[str, str]:
    """Return instruction and user text of the last turn: results first, the question last."""
    first = "You find the answer in the information and say it in a full sentence."
    how = first if attempt == 1 else "Answer the question from the information alone, word for word."
    return f"{how} {answer_in(language)}", f"Information:\n{results}\n\nQuestion: {question}"


def done_turn(language: str, results: str) -> tuple[str, str]:
    """Return instruction and user text for saying what was changed; an order shown again is explained, not told."""
    return f"Tell the person in one sentence what was done. {answer_in(language)}", f"Done: {results}"


def translation(text: str, language: str) -> tuple[str, str]:
    """Return instruction and user text for putting an answer into the language of the question."""
    return f"You translate into {language}. Keep names, ids and numbers as they are.", text


def nothing_turn(language: str, wanted: str) -> tuple[str, str]:
    """Return instruction and user text for saying that nothing was found; the question is not shown to be answered."""
    told = f" in {language}" if language else ""
    return answer_in(language), f"Tell me in one short sentence{told}: {wanted} was not found."
