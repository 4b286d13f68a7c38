"""The tools that were offered, found by the names that models write for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from naru.dialects.calls.coerce import ONE_TYPE, property_schema, types_of
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.slips import name_meant
from naru.dialects.tool import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMESPACES = ("function", "functions", "default_api", "tool", "tools", "multi_tool_use")
_PREFIX = lazy_pattern(rf"(?<![\w.\-])(?:{'|'.join(_NAMESPACES)})[.:/]")
_MARKS_AROUND = lazy_pattern(r"^\W+|\W+$")
_INDEX = lazy_pattern(r"[:!]\d*\Z|\(\)\Z")


class Offered:
    """Looks up tools; nothing that was not offered is ever a call."""

    __slots__ = ("_initials", "_schemas", "_tools", "_types", "_variants", "names")

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._variants: dict[str, Tool | None] | None = None
        self._schemas: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._types: dict[tuple[str, str], frozenset[str]] = {}
        self._initials: frozenset[str] | None = None
        self.names = self._tools.keys()

    def find(self, written: Any) -> Tool | None:
        """Return the tool that a written name means: itself, without a namespace, or the only one spelled alike."""
        if not self._tools or not isinstance(written, str):
            return None
        if (tool := self._tools.get(written)) is not None:
            return tool
        name = written.strip().strip("`\"'").replace("\\_", "_")
        bare = _PREFIX.sub("", _INDEX.sub("", name), count=1)
        for candidate in (name, _INDEX.sub("", name), bare, bare.rpartition("/")[2]):
            if candidate in self._tools:
                return self._tools[candidate]
        return self._spelled_alike(bare)

    def without_argument(self, written: str) -> tuple[str, int]:
        """Return the tool's name that an argument's name was written onto without its tag, and its length."""
        for tool in self._tools.values():
            if written.startswith(tool.name) and written[len(tool.name) :] in tool.properties:
                return tool.name, len(tool.name)
        return written, len(written)

    def begins_a_name(self, character: str) -> bool:
        """Tell whether some tool's name begins with this character."""
        if self._initials is None:
            self._initials = frozenset(name[:1].lower() for name in self.names)
        return character.lower() in self._initials

    def could_begin(self, written: str) -> bool:
        """Tell whether text that is still arriving may become a tool's name, with what may stand right before it."""
        return self._could_begin(written) or self._could_begin(written.removeprefix("function"))

    def _could_begin(self, written: str) -> bool:
        if any(namespace.startswith(written) for namespace in _NAMESPACES):
            return bool(self.names)
        bare = _PREFIX.sub("", written.replace("\\_", "_").removesuffix("\\"), count=1)
        plain = _plain(bare)
        return any(_may_be_spelled(bare, plain, name) and _plain(name).startswith(plain) for name in self.names)

    def _spelled_alike(self, name: str) -> Tool | None:
        if self._variants is None:
            self._variants = {}
            for tool in self._tools.values():
                key = _plain(tool.name)
                self._variants[key] = None if key in self._variants else tool
        plain = _plain(name)
        meant = self._variants.get(plain) if name else None
        return meant if meant is not None and _may_be_spelled(name, plain, meant.name) else None

    def schema(self, tool: Tool, key: str) -> Mapping[str, Any] | None:
        """Return what the tool's schema says about an argument; None when it does not name it."""
        at = (tool.name, key)
        if at not in self._schemas:
            self._schemas[at] = property_schema(tool.parameters, key, tool.parameters)
        return self._schemas[at]

    def types(self, tool: Tool, key: str) -> frozenset[str]:
        """Return the JSON types that the tool's schema lets through for an argument."""
        found = self._types.get((tool.name, key))
        if found is None:
            found = self._declared(tool, key) or types_of(self.schema(tool, key) or {}, tool.parameters)
            self._types[tool.name, key] = found
        return found

    def _declared(self, tool: Tool, key: str) -> frozenset[str] | None:
        """Return the one type that most arguments have, without following references and alternatives."""
        declared = tool.properties.get(key)
        if type(declared) is dict and "$ref" not in declared and "nullable" not in declared:
            kind = declared.get("type")
            return ONE_TYPE.get(kind) if type(kind) is str else None
        return None


def _plain(name: str) -> str:
    return name.replace(".", "").replace("-", "").replace("_", "").lower()


def _may_be_spelled(written: str, plain: str, name: str) -> bool:
    """Tell whether a name's marks, which are not compared, are as few as letters: at most one stands at each.

    Without a bound a name that still arrives would be waited for as long as nothing but marks comes.
    """
    return len(written) - len(plain) <= len(name)


def argument_meant(tool: Tool, written: str, taken: Collection[str]) -> str:
    """Return the declared name, not taken yet, that another is but for a slip or marks around it; an empty one if none.

    The marks are left of tags or quotes. A tool that takes arguments of any name takes this one as it is, slip or not.
    """
    bare = _MARKS_AROUND.sub("", written)
    meant = bare if bare in tool.properties else ""
    if not meant and not tool.parameters.get("additionalProperties"):
        meant = name_meant(bare, tool.properties)
    return meant if meant not in taken else ""


def properties_of(tool: Tool) -> list[str]:
    """Return the names of the tool's declared arguments, in order."""
    return [str(name) for name in tool.properties]


def required_of(tool: Tool) -> list[str]:
    """Return the names of the arguments that a call must have."""
    required = tool.parameters.get("required")
    return [str(name) for name in required] if isinstance(required, list) else []
