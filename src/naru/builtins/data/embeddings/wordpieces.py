"""English text to the pieces that all-MiniLM-L6-v2 reads: BERT's uncased vocabulary, the longest piece first.

The vocabulary beside this module is Google's (Apache-2.0); a piece's place in it is its row in the weights.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from importlib import resources

MAX_PIECES = 128
"""As the model was trained."""
_MAX_LETTERS = 100
"""A longer word has no pieces."""
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


def pieces_of(text: str) -> list[int]:
    """Return the numbers of a text's pieces, between those for its start and its end."""
    found = [number for word in _WORD.findall(_plain(text)) for number in _pieces(word)]
    numbers = _vocabulary()
    return [numbers["[CLS]"], *found[: MAX_PIECES - 2], numbers["[SEP]"]]


def _plain(text: str) -> str:
    """Write in small letters without accents."""
    parts = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in parts if unicodedata.category(letter) != "Mn")


@functools.lru_cache(maxsize=8192)
def _pieces(word: str) -> tuple[int, ...]:
    unknown = (_vocabulary()["[UNK]"],)
    if len(word) > _MAX_LETTERS:
        return unknown
    found = tuple(_longest_first(word))
    return unknown if None in found else tuple(number for number in found if number is not None)


def _longest_first(word: str) -> Iterator[int | None]:
    """Yield the numbers of a word's pieces; None where no piece fits."""
    numbers, start = _vocabulary(), 0
    while start < len(word):
        before = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if before + word[start:end] in numbers)
        end = next(ends, None)
        yield None if end is None else numbers[before + word[start:end]]
        if end is None:
            return
        start = end


@functools.cache
def _vocabulary() -> dict[str, int]:
    text = resources.files(__package__).joinpath("wordpieces.txt").read_text(encoding="utf-8")
    return {piece: number for number, piece in enumerate(text.split("\n"))}
