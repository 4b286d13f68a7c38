"""Plain spaces for the blanks that models and office documents paste into SQL; literals stay as they are."""

from __future__ import annotations

import re

NO_BREAK_SPACE = "\u00a0"
BLANKS = (
    "\u00a0\u00ad\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d"
    "\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
"""No-break, typographic and ideographic spaces, zero-width characters, line separators, byte order mark."""

_LETTER = rf"(?![{BLANKS}])[A-Za-z_\u0080-\U0010ffff]"
_TOKENS = re.compile(
    rf"""
    (?P<kept>
        \b[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)                                # E'…' knows backslashes
      | '(?:[^']|'')*(?:'|\Z)
      | "(?:[^"]|"")*(?:"|\Z)
      | (?:(?<![A-Za-z0-9_$\u0080-\U0010ffff])|(?<=[{BLANKS}]))             # a $ inside an identifier starts nothing
        \$(?P<tag>(?:{_LETTER}(?:{_LETTER}|[0-9])*)?)\$.*?(?:\$(?P=tag)\$|\Z)
      | --[^\r\n]*
      | (?P<comment>/\*)                                                  # these nest, so no expression finds the end
    )
  | (?P<blank>[{BLANKS}]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def serialize_for_cell(data: str) -> str:
    """Replace every no-break space by a plain one (D4)."""
    return data.replace(NO_BREAK_SPACE, " ")


def plain_blanks(sql: str) -> str:
    """Replace unusual blanks by spaces, but never inside quotes, dollar quotes or comments."""
    if sql.isascii():
        return sql
    pieces: list[str] = []
    position = 0
    while found := _TOKENS.search(sql, position):
        pieces.append(sql[position : found.start()])
        position = _end_of_comment(sql, found.end()) if found["comment"] else found.end()
        pieces.append(" " * len(found["blank"]) if found["blank"] else sql[found.start() : position])
    return "".join((*pieces, sql[position:]))


def _end_of_comment(sql: str, position: int) -> int:
    depth = 1
    while depth and (edge := _COMMENT_EDGE.search(sql, position)):
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return position if not depth else len(sql)
