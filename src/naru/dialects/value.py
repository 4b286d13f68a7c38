"""Frozen values without `dataclasses` and `typing`, which cost more to import than all the rest of the library.

See docs/decisions/0091-a-library-that-loads-fast.md.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class Value:
    """Equal by type and fields; a subclass names those in `__match_args__`, in the order of its `__init__`.

    Fields are `Final`: the type checker refuses to set them again, and setting them costs no more than it must.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self.__match_args__)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({fields})"

    def as_data(self) -> dict[str, Any]:
        """Return the fields as a dict, values inside them too."""
        return {name: _as_data(getattr(self, name)) for name in self.__match_args__}


def _as_data(field: Any) -> Any:
    if isinstance(field, Value):
        return field.as_data()
    return [_as_data(item) for item in field] if isinstance(field, tuple) else field
