"""Text that arrives in many small pieces, kept as few large ones."""

from __future__ import annotations

_MANY = 256


class Pieces(list[str]):
    """Pieces of one text; `compact` keeps a megabyte that came by four characters from staying 250,000 strings."""

    _joined = 0
    """How many pieces at the beginning are joined ones."""

    def compact(self) -> None:
        """Join the new pieces if there are many."""
        if len(self) - self._joined >= _MANY:
            self[self._joined :] = ["".join(self[self._joined :])]
            self._joined += 1

    def take(self) -> str:
        """Return the whole text, and begin anew."""
        text = self[0] if len(self) == 1 else "".join(self)
        self.clear()
        self._joined = 0
        return text
