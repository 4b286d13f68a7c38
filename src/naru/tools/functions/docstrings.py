"""What a docstring says for a model: the tool's description and a text per parameter.

Headings, indentation and fields are read here: parsers of whole docstrings fail on a `Raises:` without a colon, or take
`:class:` at the start of a line for a field. NumPy's form is left to one.
"""

from __future__ import annotations

import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from docstring_parser import DocstringStyle, ParseError, parse

_GOOGLE_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Returns|Return|Yields|Yield"
    r"|Raises|Raise|Example|Examples|Note|Notes|Attributes|See Also|References|Warnings?|Todo):\s*$"
)
_ARGUMENTS = re.compile(r"(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters):")
_KOREAN_SECTIONS = {
    **dict.fromkeys(("인자", "인수", "매개변수", "파라미터"), "Args:"),
    **dict.fromkeys(("반환", "반환값", "리턴"), "Returns:"),
    **dict.fromkeys(("예외", "오류"), "Raises:"),
    **dict.fromkeys(("예", "예시", "예제"), "Example:"),
}
_ENTRY = re.compile(r"\s*([\w*`]+(?:, ?[\w*`]+)*)\s*(?:\(.*?\))?\s*(?::| (?:--?|[–—]) )\s*(.*)")
"""`name (type): text`, or with a dash."""
_OWN_LINE = re.compile(r"(?:[-*•+]|\d+[.)]) |\||```|~~~")
"""Items of lists, rows of tables, fences: no line above goes on in them."""
_ROW_OR_FENCE = re.compile(r"\||```|~~~")
"""Nor do these go on in the line below."""
_NUMPY_RULE = re.compile(r"^-{3,}\s*$")
_FIELD = re.compile(
    r"^[:@](?:(?P<text>param|parameter|arg|argument|key|keyword)(?:\s[^:]*)?\s[\\*]*(?P<name>\w+)\s*:\s*(?P<first>.*)"
    r"|\w+(?:\s[^:]*)?:(?!`)|(?:type|returns?|rtype|raises?|yields?)\b)"
)
"""One of Sphinx (`:param x: …`) or Epydoc (`@param x: …`), no role as in ":class:`X`"; some forget the second colon."""


@dataclass(frozen=True, slots=True)
class DocText:
    """A docstring's parts that a model is shown; `Returns:` and `Raises:` are left out."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(docstring: str | None) -> DocText:
    """Read a Google, NumPy, Sphinx or Epydoc docstring; a strange one is taken whole, never an error."""
    lines = _plain(_lines(docstring or ""))
    # Below a blank line a rule only parts paragraphs.
    if any(line.strip() and _NUMPY_RULE.match(rule) for line, rule in itertools.pairwise(lines)):
        return _numpy(lines)
    begins = _first(_GOOGLE_SECTION, lines)
    entries = list(_google(lines))
    if not entries:  # `Note:` and `Example:` stand beside fields, too
        begins, entries = min(begins, _first(_FIELD, lines)), list(_fields(lines))
    parameters: dict[str, str] = {}
    for names, text in entries:
        if told := _joined("\n".join(text)):
            for name in names.split(","):
                parameters.setdefault(name.strip(" *`"), told)
    return DocText("\n".join(lines[:begins]).strip(), parameters)


def _first(pattern: re.Pattern[str], lines: list[str]) -> int:
    return next((place for place, line in enumerate(lines) if pattern.match(line)), len(lines))


def _lines(docstring: str) -> list[str]:
    if _GOOGLE_SECTION.match(docstring.lstrip().partition("\n")[0]):
        return textwrap.dedent(docstring).strip("\n").splitlines()  # its body would lose its indentation beside it
    return inspect.cleandoc(docstring).strip().splitlines()


def _numpy(lines: list[str]) -> DocText:
    text = "\n".join(_separated(lines))
    try:
        parsed = parse(text, style=DocstringStyle.NUMPYDOC)
    except (ParseError, ValueError, IndexError):
        return DocText(text)
    parameters = {
        name.strip("*`"): _joined(param.description)
        for param in parsed.params
        if param.description and param.args and param.args[0] != "attribute"
        for name in param.arg_name.split(", ")
    }
    gap = "\n\n" if parsed.blank_after_short_description else "\n"
    description = gap.join(part for part in (parsed.short_description, parsed.long_description) if part)
    return DocText(description.strip(), parameters)


def _google(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield names and the lines about them; a section ends where a line stands further left than its first."""
    entry: tuple[str, list[str]] | None = None
    is_inside, depth = False, -1
    for line in lines:
        if heading := _GOOGLE_SECTION.match(line):
            is_inside, depth = bool(_ARGUMENTS.match(heading[0])), -1
            continue
        indent = len(line) - len(line.lstrip())
        if line and depth < 0:
            depth = indent
        is_inside = is_inside and (not line or indent >= depth)
        if not is_inside:
            continue
        if indent == depth and (match := _ENTRY.match(line)):
            if entry:
                yield entry
            entry = match[1], [match[2]]
        elif entry:
            entry[1].append(line)  # at the entries' own depth, too, where it is none
    if entry:
        yield entry


def _fields(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield names and the lines about them; a paragraph further left than a field's text is none of it."""
    entry: tuple[str, list[str]] | None = None
    for before, line in itertools.pairwise(["", *lines]):
        match = _FIELD.match(line)
        if match or (line and not before and not line.startswith(" ")):
            if entry:
                yield entry
            entry = (match["name"], [match["first"]]) if match and match["text"] else None
        elif entry:
            entry[1].append(line)
    if entry:
        yield entry


def _plain(lines: list[str]) -> list[str]:
    """Write Korean and small headings as Google's style has them."""
    return [
        _KOREAN_SECTIONS.get(line.removesuffix(":"), line.title() if _GOOGLE_SECTION.match(line.title()) else line)
        if line[-1:] == ":"
        else line
        for line in map(str.rstrip, lines)
    ]


def _separated(lines: list[str]) -> list[str]:
    """Put the blank line before a section that the parser needs and people forget."""
    spaced: list[str] = []
    for line, below in itertools.pairwise([*lines, ""]):
        if spaced and spaced[-1].strip() and _NUMPY_RULE.match(below):
            spaced.append("")
        spaced.append(line)
    return spaced


def _joined(text: str) -> str:
    """Join continuation lines; keep items of lists, rows of tables, and what stands between fences as it is."""
    joined: list[str] = []
    fenced: int | None = None
    for raw in text.splitlines():
        line = raw.strip()
        if fenced is not None:
            joined.append(raw[min(fenced, len(raw) - len(raw.lstrip())) :].rstrip())
        elif joined and line and joined[-1] and not (_OWN_LINE.match(line) or _ROW_OR_FENCE.match(joined[-1])):
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
        if line.startswith(("```", "~~~")):
            fenced = None if fenced is not None else len(raw) - len(raw.lstrip())
    return "\n".join(joined).strip()
