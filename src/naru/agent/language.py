"""Which language a text is in."""

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
TELLING_LETTERS = 20
"""A shorter text says too little of its language."""
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


def is_foreign(text: str, language: str) -> bool:
    """Tell whether a text is in another language than this one, as far as that can be told."""
    can_be_told = bool(language) and sum(map(str.isalpha, text)) >= TELLING_LETTERS
    return can_be_told and language_of(text) not in ("", language)
