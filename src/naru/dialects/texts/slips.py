"""Slips of the pen: a letter left out, written twice, swapped with the next or in the wrong case; a mark too many."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ADDED = 1
"""How many characters longer than meant a text with a slip is."""
_SHORTEST = 4
"""Letters; a shorter name with a slip is another name as likely."""


def slip_at(text: str, place: int, meant: str) -> int:
    """Return the length of what stands at `place` and is `meant` with one slip at most.

    0 where nothing is, or where two slips of different length may be: `<b>x` of `<bx>`.
    """
    first = text[place : place + 2].lower()
    if meant[0].lower() not in first and first[:1] != meant[1:2].lower():
        return 0
    wanted = _plain(meant)
    written = _plain(text[place : place + len(meant) + MOST_ADDED])
    same = _shared(written, wanted)
    rest, here = wanted[same:], written[same:]
    if not rest:
        return same
    doubled = here[:1] in (wanted[same : same + 1], wanted[same - 1 : same]) if same else here[:1] in ("<", ">")
    if here[1:].startswith(rest) and (doubled or (same and not here[0].isalnum())):
        return len(meant) + 1
    swapped = here[:2] == rest[1::-1] and here[2:].startswith(rest[2:])
    marks = swapped and len(rest) == 2 and not rest[0].isalnum()  # no name after them begins with a mark
    left_out = here.startswith(rest[1:]) and not marks
    other_mark = here[1:].startswith(rest[1:]) and not (here[:1].isalnum() or rest[0].isalnum())
    if left_out and not swapped:
        return len(meant) - 1
    return len(meant) if (swapped or other_mark) and not left_out else 0


def meant_by(text: str, place: int, every: Iterable[str]) -> tuple[str, int]:
    """Return the longest of some texts that stands at `place` with one slip at most, and the length of what does.

    None where two as long do.
    """
    found = sorted(((meant, size) for meant in every if (size := slip_at(text, place, meant))), key=_length_meant)
    if not found or (len(found) > 1 and len(found[-1][0]) == len(found[-2][0])):
        return "", 0
    return found[-1]


def name_meant(written: str, names: Iterable[str]) -> str:
    """Return the only one of some names that another is with one slip, or in the plural; an empty one where none is."""
    whole = f"{written}\0"
    found = [
        name
        for name in names
        if len(name) >= _SHORTEST and len(whole) in (slip_at(whole, 0, f"{name}\0"), slip_at(whole, 0, f"{name}s\0"))
    ]
    return found[0] if len(found) == 1 else ""


def _length_meant(found: tuple[str, int]) -> int:
    return len(found[0])


def _plain(text: str) -> str:
    """Return a text without the case and the strokes in which slips differ, as long as it was."""
    plain = text.lower().replace("-", "_")
    return plain if len(plain) == len(text) else text


def _shared(first: str, second: str) -> int:
    return next(
        (size for size, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
