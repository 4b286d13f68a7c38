"""What was worked out of an object, kept while it is the same one: tools come anew each request, schemas do not."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """A bounded memo over objects that cannot be hashed, such as JSON schemas, which nobody changes in place.

    An entry holds its objects, so that no id in a key is ever another object's.
    """

    def __init__(self, most: int) -> None:
        """Keep at most so many results; all go at once when there are more."""
        self._most = most
        self._kept: dict[tuple[Hashable, ...], tuple[tuple[object, ...], T]] = {}

    def get(self, objects: tuple[object, ...], make: Callable[[], T], *, beside: tuple[Hashable, ...] = ()) -> T:
        """Return what was made of these very objects, and of the equal values `beside` them."""
        key = (*map(id, objects), *beside)
        held = self._kept.get(key)
        if held is not None:
            return held[1]
        made = make()
        if len(self._kept) >= self._most:
            self._kept.clear()
        self._kept[key] = (objects, made)
        return made
