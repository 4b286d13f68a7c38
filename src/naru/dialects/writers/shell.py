"""A call as a fenced shell command, for clients that can show no calls at all: Plan B (V9, SECURITY S-40 to S-42)."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from naru.dialects.events import ParsedCall
from naru.dialects.tool import Tool
from naru.dialects.writers.look_alikes import LookAlikes
from naru.dialects.writers.segments import cut
from naru.dialects.writers.values import NAME
from naru.dialects.writers.writer import ReadResult

PROGRAM = "naru tool run"
_BLOCK = re.compile(r"```(?:bash|sh|shell)\n(naru tool run [^\n]*)\n```")
_LOOK_ALIKE = re.compile(r"naru(?:[\s\"'`\\^]+)tool(?:[\s\"'`\\^]+)run", re.IGNORECASE)
_HALF = re.compile(
    r"(?<![A-Za-z0-9_])n(?:a(?:r(?:u(?:[\s\"'`\\^]+(?:t(?:o(?:o(?:l(?:[\s\"'`\\^]+(?:r(?:u)?)?)?)?)?)?)?)?)?)?)?\Z",
    re.IGNORECASE,
)
NO_SUCH_TOOL = "(The model called a tool that was not offered; nothing is run.)"
Mint = Callable[[ParsedCall], str | None]
"""Makes the command line for a call; None for one of a tool that nobody offered."""
Recall = Callable[[str], ParsedCall | None]
"""Gives the call that a command line stands for, without running it."""


@dataclass(frozen=True, slots=True)
class Shell:
    """A fenced block with one command; what it runs stays with whoever minted it."""

    mint: Mint
    recall: Recall
    name: str = "shell"
    single: bool = False

    def write(self, call: ParsedCall, tools: Sequence[Tool]) -> str:
        """Return the block."""
        command = self.mint(call)
        return f"```bash\n{command}\n```" if command else NO_SUCH_TOOL

    def read(self, text: str, tools: Sequence[Tool]) -> list[str | ParsedCall]:
        """Return text and calls in order; a command that nobody here minted stays text."""
        minted = ((match, self.recall(match[1])) for match in _BLOCK.finditer(text))
        return cut(text, [(match.start(), match.end(), [call]) for match, call in minted if call])

    def read_results(self, text: str, tools: Sequence[Tool]) -> list[str | ReadResult]:
        """Return the text: what a terminal printed cannot be told from what a person wrote."""
        return [text] if text.strip() else []

    def look_alikes(self, tools: Sequence[Tool]) -> LookAlikes | None:
        """Guard command lines in ordinary text: only minted ones may be runnable (S-42)."""
        return LookAlikes(_LOOK_ALIKE, _HALF, harmless)


def harmless(text: str) -> str:
    """Return a command line's look-alike as words that no shell runs."""
    return re.sub(r"[\s\"'`\\^]+", "·", text)


def inline_payload(call: ParsedCall) -> str:
    """Encode a call so that it may stand in any shell: base64url alone (S-40)."""
    data = json.dumps({"name": call.name, "arguments": call.arguments}, separators=(",", ":"))
    return base64.urlsafe_b64encode(data.encode("ascii")).decode("ascii").rstrip("=")


def read_payload(text: str) -> ParsedCall | None:
    """Decode what `inline_payload` made; None when it is anything else."""
    try:
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        name, arguments = value["name"], value["arguments"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return ParsedCall("", name, arguments, "shell")


def posix_command(call: ParsedCall) -> str:
    """Return the seed's form, `naru tool run NAME 'JSON'`, quoted for POSIX shells; inline when a name is no word."""
    if not NAME.fullmatch(call.name):
        return f"{PROGRAM} --inline {inline_payload(call)}"
    return f"{PROGRAM} {call.name} {shlex.quote(json.dumps(call.arguments))}"


def read_posix_command(command: str) -> ParsedCall | None:
    """Read the seed's form back; None when it is anything else."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words[:3] != PROGRAM.split() or len(words) != 5:
        return None
    if words[3] == "--inline":
        return read_payload(words[4])
    try:
        arguments = json.loads(words[4])
    except (ValueError, RecursionError):
        return None
    return ParsedCall("", words[3], arguments, "shell") if isinstance(arguments, dict) else None
