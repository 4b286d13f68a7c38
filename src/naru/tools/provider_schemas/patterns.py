"""What a `pattern` of a schema is worth to a provider."""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants, _parser  # type: ignore[attr-defined]  # the one reader of regular expressions in the box
from typing import Any

_LONGEST = 200
"""Characters; a longer one costs a grammar engine more than it says."""
_NOT_SIMPLE = re.compile(r"\(\?[^:]|\\[1-9bBkpPuUAzZGQE]|\\x|[*+?}]\+|\{\d*,?(?:\d{3,})\}|\[\[:|&&")
_MOST_COPIES = 500
"""A grammar writes a repetition out; engines refuse from 2,000 on, and are slow before."""
_ESCAPED = frozenset("^$.[]()|{}*+?")
_CLASSES = {"CATEGORY_DIGIT": "0-9", "CATEGORY_WORD": "0-9A-Z_a-z\u0080-\uffff"}
r"""What stands in a class for `\d` and `\w`: as much or more, also where words are not English."""


def anchored_pattern(pattern: str) -> str | None:
    """Return a pattern as it is, where it is anchored at both ends and nothing in it looks around; else None."""
    if not (pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")):
        return None
    inner = pattern[1:-1]
    is_simple = (
        len(pattern) <= _LONGEST and not _NOT_SIMPLE.search(inner) and not re.search(r"(?<!\\)[\^$](?![^\[]*\])", inner)
    )
    return pattern if is_simple else None


def grammar_pattern(pattern: str) -> str | None:
    r"""Return a pattern, as wide or wider, in what every version of llama.cpp's converter reads; None where it cannot.

    Older ones refuse all tools for `\d` or `\w` and crash on `(?:…)`; all of them read a quantifier after an escape as
    one of the whole text before, and write a quote or a backslash into the JSON as it is. So what is left is classes
    and text without those, groups, alternatives and repetitions that are not too large.
    """
    try:
        tree = _parser.parse(pattern)
        if tree.state.flags & ~re.UNICODE or len(tree) < 2 or not _is_anchored(tree):
            return None
        inner, copies = _sequence(tree[1:-1])
    except (re.error, OverflowError, RecursionError, _NoWordsError):
        return None
    return f"^{inner}$" if copies <= _MOST_COPIES and len(inner) <= _LONGEST else None


class _NoWordsError(Exception):
    """A grammar has no words for a part of the pattern."""


def _is_anchored(tree: Any) -> bool:
    return bool(tree[0] == (_constants.AT, _constants.AT_BEGINNING) and tree[-1] == (_constants.AT, _constants.AT_END))


def _sequence(nodes: Iterable[Any]) -> tuple[str, int]:
    """Return nodes written anew, and how many copies of them a grammar holds."""
    written = [_node(kind, value) for kind, value in nodes]
    return "".join(text for text, _ in written), sum(copies for _, copies in written)


def _node(kind: Any, value: Any) -> tuple[str, int]:
    match str(kind):
        case "LITERAL":
            char = _char(value)
            return f"\\{char}" if char in _ESCAPED else char, 1
        case "IN":
            return f"[{_class(value)}]", 1
        case "SUBPATTERN":
            _, added, removed, inner = value
            if added or removed:
                raise _NoWordsError
            text, copies = _sequence(inner)
            return f"({text})" if text else "", copies
        case "BRANCH":
            branches = [_sequence(branch) for branch in value[1]]
            if not all(text for text, _ in branches):
                raise _NoWordsError
            return f"({'|'.join(text for text, _ in branches)})", sum(copies for _, copies in branches)
        case "MAX_REPEAT" | "MIN_REPEAT":  # Whole texts are matched: how eagerly makes no difference.
            return _repeated(*value)
        case _:
            raise _NoWordsError


def _repeated(low: int, high: Any, inner: Any) -> tuple[str, int]:
    text, copies = _sequence(inner)
    is_open = high is _constants.MAXREPEAT
    most = low if is_open else int(high)
    if not text or (most == 0 and not is_open):
        return "", 0
    if re.fullmatch(text, ""):
        raise _NoWordsError  # A repetition of nothing never ends.
    if not (len(text) == 1 and text.isascii() and text.isalnum()) and text[0] + text[-1] not in ("[]", "()"):
        text = f"({text})"
    if len(inner) > 1 or str(inner[0][0]) in ("MAX_REPEAT", "MIN_REPEAT"):
        text = f"({text})"
    bounds = (low, None if is_open else most)
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if bounds in short:
        return f"{text}{short[bounds]}", copies
    if is_open:
        return f"{text}{{{low},}}", copies * low
    return f"{text}{{{low}}}" if low == most else f"{text}{{{low},{most}}}", copies * most


def _class(members: Any) -> str:
    text = ""
    for kind, value in members:
        match str(kind):
            case "LITERAL":
                text += _class_char(value)
            case "RANGE":
                low, high = value
                if low < 0x20 or any(low <= ord(char) <= high for char in '"\\'):
                    raise _NoWordsError
                text += f"{_class_char(low)}-{_class_char(high)}"
            case "CATEGORY" if str(value) in _CLASSES:
                text += _CLASSES[str(value)]
            case _:
                raise _NoWordsError  # a negated one takes in the quote that ends the text
    if text.startswith("^"):
        text = f"{text[1:]}^"  # No engine's escape of it is known to another; elsewhere it means itself, as "-" does.
    return text.replace("\\-", "") + "-" if "\\-" in text else text


def _class_char(code: int) -> str:
    char = _char(code)
    return f"\\{char}" if char in "[]-" else char


def _char(code: int) -> str:
    char = chr(code)
    if char in '"\\' or code < 0x20 or code == 0x7F or 0xD800 <= code <= 0xDFFF:
        raise _NoWordsError
    return char


def compiles(pattern: str) -> bool:
    """Say whether it is a regular expression at all."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
