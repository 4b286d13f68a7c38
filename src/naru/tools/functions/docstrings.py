"""What a docstring says for a model: the tool's description and a text per parameter (LESSONS 17)."""

from __future__ import annotations

import inspect
import itertools
import re
from dataclasses import dataclass, field

from docstring_parser import Docstring, DocstringStyle, ParseError, parse
from docstring_parser.google import DEFAULT_SECTIONS, GoogleParser, Section, SectionType

_GOOGLE_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Returns|Return|Yields|Yield"
    r"|Raises|Raise|Example|Examples|Note|Notes|Attributes|See Also|References|Warnings?|Todo):\s*$"
)
_ARGUMENTS = ("Keyword Args", "Keyword Arguments", "Other Parameters")
_KOREAN_SECTIONS = {
    **dict.fromkeys(("인자", "인수", "매개변수", "파라미터"), "Args:"),
    **dict.fromkeys(("반환", "반환값", "리턴"), "Returns:"),
    **dict.fromkeys(("예외", "오류"), "Raises:"),
    **dict.fromkeys(("예", "예시", "예제"), "Example:"),
}
_DASHED = re.compile(r"^(\s+[\w*`]+(?: \([^)]*\))?) [-–—] ")
"""A parameter whose text is set off by a dash."""
_NUMPY_RULE = re.compile(r"^-{3,}\s*$")
_EPYDOC_FIELD = re.compile(r"^@(param|arg|type|returns?|rtype|raises?)\b[^:]*:")
_SPHINX_FIELD = re.compile(r"^:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?)\b[^:]*:")


@dataclass(frozen=True, slots=True)
class DocText:
    """A docstring's parts that a model is shown; `Returns:` and `Raises:` are left out."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(docstring: str | None) -> DocText:
    """Read a Google, NumPy, Sphinx or Epydoc docstring; a strange one is taken whole, never an error."""
    text = inspect.cleandoc(docstring or "").strip()
    if not text:
        return DocText()
    lines = _separated(_plain(text.splitlines()))
    style = _style(lines)
    if style is None:
        return DocText(text)
    try:
        parsed = _parsed(lines, style)
    except (ParseError, ValueError, IndexError):
        return DocText(text)
    parameters = {
        name.strip("*`"): _joined(param.description)
        for param in parsed.params
        if param.description and param.args and param.args[0] != "attribute"
        for name in param.arg_name.split(", ")
    }
    description = "\n\n".join(part for part in (parsed.short_description, parsed.long_description) if part)
    return DocText(description.strip(), parameters)


def _parsed(lines: list[str], style: DocstringStyle) -> Docstring:
    text = "\n".join(lines)
    if style is not DocstringStyle.GOOGLE:
        return parse(text, style=style)
    # The parser takes a section that it does not know for a part of the description.
    known = {section.title for section in DEFAULT_SECTIONS}
    found = {match[1] for line in lines if (match := _GOOGLE_SECTION.match(line))} - known
    more = [
        Section(title, "param", SectionType.MULTIPLE)
        if title in _ARGUMENTS
        else Section(title, "note", SectionType.SINGULAR)
        for title in sorted(found)
    ]
    return GoogleParser([*DEFAULT_SECTIONS, *more]).parse(text)


def _style(lines: list[str]) -> DocstringStyle | None:
    # Below a blank line a rule only parts paragraphs.
    if any(line.strip() and _NUMPY_RULE.match(rule) for line, rule in itertools.pairwise(lines)):
        return DocstringStyle.NUMPYDOC
    if any(_GOOGLE_SECTION.match(line) for line in lines):
        return DocstringStyle.GOOGLE
    if any(_SPHINX_FIELD.match(line) for line in lines):
        return DocstringStyle.REST
    if any(_EPYDOC_FIELD.match(line) for line in lines):
        return DocstringStyle.EPYDOC
    return None


def _plain(lines: list[str]) -> list[str]:
    """Write Korean headings and dashes behind a section's names as Google's style has them."""
    plain = [
        _KOREAN_SECTIONS.get(line.removesuffix(":"), line.title() if _GOOGLE_SECTION.match(line.title()) else line)
        if line[-1:] == ":"
        else line
        for line in map(str.rstrip, lines)
    ]
    if any(_GOOGLE_SECTION.match(line) for line in plain):
        return [_DASHED.sub(r"\1: ", line) for line in plain]
    return plain


def _separated(lines: list[str]) -> list[str]:
    """Put the blank line before a section that the parser needs and people forget."""
    spaced: list[str] = []
    for index, line in enumerate(lines):
        next_line = lines[index + 1] if index + 1 < len(lines) else ""
        opens = _GOOGLE_SECTION.match(line) or _NUMPY_RULE.match(next_line)
        first_field = _SPHINX_FIELD.match(line) and not (spaced and _SPHINX_FIELD.match(spaced[-1]))
        if spaced and spaced[-1].strip() and (opens or (first_field and not line.startswith(" "))):
            spaced.append("")
        spaced.append(line)
    return spaced


def _joined(text: str) -> str:
    """Join continuation lines; keep lists, one item a line."""
    joined: list[str] = []
    for line in (line.strip() for line in text.splitlines()):
        if joined and line and not line.startswith(("- ", "* ", "• ")) and joined[-1]:
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
    return "\n".join(joined).strip()
