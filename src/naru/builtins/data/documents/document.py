"""A document, and what became of everything that was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Scalar = str | int | float | bool
"""What every vector store keeps beside a document."""


class UnreadableError(Exception):
    """A file is not what its name says, or cannot be read at all; its text is the reason."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text to find again."""

    id: str
    text: str
    source: str
    """Where it stands: `columns.csv#3`, `guide.md#2`."""
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """A row, page or file that gave no document."""

    source: str
    reason: str


@dataclass(slots=True)
class Reading:
    """Documents with ids of their own, and what was refused."""

    documents: list[Document] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    assumed: dict[str, str] = field(default_factory=dict)
    """The encoding that a file which names none was read in, by its name."""
    _ids: set[str] = field(default_factory=set, repr=False)
    _said: dict[tuple[str, str, str], str] = field(default_factory=dict, repr=False)

    def add(self, document: Document) -> None:
        """Keep a document; one whose id is taken is called by its place too, one that says the same is refused."""
        id_ = _storable(document.id) or document.source
        text = _storable(document.text).strip()
        source = _storable(document.source)
        if not text:
            self.refused.append(Refused(source, "it has no text"))
            return
        says = (id_, text, repr(sorted(document.metadata.items())))
        if says in self._said:
            self.refused.append(Refused(source, f"it says the same as {self._said[says]}"))
            return
        self._said[says] = source
        while id_ in self._ids:
            id_ = f"{id_} ({source})"
        self._ids.add(id_)
        self.documents.append(Document(id_, text, source, document.metadata))

    @property
    def accounted(self) -> int:
        """How many are documents or named as none."""
        return len(self.documents) + len(self.refused)

    def refuse(self, source: str, reason: str) -> None:
        """Name what gave no document."""
        self.refused.append(Refused(_storable(source), reason))


def _storable(text: str) -> str:
    """Replace halves of surrogate pairs and NUL, which files may hold and no store can."""
    text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
