"""The code blocks of the documents: what is in them, and why one is not run.

The word after three backticks is the language; after it may stand `file=NAME` (the block is that file, and later blocks
of the page use it) or `not run: REASON`. Nobody sees that in the rendered page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
GENERATED = {
    "docs/reference/cli.md",
    "docs/reference/http.md",
    "docs/reference/errors.md",
    "docs/reference/settings.md",
}
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(naru [^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: str
    line: int
    language: str
    text: str
    file: str = ""
    reason: str = ""
    """Why it is not run; empty for one that is."""

    @property
    def id(self) -> str:
        """Where it stands."""
        return f"{self.page}:{self.line}"

    def commands(self) -> list[str]:
        """The shell commands of a `sh` or `console` block, continued lines joined, comments left out."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        lines = [line.strip() for line in joined.splitlines()]
        if self.language == "console":
            return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [re.sub(r"\s+# .*$", "", line) for line in lines if line and not line.startswith("#")]


def pages() -> list[Path]:
    """All documents that people write."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    names = [path for path in sorted(found) if str(path.relative_to(ROOT)) not in GENERATED]
    return [path for path in names if path.name != "CHANGELOG.md" and path.parent.name != "decisions"]


def blocks() -> list[Block]:
    """All fenced blocks of all pages, in order."""
    return [block for page in pages() for block in _of(page)]


def inline_commands() -> list[tuple[str, str]]:
    """All `naru …` in running text, with their page."""
    found = []
    for page in pages():
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        found += [(str(page.relative_to(ROOT)), command) for command in INLINE.findall(text)]
    return found


def _of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        file, reason = "", ""
        if rest.startswith("file="):
            file = rest.removeprefix("file=")
        elif rest.startswith("not run:"):
            reason = rest.removeprefix("not run:").strip()
        elif rest:
            raise ValueError(f"{page.name}: what is {rest!r} after the language?")
        line = text[: match.start()].count("\n") + 1
        yield Block(str(page.relative_to(ROOT)), line, language, match["text"], file, reason)
