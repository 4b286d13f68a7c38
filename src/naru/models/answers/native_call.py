"""One native call as its deltas arrive: arguments that stream once they are known to be an object, and end as one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from naru.dialects.texts.literal import parse_literal

_BEGINS_OBJECT = re.compile(r"\s*\{\s*\"")
"""An empty object is shown when the call has ended: gateways write one before the arguments proper."""
_UNDECIDED = re.compile(r"\s*(?:\{\s*\}?)?")
_GLUED = re.compile(r"\}\s*\{")
_GLUE_LENGTH = 16
_HEAD_LENGTH = 4
_MAX_GLUE_CHECKS = 8
"""How often an object is looked at whether it is over, where `}{` stands; code in a string holds that too."""


@dataclass(slots=True)
class NativeCall:
    """A call that arrives as the wire's own deltas."""

    id: str = ""
    name: str = ""
    index: int | None = None
    """Its place among the answer's calls; None until it is shown."""
    parts: list[str] = field(default_factory=list)
    is_other: bool = False
    """What came is no JSON object as it stands: it is looked at when it is complete."""
    is_over: bool = False
    """Another call has taken its place on the wire."""
    is_glued: bool = False
    """Its arguments stood behind those of another call, without a name or an index of their own."""
    glued: str = ""
    """What came behind the first complete object: the arguments of a further call of the same tool."""
    carried: dict[str, Any] = field(default_factory=dict)
    """What the endpoint wants back beside the call."""
    _head: str = ""
    """How the arguments begin, without space: what `shows` judges."""
    _tail: str = ""
    _checks: int = 0

    @property
    def json(self) -> str:
        """What came so far."""
        return "".join(self.parts)

    def add_name(self, name: str) -> None:
        """Take a name: once, repeated in every delta, or in pieces before the arguments."""
        if not self.name:
            self.name = name
        elif name and name != self.name and self.index is None and not self.parts:
            self.name += name

    def add(self, arguments: object) -> str:
        """Take a piece of arguments, or all of them as a value; return what of it counts."""
        if arguments is None:
            return ""
        if not isinstance(arguments, str):
            self.parts = [json.dumps(arguments, ensure_ascii=False)]
            self._head = self.parts[0][:_HEAD_LENGTH]
            return self.parts[0]
        piece = self._within_first_object(arguments) if "{" in arguments else arguments
        if piece:
            self.parts.append(piece)
            self._tail = (self._tail + piece)[-_GLUE_LENGTH:]
            if len(self._head) < _HEAD_LENGTH:
                self._head = _without_space(self._head + piece)[:_HEAD_LENGTH]
        return piece

    def is_complete(self) -> bool:
        """Tell whether a further object cannot belong to this call."""
        return _is_object(self.json)

    def shows(self) -> bool:
        """Tell whether what came begins an object and may be shown."""
        if self.is_other or self.is_glued:
            return False
        if _BEGINS_OBJECT.match(self._head):
            return True
        self.is_other = not _UNDECIDED.fullmatch(self._head)
        return False

    def arguments(self) -> dict[str, Any] | None:
        """Return the complete arguments; None when they are no object, however read."""
        return read_object(self.json)

    def fault(self) -> tuple[str, bool]:
        """Say for the model what is wrong with arguments that are no object, and whether they end in the middle."""
        return fault_of(self.json)

    def is_strict(self) -> bool:
        """Tell whether what came is one JSON object as it stands."""
        return _is_object(self.json)

    def _within_first_object(self, piece: str) -> str:
        """Cut off what follows a complete object: some gateways glue the arguments of several calls together."""
        tail = self._tail
        for found in _GLUED.finditer(tail + piece):
            if self._checks >= _MAX_GLUE_CHECKS:
                break
            self._checks += 1
            size = found.start() + 1 - len(tail)
            first = self.json + piece[:size] if size > 0 else self.json[: size or None]
            if not _is_object(first):
                continue
            rest = piece[max(size, 0) :].lstrip()
            if json.loads(first):
                self.glued = rest
                return piece[: max(size, 0)]
            self.parts, self._head, self._tail = [], "", ""  # An empty object, and then what was meant.
            return self._within_first_object(rest)
        return piece


def _without_space(text: str) -> str:
    """Leave out the space before an object and after its opening bracket."""
    text = text.lstrip()
    return "{" + text[1:].lstrip() if text.startswith("{") else text


def read_object(text: str) -> dict[str, Any] | None:
    """Decode arguments: an object, nothing for none at all, an object encoded twice, or one in Python's spelling."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
        if isinstance(value, str):
            value = json.loads(value) if value.strip() else {}
    except (ValueError, RecursionError):
        value = _tolerantly(text)
    if value is None:
        return {} if text.strip() in ("null", "None", '"null"') else None
    return value if isinstance(value, dict) else None


def _tolerantly(text: str) -> Any:
    try:
        return parse_literal(text)
    except (ValueError, RecursionError):
        return None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


_KINDS: tuple[tuple[type, str], ...] = ((str, "a text"), (bool, "a truth value"), (list, "a list"))


def fault_of(text: str) -> tuple[str, bool]:
    """Say what is wrong with arguments that are no JSON object, and whether they are cut."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            return "its arguments end in the middle", True
        return f"its arguments are no JSON ({error.msg} at character {error.pos + 1})", False
    except (ValueError, RecursionError):
        return "its arguments are no JSON", False
    kind = next((name for kind, name in _KINDS if isinstance(value, kind)), "a number")
    return f"its arguments are {kind} and no JSON object", False
