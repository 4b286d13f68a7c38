"""How the text around a call is laid out: quotation marks, labels, items of lists, logs, comments. No words.

Tells what stands there, not what it is worth (`shown.py`).
"""

from __future__ import annotations

import re
import unicodedata

from naru.dialects.texts.patterns import lazy_pattern

QUOTES = "\"'`´‘’‚“”„«»‹›"
SENTENCE_ENDS = ".!?…。！？।؟"
COLONS = ":："
QUESTIONS = "?？؟"
_FEW_WORDS = 2
_FEW_LETTERS = 6
"""Letters: what is longer is more than a word, in scripts that set none apart."""
_LONGEST_LABEL = 40
_PUNCTUATION = lazy_pattern(r"[^\w\s<>{}\[\],，、]\s*\Z|[:：]\s|^\s*(?:#|[-*+•]\s|\d{1,2}[.)]\s)")
"""What makes a sentence, a label, a heading or an item of a word or two."""
_BULLET = r"(?:[-*+•]|[\u2190-\u2bff\U0001f300-\U0001faff]\ufe0f?|\d{1,2}[.)])"
"""What an item of a list begins with: a mark, any arrow, tick, cross or picture, or a number."""
PREFIX = lazy_pattern(rf"\s*(?:(>|\||#{{1,6}}\s)|({_BULLET})\s)")
_ITEM_MARKS = lazy_pattern(rf"(?:(?:\A|\n)\s{{0,8}}{_BULLET}){{1,32}}[ \t]{{1,8}}\Z")
_ITEM = lazy_pattern(rf"\s*{_BULLET}\s")
_LABEL = lazy_pattern(
    r"[ \t]{0,8}(?:#{1,6} [^\n]{1,60}|(\*\*|__)[^*\n]{1,40}\1[:：]?[ \t]{0,8}(?=\n|\Z)"
    r"|\(?[^\W_]{1,2}[.)](?=\s|\Z)|[^\W_][ \t]{0,8}(?=\n|\Z)|<[\w.@-]{1,24}>(?= \S|\Z)|[←→»]|In \[\d+\]:|Out\[\d+\]:"
    r"|(?:(?:[-+*•]|\d{1,2}[.)]) )?[^\s:：<>|]{1,24}(?: [^\s:：<>|]{1,24}){0,2} {0,8}(?:：|[:>|—–](?=\s|\Z)))"
)
_FIELD = lazy_pattern(
    r"[ \t]{0,8}(?:[-*+•] )?(\*\*|__)?[^\s:：][^\n:：]{0,39}(?:：|:(?:\*\*|__)?(?=\s))[^\n]*[^\s:：*_]"
)
"""A line of a form or of a report: a name of a few words, and what it is."""
_STAMP = lazy_pattern(
    r"[ \t]{0,8}[\[(]?(?:\d{4}-\d\d-\d\d[T ]|[^\s\d]{1,5}\.? {1,2}\d{1,2},? |\d{1,2}\S{1,3}\d{1,2}\S? )?"
    r"\d\d:\d\d(?::\d\d|\b)"
)
"""A time, and a date before it, at the beginning of a line of a log or of a chat."""
_THOUGHT = lazy_pattern(r"\s*\*{0,2}Thought(?: \d{1,2})?(?:\*\*)?[:：]")
"""What ReAct begins its line with that says what the action is for, in any form: `Do I need a tool? Yes`."""
_CONTAINERS = lazy_pattern(r"(?i)<(!--|/?(?:pre|code|blockquote|q|cite|samp|example|quote|sample)\b|/)|-->")
_TAGS = lazy_pattern(r"<[^<>\n]{1,60}>")
_DECLARATION = lazy_pattern(r"\s*<\?[^<>\n]{0,60}\?>\s*\Z")
_TURN = lazy_pattern(r"(?:(?:\A|\n)\s{0,8}<\|\w{1,30}\|>[ \t]{0,8}){1,32}\s{0,8}\Z")
"""Tokens on lines of their own, of those with which a model's messages begin and end."""
_TURNS_LENGTH = 1000  # Characters in which they are looked for.
_LITERAL = lazy_pattern(r"(?i)([\"'`])(?:\[\]|\{\}|true|false|null|none|-?\d[\d.,]*)\1")
_UNITS = lazy_pattern(r"[{\[]\s*(?:[\"'{\[]|[\w.]+\().*", re.DOTALL)
"""What may be a call, with all after it."""


def last_line(text: str) -> str:
    """Return the last line that is not blank."""
    bare = text.rstrip()
    return bare[bare.rfind("\n") + 1 :]


def first_line(text: str) -> str:
    """Return the first line that is not blank."""
    return text.lstrip().partition("\n")[0]


def label_at(text: str) -> str:
    """Return the label that a text begins with; empty where it begins with none.

    A heading, words in bold, a letter in brackets, a name in angle ones, an arrow, a word or three and a colon: what
    stands over or before an exhibit.
    """
    found = _LABEL.match(text)
    return found[0] if found is not None else ""


def is_label(line: str) -> bool:
    """Tell whether a line is a label and nothing else."""
    return line[:1] != "<" and len(label_at(line)) == len(line) > 0


def is_numbered(line: str) -> bool:
    """Tell whether a line is a title with a number, and no item of a list: `Step 1: read the file`."""
    label = label_at(line)
    return label[:1].isalnum() and any(map(str.isnumeric, label))


def is_caption(line: str) -> bool:
    """Tell whether a line leads on with a remark in brackets, and is no item of a list: `Request 4 (refused):`."""
    remark = line.rstrip("*")[:-1].rstrip()[-1:]
    return PREFIX.match(line) is None and remark != "" and unicodedata.category(remark) == "Pe"


def is_short_line(text: str) -> bool:
    """Tell whether a text is one line of a few words that ends no sentence."""
    bare = text.strip()
    return 0 < len(bare) <= _LONGEST_LABEL and "\n" not in bare and bare[-1] not in SENTENCE_ENDS


def fields_above(text: str) -> str:
    """Return the fields of a form that a text ends in, if its last line is the name of one more; else nothing.

    `Reported by: the support desk` and another such line right before `Output:`, with no sentence between.
    """
    *above, name = text.rstrip().split("\n")
    at = len(above)
    while at and (_FIELD.fullmatch(above[at - 1].rstrip()) or (at == len(above) and not above[at - 1].strip())):
        at -= 1
    fields = "\n".join(above[at:]).strip()
    return fields if "\n" in fields and len(name) <= _LONGEST_LABEL and name.endswith((*COLONS, "*", "_")) else ""


def is_stamped(line: str) -> bool:
    """Tell whether a line begins with a time."""
    return _STAMP.match(line) is not None


def asks(text: str) -> bool:
    """Tell whether a text ends in a question; a Japanese one needs no mark of its own."""
    return text.rstrip().endswith((*QUESTIONS, "か。"))


def is_item(text: str) -> bool:
    """Tell whether a text begins with an item of a list."""
    return _ITEM.match(text) is not None


def over_items(text: str) -> str:
    """Return a text without the marks of a list's items that it ends in: what stands over the list introduces each."""
    found = _ITEM_MARKS.search(text)
    return text[: found.start()] + "\n" if found is not None else text


def without_declaration(text: str) -> str:
    """Return a text without the declaration of markup that it ends in, which is no sentence."""
    return _DECLARATION.sub("\n", text)


def over_turn(text: str) -> str:
    """Return a text without the tokens of turns that it ends in: what stands over them is what was said."""
    found = _TURN.search(text, max(0, len(text) - _TURNS_LENGTH))
    return text[: found.start()] + "\n" if found is not None else text


def is_thought(line: str) -> bool:
    """Tell whether a line is ReAct's thought."""
    return _THOUGHT.match(line) is not None


def over_thought(text: str) -> str:
    """Return a text without the thought that it ends in, if a colon leads on to that: what it says, it says of both."""
    bare = text.rstrip()
    lead = bare[: bare.rfind("\n") + 1]
    return lead if is_thought(last_line(bare)) and lead.rstrip().endswith((*COLONS,)) else text


def over_labels(text: str) -> str:
    """Return what stands over a list of which a text's last line is an item with nothing but a label; else nothing."""
    lines = text.rstrip().split("\n")
    if PREFIX.match(lines[-1]) is None or not lines[-1].rstrip("*_ ").endswith((*COLONS, ")")):
        return ""
    while lines and (not lines[-1].strip() or is_item(lines[-1]) or _TURN.match(lines[-1])):
        lines.pop()
    return "\n".join(lines)


def is_side_of_change(before: str, after: str) -> bool:
    """Tell whether a text ends in the minus or the plus of a diff's line.

    A line after it begins with the other mark, or the head of a diff stands before it.
    """
    mark = before[before.rfind("\n") + 1 :].strip()
    return mark in ("-", "+") and ("@@ -" in before or f"\n{'+' if mark == '-' else '-'}" in f"\n{after}")


def opens_quotation(text: str) -> bool:
    """Tell whether a text ends in a mark that opens a quotation or a parenthesis.

    At a distance, after more than one blank or on a line before, a mark that may be another opens only where nothing
    stands right before it and no pair is closed: `"` closes in `He said "go."`, `“` in `„Seoul“`, and `:(` is a face.
    """
    bare = text.rstrip()
    gap, last, ahead = text[len(bare) :], bare[-1:], bare[-2:-1]
    kind = unicodedata.category(last)
    if len(gap) <= 1 and gap != "\n":
        return kind in ("Ps", "Pi") or (last in QUOTES and not ahead.isalnum())
    if not last.isascii() and kind == "Ps":
        return True
    if last != "(" and kind != "Pi" and last not in QUOTES:
        return False
    outside = bare.rstrip(last)
    mark = bare[len(outside) :]
    if outside and not outside[-1].isspace():
        return False
    return mark in ("(", "'") or not last.isascii() or (mark[:3] != "```" and bare.count(mark) % 2 == 1)


def is_contained(text: str) -> bool:
    """Tell whether a comment or an element that quotes is open at the end of the text."""
    depth = 0
    for found in _CONTAINERS.finditer(text):
        written = found[0]
        if written == "-->" or written.startswith("</"):
            depth -= len(written) > 2 and depth > 0
        else:
            depth += 1
    return depth > 0


def is_open(line: str) -> bool:
    """Tell whether a line without an end of a sentence is no item of a list or a title, and more than a word or two."""
    return is_long(line) and PREFIX.match(line) is None and line[:2] != "**"


def is_long(text: str) -> bool:
    """Tell whether a text is more than a word or two, in a script with blanks or without."""
    return len(text.split()) > _FEW_WORDS or (not text.isascii() and len(text) > _FEW_LETTERS)


def says_something(text: str) -> bool:
    """Tell whether a text is more than a stray word."""
    return is_long(text) or (_PUNCTUATION.search(text) is not None and any(map(str.isalnum, text)))


def has_words(text: str) -> bool:
    """Tell whether a text is more than tags and punctuation."""
    return any(map(str.isalnum, _TAGS.sub("", text)))


def writes_value(text: str) -> bool:
    """Tell whether a text quotes a value that is no words, as who explains code does."""
    return _LITERAL.search(text) is not None


def prose_of(text: str) -> str:
    """Return a text without tags, and up to what may be another call."""
    return _UNITS.sub("", _TAGS.sub("", text))
