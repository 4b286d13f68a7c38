"""What stands in a docstring for each parameter, by headings and indentation alone; no parser of any library."""

from __future__ import annotations

import inspect
import re

_HEADINGS = (
    "Args,Arguments,Parameters,Params,Returns,Return,Yields,Yield,Raises,Raise,Example,Examples,Note,Notes,Attributes,"
    "References,Warning,Warnings,Todo,Methods,Warns,See Also,Other Parameters,Keyword Args,Keyword Arguments"
).split(",")
_GOOGLE = re.compile(rf"({'|'.join(_HEADINGS)}):\s*$", re.IGNORECASE)
_WANTED = re.compile(
    r"(Args|Arguments|Parameters|Params|Other Parameters|Keyword Args|Keyword Arguments)\b", re.IGNORECASE
)
_FIELD = re.compile(r":(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|var|ivar|cvar)\b[^:]*:")
_TEXT_FIELD = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+):\s*(.*)")


def is_clean(description: str, doc: str) -> bool:
    """Say whether a description begins as the docstring does and holds no section or field."""
    lines = [line.rstrip() for line in description.strip().splitlines()]
    first = next(iter(inspect.cleandoc(doc).splitlines()), "")
    begins = not lines or lines[0].split()[:3] == first.split()[:3]
    return begins and not any(
        _GOOGLE.match(line) or _FIELD.match(line) or _underlined(lines, index) for index, line in enumerate(lines)
    )


def right_parameters(doc: str, names: list[str]) -> dict[str, str]:
    """Return the text of each of a signature's parameters that the docstring tells of."""
    lines = [line.rstrip() for line in inspect.cleandoc(doc).splitlines()]
    found: dict[str, str] = {}
    if any(_underlined(lines, index) for index in range(len(lines))):
        entries = _numpy(lines)
    elif any(_GOOGLE.match(line) for line in lines):
        entries = _google(lines)
    else:
        entries = _fields(lines)
    for name, text in entries:
        if name in names and text.strip():
            found.setdefault(name, text)
    return found


def _underlined(lines: list[str], index: int) -> bool:
    after = lines[index + 1] if index + 1 < len(lines) else ""
    return lines[index] in _HEADINGS and bool(re.fullmatch(r"-{3,}", after))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _numpy(lines: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[list[str], list[str]]] = []
    is_wanted = False
    for index, line in enumerate(lines):
        if _underlined(lines, index):
            is_wanted = line in ("Parameters", "Other Parameters")
        elif is_wanted and not re.fullmatch(r"-{3,}", line):
            if line and not _indent(line):
                heads = re.split(r"\s*:\s|\s*:$", line)[0]
                found.append(([head.strip(" *`") for head in heads.split(",")], []))
            elif found:
                found[-1][1].append(line)
    return [(name, "\n".join(body)) for names, body in found for name in names]


def _google(lines: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, list[str]]] = []
    is_wanted, depth = False, 0
    for line in lines:
        if line and not _indent(line):
            is_wanted, depth = bool(_GOOGLE.match(line) and _WANTED.match(line)), 0
        elif is_wanted and line:
            depth = depth or _indent(line)
            if _indent(line) == depth:
                head = re.match(r"\s*\*{0,2}`?(\w+)`?\s*(?:\([^:]*\))?\s*:\s*(.*)", line)
                if head:
                    found.append((head[1], [head[2]]))
                elif found:
                    found[-1][1].append(line)  # text that was not indented
            elif found:
                found[-1][1].append(line)
    return [(name, "\n".join(body)) for name, body in found]


def _fields(lines: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, list[str]]] = []
    for index, line in enumerate(lines):
        if match := _TEXT_FIELD.match(line):
            found.append((match[1], [match[2]]))
        elif re.match(r":\w+[ :]", line) or (line and not _indent(line) and index and not lines[index - 1]):
            found.append(("", []))  # another field, or a paragraph of its own
        elif found:
            found[-1][1].append(line)
    return [(name, "\n".join(body)) for name, body in found]
