"""Bytes as text: by their byte order mark, their zeros, as UTF-8, as they declare, or as Korean Windows writes."""

from __future__ import annotations

import codecs
import re

from naru.builtins.data.documents.document import UnreadableError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ZEROS_IN_WIDE_TEXT = 1 / 16
"""Of its bytes; blanks, commas and digits have one each, in every script."""
_EASTERN = re.compile("[ㄱ-ㆎ㐀-鿿가-힣豈-﫿]")
_KOREAN = 3 / 4
"""Of the Eastern letters in a Korean text: syllables that people write. Other encodings' bytes give others."""


def decoded(raw: bytes, declared: str = "") -> str:
    """Decode a text file; `declared` is the encoding that it names itself, which is believed after UTF-8.

    Raises:
        UnreadableError: it is none of these.
    """
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), "") or _wide(raw)
    for encoding in (marked,) if marked else ("utf-8-sig", declared, "cp949"):
        try:
            text = raw.decode(encoding or "utf-8-sig")
        except (UnicodeError, LookupError):
            continue
        if encoding != "cp949" or _is_korean(text):
            return text
    if marked:
        raise UnreadableError(f"it begins as {marked.upper()} and does not go on so; save it as UTF-8")
    raise UnreadableError("it is neither UTF-8, UTF-16 nor CP949 text; save it as UTF-8")


def _wide(raw: bytes) -> str:
    """Name UTF-16 without its mark: zeros at every other place, and at none between."""
    even, odd = raw[::2].count(0), raw[1::2].count(0)
    if len(raw) % 2 or not even + odd > len(raw) * _ZEROS_IN_WIDE_TEXT or (even and odd):
        return ""
    return "utf-16-be" if even else "utf-16-le"


def _is_korean(text: str) -> bool:
    """Tell Korean from what Western, Japanese or Chinese bytes happen to spell in CP949."""
    letters = _EASTERN.findall(text)
    written = {letter for letter in set(letters) if "가" <= letter <= "힣" and len(letter.encode("euc-kr")) == 2}
    return sum(letter in written for letter in letters) >= _KOREAN * len(letters)
