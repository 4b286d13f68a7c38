"""Where a quoted text ends that may have quotes of its own: told by what follows each."""

from __future__ import annotations

from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Final, Literal

    Nesting = Literal["{", "[", "("]
else:
    Nesting = str

COLONS = (":", "=", "：")
COMMAS = (",", "，")
"""Full-width marks stand for the plain ones outside of texts."""
_WORD_OF_JSON = r"(?:true|false|null|True|False|None)\b(?!\Z)"
_AFTER_COMMA_IN_LIST = lazy_pattern(rf"[\"'“‘\[\]{{(\-\d]|{_WORD_OF_JSON}|[)}}]")
_QUOTED_KEY = r"\"(?:[^\"\\\n]|\\.){0,1000}\"|'(?:[^'\\\n]|\\.){0,1000}'|[“‘][^”’\n]{0,1000}[”’\"]"
_LONGEST_BARE_KEY = 64
_BARE_KEY_BEFORE_COLON = rf"[A-Za-z_][\w.\-]{{0,{_LONGEST_BARE_KEY}}}"
_AFTER_COMMA_IN_OBJECT = lazy_pattern(rf"[}}\])]|(?:{_QUOTED_KEY}|{_BARE_KEY_BEFORE_COLON})(?:\s|\\[nrt])*[:=：]")
_OPEN_KEY = r"\"(?:[^\"\\\n]|\\.){0,1000}\\?\Z|'(?:[^'\\\n]|\\.){0,1000}\\?\Z|[“‘][^”’\n]{0,1000}\Z"
_UNFINISHED_KEY = lazy_pattern(rf"(?:{_QUOTED_KEY})(?:\s|\\[nrt])*\\?\Z|{_OPEN_KEY}")
_AFTER_COMMA_IN_CALL = lazy_pattern(rf"[\"'“‘\[{{(\-\d)]|{_WORD_OF_JSON}|\*\*|\\?[A-Za-z_][\w\-\\]{{0,64}}\s*[=:]")
_NEXT_MEMBER = lazy_pattern(r"\"[\w.\-]{1,64}\"\s{0,8}[:：]")
_NEXT_MEMBER_SO_FAR = lazy_pattern(r"\"[\w.\-]{0,64}(?:\"\s{0,8})?\Z")
NO_MEMBER = ("",)
"""The `keys` of `closes` where no member may follow: in an object that begins in the text itself."""
_AROUND_KEYS = "\"'“”‘’ \r\n\t"
_MOST_BRACKETS = 200
_CLOSED = lazy_pattern(rf"[}}\])\s]{{0,{_MOST_BRACKETS}}}")
_CLOSER = {"{": "}", "[": "]", "(": ")"}
_UNFINISHED_WORD = lazy_pattern(r"(?:\\?[A-Za-z_][\w.\-\\]{0,64}(?:\s|\\[nrt])*\\?|\*)\Z")
_AFTER_COMMA = {"[": _AFTER_COMMA_IN_LIST, "{": _AFTER_COMMA_IN_OBJECT, "(": _AFTER_COMMA_IN_CALL}
_LOOK_AHEAD = 1024
MOST_SPACE = 4_000
"""Characters: as much white space may stand between two tokens of a call."""


class _SpaceAfter:
    """White space and comments after a quote; what holds another such quote may be the string's own text."""

    __slots__ = ("begun", "whole")

    def __init__(self, quote: str) -> None:
        line = rf"(?://|#)[^\n{quote}]{{0,{_LOOK_AHEAD}}}"
        block = rf"/\*(?:[^*{quote}]|\*(?!/)){{0,{_LOOK_AHEAD}}}"
        self.whole: Final = lazy_pattern(rf"(?:\s|\\[nrt]|{line}\n|{block}\*/)*")
        self.begun: Final = lazy_pattern(rf"(?:\\|/|{line}|{block})?\Z")


_SPACE_AFTER = {quote: _SpaceAfter(quote) for quote in "\"'"}


def closes(
    text: str,
    after: int,
    nesting: str,
    *,
    key: bool | None = False,
    final: bool = True,
    keys: Collection[str] = (),
) -> bool | None:
    """Judge whether a quote before `after` ends its string, by what follows; None when more text is needed.

    In valid JSON the first unescaped quote always does, so this only ever helps text with stray quotes.

    Args:
        text: What has come.
        after: The place after the quote.
        nesting: The bracket that the string stands in.
        key: Whether the string is a key; None when it may be.
        final: Whether no more text comes.
        keys: Names of the members that may follow it, where any is known: a text with quotes may hold others.
    """
    quote = text[after - 1]
    at = _skip_after(text, after, quote, final=final)
    if at < 0:
        return None
    follower = text[at]
    if key or (key is None and nesting != "(" and follower in (":", "：")):
        return follower in COLONS
    if follower == _CLOSER[nesting]:
        return ends_there(text, at)
    if follower == '"' == quote and nesting == "{" and at > after:  # the comma between two members was left out
        return _is_member(text, at, final=final)
    if follower not in COMMAS:
        return False
    at = _skip_after(text, at + 1, quote, final=final)
    if at >= 0 and text[at] in COMMAS:  # a doubled one is one
        at = _skip_after(text, at + 1, quote, final=final)
    if at < 0:
        return None
    end = at + MOST_SPACE
    if member := _AFTER_COMMA[nesting].match(text, at, end):
        return not keys or member[0][-1] not in COLONS or member[0][:-1].strip(_AROUND_KEYS) in keys
    begun = _UNFINISHED_WORD.match(text, at) or (nesting == "{" and _UNFINISHED_KEY.match(text, at))
    return None if begun and len(text) <= end else False


def _is_member(text: str, at: int, *, final: bool) -> bool | None:
    """Tell whether a member of an object begins at `at`; None when more text is needed."""
    if _NEXT_MEMBER.match(text, at):
        return True
    return None if not final and _NEXT_MEMBER_SO_FAR.match(text, at) else False


def _skip_after(text: str, at: int, quote: str, *, final: bool) -> int:
    """Return where white space and comments from `at` on end; -1 when that is not known yet, or all that comes."""
    space, end = _SPACE_AFTER.get(quote, _SPACE_AFTER['"']), at + MOST_SPACE
    found = space.whole.match(text, at, end)
    at = found.end() if found else at
    if len(text) > end:
        return at
    if final:
        return -1 if text[at : at + 2] in ("", "\\") else at
    return -1 if space.begun.match(text, at) else at


def ends_there(text: str, at: int) -> bool | None:
    """Tell whether the brackets from `at` on end something: right before another quote they are part of the text."""
    found = _CLOSED.match(text, at)
    end = found.end() if found else at
    if end - at == _MOST_BRACKETS:
        return True
    if end >= len(text):
        return None
    return text[end] not in "\"'”" or text[end - 1].isspace()
