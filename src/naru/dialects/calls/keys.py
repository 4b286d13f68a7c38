"""What the keys of JSON that may be a call say: by the words they are made of, however they are written."""

from __future__ import annotations

from functools import lru_cache

from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from naru.dialects.tool import Tool

    Role = Literal["", "name", "arguments", "id", "outcome"]

_NAME = lazy_pattern(
    r"name|(?:tool|function|func|fn|api|action|command|recipient|method|(?:tool|function)?call)(?:name)?|tooltouse"
)
_ARGUMENTS = lazy_pattern(
    r"(?:tool|function|func|action|command|call|api)?(?:arguments?|args|parameters?|params|inputs?|kwargs)"
)
_AROUND = lazy_pattern(
    r"(?:next)?(?:tool|function|action|command)?(?:call|use|invoke)s?|(?:next)?(?:tool|function|action|command)|actions|params|message"
)
_KIND = lazy_pattern(r"(?:call|use|run)?(?:tool|function|mcp)s?(?:call|use)?")
_IDS = frozenset({"id", "tool_call_id", "call_id"})
_OUTCOME = frozenset({
    "result", "results", "output", "outputs", "response", "observation", "error", "expected", "returned",
    "return_value", "status", "success", "took", "latency", "latency_ms", "duration", "duration_ms", "timestamp",
    "example",
})  # fmt: skip
_THOUGHTS = frozenset({"thought", "thoughts", "reasoning", "reason"})
_LONGEST = 24


def letters(word: str) -> str:
    """Return a word without the strokes and the case in which ways of writing it differ."""
    return word.replace("_", "").replace("-", "").replace(" ", "").replace("/", "").lower()


@lru_cache(maxsize=256)
def role_of(key: str) -> Role:
    """Tell what a key of a call's object holds; an object with an outcome tells of a call that was made."""
    if key in _OUTCOME:
        return "outcome"
    if key in _IDS:
        return "id"
    word = letters(key) if len(key) <= _LONGEST else ""
    if _NAME.fullmatch(word):
        return "name"
    return "arguments" if _ARGUMENTS.fullmatch(word) else ""


@lru_cache(maxsize=256)
def is_around_calls(key: str) -> bool:
    """Tell whether calls may stand under a key."""
    return len(key) <= _LONGEST and _AROUND.fullmatch(letters(key)) is not None


def tells_thoughts(key: str) -> bool:
    """Tell whether a text of any length may stand under a key before a call."""
    return key in _THOUGHTS


@lru_cache(maxsize=256)
def names_tool(key: str) -> bool:
    """Tell whether a key says that a tool's name stands under it, so that its arguments may lie beside it."""
    return (role_of(key) == "name" and "tool" in key.lower()) or key == "function_name"


def is_kind(value: str) -> bool:
    """Tell whether a value says that this is a call, as `"action": "call_tool"` does, instead of naming a tool."""
    return len(value) <= _LONGEST and _KIND.fullmatch(letters(value)) is not None


def are_arguments(value: Any, tool: Tool) -> bool:
    """Tell whether a value is an object of arguments that the tool's schema names, with all that it asks for."""
    if not isinstance(value, dict) or not value or any(name not in tool.properties for name in value):
        return False
    required = tool.parameters.get("required")
    return not isinstance(required, list) or all(name in value for name in required)


def unwrapped(arguments: dict[str, Any], tool: Tool) -> dict[str, Any]:
    """Return the arguments that an object holds under a key such as `args`, or the object itself."""
    if len(arguments) == 1:
        ((key, inner),) = arguments.items()
        if key not in tool.properties and role_of(key) == "arguments" and are_arguments(inner, tool):
            return dict(inner)
    return arguments
