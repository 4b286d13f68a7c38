"""Numbered SQL files, one folder for each database; applied once, in order, never edited after they have shipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step."""

    version: int
    name: str
    sql: str

    def statements(self) -> Iterator[str]:
        """Yield its statements; each ends with `;` at the end of a line."""
        lines: list[str] = []
        for line in self.sql.splitlines():
            if not line.lstrip().startswith("--"):
                lines.append(line)
            if line.rstrip().endswith(";") and not line.lstrip().startswith("--"):
                yield "\n".join(lines)
                lines = []


def load_migrations(database: str) -> tuple[Migration, ...]:
    """Return the steps for `sqlite` or `postgres` in order."""
    folder = resources.files(__name__) / database
    steps = [
        Migration(int(file.name[:4]), file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    ]
    return tuple(sorted(steps, key=lambda step: step.version))
