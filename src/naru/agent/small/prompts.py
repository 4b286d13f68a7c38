"""What a small model is told. Each question stands last: an instruction after it loses answers (UPLIFT)."""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import lru_cache
from typing import Any

_LANGUAGES = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "th": "Thai",
    "tr": "Turkish",
    "zh": "Chinese",
}
"""The languages that the embedded encoder was trained on; Chinese in both scripts."""


@lru_cache(maxsize=1)
def _detector() -> Any:
    """Return the language detector, loaded at the first question; None where the extra is missing."""
    with suppress(ImportError):
        detector = importlib.import_module("py3langid")
        detector.set_languages(list(_LANGUAGES))
        return detector
    return None


@lru_cache(maxsize=64)
def language_of(question: str) -> str:
    """Name the language of a question; empty where nothing can tell."""
    detector = _detector()
    return _LANGUAGES[detector.classify(question)[0]] if detector is not None and question.strip() else ""


def answer_in(question: str) -> str:
    """Say in which language to answer: small models drift to that of the results."""
    return f"Answer in {language_of(question) or 'the language of the question'}."


def final_turn(question: str, results: str, attempt: int) -> tuple[str, str]:
    """Return instruction and user text of the last turn: results first, the question last."""
    first = "You find the answer in the information and say it in a full sentence."
    how = first if attempt == 1 else "Answer the question from the information alone, word for word."
    return f"{how} {answer_in(question)}", f"Information:\n{results}\n\nQuestion: {question}"


def done_turn(question: str, results: str) -> tuple[str, str]:
    """Return instruction and user text for saying what was changed; an order shown again is explained, not told."""
    return f"Tell the person in one sentence what was done. {answer_in(question)}", f"Done: {results}"


def translation(text: str, language: str) -> tuple[str, str]:
    """Return instruction and user text for putting an answer into the language of the question."""
    return f"You translate into {language}. Keep names, ids and numbers as they are.", text


def nothing_turn(question: str, wanted: str) -> tuple[str, str]:
    """Return instruction and user text for saying that nothing was found; the question is not shown to be answered."""
    language = language_of(question) or "the language of the question"
    return answer_in(question), f"Tell me in one short sentence in {language}: {wanted} was not found."
