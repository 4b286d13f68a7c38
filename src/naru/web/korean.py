"""What the hub says, in Korean for whoever reads Korean: `Accept-Language` asks for it, as the console does.

A sentence is made in English where its facts are. Here it is known again by what does not vary in it (`korean.txt`);
what varies, such as a name or a server's own words, stays as it came. One that is not known is told by its code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from naru.messages import JsonObject
from naru.persons import current_person

_LONGEST = 4000
"""Characters of a text that are looked into; nothing of ours is longer."""
_MOST_SENTENCES = 16
_FEW = 8
"""Characters: a form with no more of its own than these takes single words."""
_HOLE = re.compile(r"\{(\d)(!?)\}")
_BETWEEN = re.compile(r"(?<=[.!?]) ")
_FULL_STOPS = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class _Form:
    """A sentence by what does not vary in it."""

    pieces: tuple[str, ...]
    korean: str
    weight: int

    def values(self, text: str) -> list[str] | None:
        """Return what stands in the gaps, or None when the text is another; linear, whatever the text is."""
        first, *middle = self.pieces
        if not middle:
            return [] if text == first else None
        *middle, last = middle
        if not text.startswith(first) or not text.endswith(last):
            return None
        at, end, found = len(first), len(text) - len(last), []
        for piece in middle:
            next_at = text.find(piece, at, end)
            if next_at < 0:
                return None
            found.append(text[at:next_at])
            at = next_at + len(piece)
        found.append(text[at:end])
        is_one = at <= end and (self.weight > _FEW or not any(" " in value for value in found))
        return found if is_one else None


def reads_korean(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether these headers of a request prefer Korean."""
    return any(name == b"accept-language" and value.strip().lower().startswith(b"ko") for name, value in headers)


def spoken(text: str, code: str = "") -> str:
    """Return what the hub says in the language of who asks now; `code` as in errors.yaml, such as `server:busy`."""
    return in_korean(text, code) if reads_korean(current_person.get().headers) else text


def told(problem: JsonObject) -> JsonObject:
    """Return the members of a problem in Korean."""
    said, remedy = str(problem.get("detail", "")), str(problem.get("remedy", ""))
    known = {"detail": in_korean(said, f"api:{problem.get('code', '')}")}
    return problem | known | ({"remedy": in_korean(remedy)} if remedy else {})


def in_korean(text: str, code: str = "") -> str:
    """Return a text in Korean, or by its code with the text behind it, or as it is."""
    known = known_in_korean(text)
    by_code = _codes().get(code)
    return known if known is not None else f"{by_code} ({text})" if by_code and text else by_code or text


def known_in_korean(text: str) -> str | None:
    """Return a text in Korean when all of its sentences are known."""
    return _best(text)[1] if len(text) <= _LONGEST else None


@lru_cache(maxsize=256)
def _best(text: str) -> tuple[int, str | None]:
    """Return the reading that rests on the most characters, and that number: whole, or cut into sentences or a list."""
    best: tuple[int, str | None] = _whole(text)
    cuts = [match.start() for match in _BETWEEN.finditer(text)][:_MOST_SENTENCES]
    for cut in cuts:
        weight, head = _whole(text[:cut])
        if head is not None:
            more, tail = _best(text[cut + 1 :])
            if tail is not None and weight + more > best[0]:
                best = weight + more, f"{head}{'' if head.endswith(_FULL_STOPS) else '.'} {tail}"
    if best[1] is None and "; " in text:
        parts = [known_in_korean(part) for part in text.split("; ")]
        if all(parts):
            return 1, "; ".join(filter(None, parts))
    return best


def _whole(text: str) -> tuple[int, str | None]:
    weight, known = _by_form(text)
    label, colon, rest = text.partition(": ")
    if known is None and colon and " " not in label:  # a field and what is wrong with it
        for said in (rest.removesuffix("."), rest):
            if (found := _by_form(said)[1]) is not None:
                return 1, f"{label}: {found}"
    return weight, known


def _by_form(text: str) -> tuple[int, str | None]:
    for form in _forms():  # those with the most of their own first
        if (values := form.values(text)) is not None:
            return form.weight, _filled(form.korean, values)
    return 0, None


def _filled(korean: str, values: list[str]) -> str:
    def value(hole: re.Match[str]) -> str:
        found = values[int(hole[1]) - 1]
        return (known_in_korean(found) or found) if hole[2] else found

    return _HOLE.sub(value, korean)


@cache
def _rows() -> Mapping[str, str]:
    text = resources.files("naru.web").joinpath("korean.txt").read_text(encoding="utf-8")
    blocks = (block.splitlines() for block in text.split("\n\n"))
    kept = ([line for line in block if not line.startswith("#")] for block in blocks)
    return {block[0]: block[1] for block in kept if block}


@cache
def _forms() -> tuple[_Form, ...]:
    pieces = {row: tuple(row.split("{}")) for row in _rows() if row not in _codes()}
    forms = [_Form(cut, _rows()[row], sum(map(len, cut))) for row, cut in pieces.items()]
    return tuple(sorted(forms, key=lambda form: -form.weight))


@cache
def _codes() -> Mapping[str, str]:
    return {row: korean for row, korean in _rows().items() if re.fullmatch(r"(?:api|server):\w+", row)}
