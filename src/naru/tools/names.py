"""Tool names that every provider accepts, one to one (R8, S-51): `server__tool`, 1 to 63 of `[A-Za-z0-9_-]`.

A name depends on its server and tool alone, never on what else is connected, so it is the same after a restart and
when servers come and go. Where the plain form would be refused or ambiguous, it is respelled and ends in a hash.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from naru.errors import ConflictError

SEPARATOR = "__"
MAX_LENGTH = 63
"""Gemini's limit, the smallest; OpenAI allows 64."""
_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ILLEGAL_RUN = re.compile(r"[^A-Za-z0-9_-]+")
_HASH_DIGITS = 8
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_INITIALS = ("g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s", "ss", "", "j", "jj", "ch", "k", "t", "p", "h")
_MEDIALS = (
    *("a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae"),
    *("oe", "yo", "u", "wo", "we", "wi", "yu", "eu", "ui", "i"),
)
_FINALS = (
    *("", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "l", "l", "l"),
    *("p", "l", "m", "p", "p", "t", "t", "ng", "t", "t", "k", "t", "p", "t"),
)


def own_name(name: str) -> str:
    """Return a tool's name without its server's."""
    return name.rsplit(SEPARATOR, 1)[-1]


def plain_name(name: str) -> str:
    """Return a name of a tool, parameter or key as words, however it is written."""
    return _HUMP.sub(" ", name).replace("_", " ").replace(".", " ").replace("-", " ")


@dataclass(frozen=True, slots=True)
class ToolId:
    """Which tool of which server; `server` is empty for Naru's own."""

    server: str
    tool: str

    def __str__(self) -> str:
        return f"{self.server}.{self.tool}" if self.server else self.tool


def exposed_name(server: str, tool: str) -> str:
    """Return the name under which a server's tool is offered."""
    plain = f"{server}{SEPARATOR}{tool}" if server else tool
    if _LEGAL.fullmatch(plain) and len(plain) <= MAX_LENGTH and _splits_back(server, tool):
        return plain
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    room = MAX_LENGTH - _HASH_DIGITS - 1 - len("t_")
    tool_part = _respelled(tool)[: room * 2 // 3] or "tool"
    server_part = _respelled(server)[: room - len(tool_part) - len(SEPARATOR)].rstrip("_-")
    respelled = f"{server_part}{SEPARATOR}{tool_part}" if server_part else tool_part
    return f"{'' if _LEGAL.match(respelled) else 't_'}{respelled}_{digest}"


def sendable_name(name: str) -> str:
    """Return a tool's name as a provider takes it: itself where legal, else respelled with a hash."""
    return name if _LEGAL.fullmatch(name) and len(name) <= MAX_LENGTH else exposed_name("", name)


def _splits_back(server: str, tool: str) -> bool:
    """Say whether the plain form can be split in one way only: at its first separator."""
    if not server:
        return SEPARATOR not in tool
    return SEPARATOR not in server and not server.endswith("_")


def _respelled(name: str) -> str:
    romanised = "".join(_romanised(char) for char in unicodedata.normalize("NFC", name))
    ascii_only = unicodedata.normalize("NFKD", romanised).encode("ascii", "ignore" if romanised else "replace").decode()
    return _ILLEGAL_RUN.sub("_", ascii_only).strip("_-")


def _romanised(char: str) -> str:
    """Spell a Hangul syllable in Latin letters, so that a model can still read the name."""
    index = ord(char) - 0xAC00
    if not 0 <= index < 11172:
        return char
    return _INITIALS[index // 588] + _MEDIALS[index % 588 // 28] + _FINALS[index % 28]


class NameMap:
    """Exposed name ⇄ tool. The first to claim a name keeps it; a newcomer that could be taken for it is refused."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolId] = {}
        self._names: dict[ToolId, str] = {}
        self._claims: dict[str, ToolId] = {}

    def add(self, server: str, tool: str) -> str:
        """Claim the exposed name of a tool and return it; the same tool may claim again.

        Raises:
            ConflictError: another tool has this name, or one that differs only by case or by Unicode form.
        """
        wanted = ToolId(server, tool)
        if wanted in self._names:
            return self._names[wanted]
        name = exposed_name(server, tool)
        claims = (name.casefold(), _folded(wanted))
        for claim in claims:
            holder = self._claims.get(claim)
            if holder is not None:
                raise ConflictError(
                    f"tool '{wanted}' is not offered: its name cannot be told from '{holder}', which came first.",
                    remedy="Rename one of them, or its server.",
                )
        self._claims.update(dict.fromkeys(claims, wanted))
        self._tools[name] = wanted
        self._names[wanted] = name
        return name

    def tool(self, name: str) -> ToolId | None:
        """Return the tool behind an exposed name."""
        return self._tools.get(name)

    def name(self, tool: ToolId) -> str | None:
        """Return the exposed name of a tool."""
        return self._names.get(tool)

    def forget(self, server: str) -> None:
        """Let go of a server's names: it was removed, not merely disconnected."""
        for tool in [tool for tool in self._names if tool.server == server]:
            self._tools.pop(self._names.pop(tool))
        self._claims = {claim: tool for claim, tool in self._claims.items() if tool.server != server}


def _folded(tool: ToolId) -> str:
    return "\0" + unicodedata.normalize("NFKC", f"{tool.server}\0{tool.tool}").casefold()
