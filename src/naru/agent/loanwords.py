"""Korean loanwords by their sound: 티켓 is `ticket`, 쿠폰 is `coupon`, 커밋 is `commit`, though no list holds them.

Both are cut to the consonants that one hears; Korean keeps those of the foreign word. For ranking tools only.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LEADS = ("k", "k", "n", "t", "t", "l", "m", "p", "p", "s", "s", "", "s", "s", "s", "k", "t", "p", "")
"""Initial consonants by their Unicode order; ㅈ, ㅊ and ㅅ are told apart too unsurely to keep apart."""
_TAILS = {
    1: "k",
    4: "n",
    7: "t",
    8: "l",
    16: "m",
    17: "p",
    19: "t",
    20: "t",
    21: "n",
    22: "t",
    23: "t",
    25: "t",
    26: "p",
}
_LATIN = (
    (r"sch", "sk"), (r"t(?=ion)", "s"), (r"ck", "k"), (r"ch|sh|tch|dg(?=e)|j|z", "s"), (r"c(?=[eiy])|g(?=[eiy])", "s"),
    (r"ph", "p"), (r"th", "s"), (r"x", "ks"), (r"qu|q|c|g", "k"), (r"[bvf]", "p"), (r"d", "t"),
    (r"r(?=[^aeiouy]|$)", ""), (r"r", "l"), (r"ng", "n"), (r"[aeiouywh]", ""),
)  # fmt: skip
_SILENT = 11
_VOWELS = (
    "aiuo", "ae", "aiy", "a", "euoai", "eai", "eay", "eya", "oau", "ow", "wao", "oiw", "oyu", "uow", "wou", "we", "wiu",
    "uye", "", "ui", "iye",
)  # fmt: skip
"""Medial vowels by their Unicode order, each with the Latin letters that it stands for; ㅡ only parts consonants."""
LEAST = 3
"""Consonants that a word must have to be told by them."""


def _heard_hangul(word: str) -> str:
    heard = ""
    for syllable in word:
        number = ord(syllable) - 0xAC00
        heard += _LEADS[number // 588] + _TAILS.get(number % 28, "")
    return re.sub(r"(.)\1+", r"\1", heard)


@lru_cache(maxsize=8192)
def _heard_latin(word: str) -> str:
    heard = word.lower()
    for pattern, sound in _LATIN:
        heard = re.sub(pattern, sound, heard)
    return re.sub(r"(.)\1+", r"\1", heard)


def is_hangul(word: str) -> bool:
    """Tell whether a word is of Hangul syllables alone, two or more."""
    return re.fullmatch(r"[가-힣]{2,}", word) is not None


def sound_alike(hangul: str, words: frozenset[str]) -> list[str]:
    """Return those of the Latin words that a Korean word, its particle aside, sounds like."""
    heard = {_heard_hangul(hangul[:length]) for length in range(2, len(hangul) + 1)}
    long_enough = {one for one in heard if len(one) >= LEAST}
    if not long_enough:
        return []
    opens = _opens(hangul)
    return sorted(
        word
        for word in words
        if (word[0] in "aeiou") is opens
        and {_heard_latin(word), _heard_latin(word.removesuffix("s"))} & long_enough
        and _first_vowels_meet(hangul, word)
    )


def _first_vowels_meet(hangul: str, word: str) -> bool:
    """Tell whether the first vowel that is spoken may be spelt so: 기분 is no `cabin`."""
    spoken = next((said for one in hangul if (said := _VOWELS[(ord(one) - 0xAC00) % 588 // 28])), "")
    written = next((letter for letter in word if letter in "aeiouy"), "")
    return not spoken or not written or written in spoken


def _opens(hangul: str) -> bool:
    """Tell whether a Korean word begins with a vowel."""
    return (ord(hangul[0]) - 0xAC00) // 588 == _SILENT
