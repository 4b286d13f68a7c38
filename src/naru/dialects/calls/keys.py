"""What the keys of JSON that may be a call say: by the words they are made of, however they are written."""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from naru.dialects.tool import Tool

    Role = Literal["", "name", "arguments", "id", "outcome"]

THINGS = ("tool", "function", "func", "fn", "action", "api", "mcp", "call", "invoke")
_ACTS = ("use", "run", "request", "execute", "next", "code", "to", "name")
"""What formats name their fields, tags and labels by, whatever language is spoken in them: identifiers of protocols,
put together freely (`toolCall`, `function_to_call`, `next-action`), so that no compound has a row of its own."""
_BEGINNINGS = {word[:size] for word in THINGS + _ACTS for size in range(len(word))}
_WORD = rf"(?:(?:{'|'.join(THINGS + _ACTS)})s?)"
_SAYS_CALL = lazy_pattern(rf"(?=.*(?:{'|'.join(THINGS)})){_WORD}{{1,4}}")
_SAYS_CALL_SO_FAR = lazy_pattern(rf"{_WORD}{{0,4}}(?:{'|'.join(sorted(_BEGINNINGS, reverse=True))})")
_NAME = lazy_pattern(r"name|(?:command|recipient|method)(?:name)?")
_ARGUMENTS = lazy_pattern(rf"(?:{_WORD}|command)*(?:arguments?|args|parameters?|params|inputs?|kwargs)")
_AROUND = lazy_pattern(r"(?:next)?command(?:call|use)?s?|params|message")
_DEFINITIONS = ("tools", "functions")
_IDS = frozenset({"id", "tool_call_id", "call_id"})
_OUTCOME = lazy_pattern(
    r"(?:tool|function|call)?(?:results?|outputs?|response|observation|errors?|status|success)|expected|returned|took"
    r"|(?:return|exit)(?:value|code)|(?:latency|duration|elapsed)(?:ms|seconds)?|timestamp|example"
)
_THOUGHTS = frozenset({"thought", "thoughts", "reasoning", "reason"})
_FIRST_MEMBER = lazy_pattern(r"\W{0,4}([\w.\-]{1,64})\\?[\"'“”]\s{0,8}[:=：]")
_LONGEST = 24


def letters(word: str) -> str:
    """Return a word without the strokes and the case in which ways of writing it differ."""
    return word.replace("_", "").replace("-", "").replace(" ", "").replace("/", "").lower()


@lru_cache(maxsize=256)
def says_call(word: str) -> bool:
    """Tell whether a tag, a label or a key is made of nothing but words for tools and for calling them."""
    return len(word) <= _LONGEST and _SAYS_CALL.fullmatch(letters(word)) is not None


@lru_cache(maxsize=256)
def may_say_call(begun: str) -> bool:
    """Tell whether a word that is still arriving may become one that `says_call`."""
    return len(begun) <= _LONGEST and _SAYS_CALL_SO_FAR.fullmatch(letters(begun)) is not None


@lru_cache(maxsize=256)
def role_of(key: str) -> Role:
    """Tell what a key of a call's object holds; an object with an outcome tells of a call that was made."""
    if key in _IDS:
        return "id"
    word = letters(key) if len(key) <= _LONGEST else ""
    if _OUTCOME.fullmatch(word):
        return "outcome"
    if _NAME.fullmatch(word) or (says_call(word) and not word.endswith("s")):
        return "name"
    return "arguments" if _ARGUMENTS.fullmatch(word) else ""


@lru_cache(maxsize=256)
def is_around_calls(key: str) -> bool:
    """Tell whether calls may stand under a key."""
    word = letters(key) if len(key) <= _LONGEST else ""
    return (says_call(word) and word not in _DEFINITIONS) or _AROUND.fullmatch(word) is not None


def tells_thoughts(key: str) -> bool:
    """Tell whether a text of any length may stand under a key before a call."""
    return key in _THOUGHTS


@lru_cache(maxsize=256)
def names_tool(key: str) -> bool:
    """Tell whether a key says that a tool's name stands under it, so that its arguments may lie beside it."""
    return (role_of(key) == "name" and "tool" in key.lower()) or key == "function_name"


def are_arguments(value: Any, tool: Tool) -> bool:
    """Tell whether a value is an object of arguments that the tool's schema names, with all that it asks for."""
    if not isinstance(value, dict) or not value or any(name not in tool.properties for name in value):
        return False
    required = tool.parameters.get("required")
    return not isinstance(required, list) or all(name in value for name in required)


def is_definition(arguments: dict[str, Any], tool: Tool) -> bool:
    """Tell whether a tool's arguments are the schema of some, unless it takes such."""
    is_schema = isinstance(arguments.get("properties"), dict) and arguments.get("type") == "object"
    return is_schema and "properties" not in tool.properties


def names_argument(text: str, names: list[str]) -> bool:
    """Tell whether a text that was not closed where it should have been has the name of one of some arguments."""
    return any(
        re.search(rf"[\"'“”\\]{name}(?!\w)|(?<!\w){name}(?:[\"'“”\\]|\W{{0,4}}[:=：])", text)
        for name in map(re.escape, names)
    )


def begins_as_members(text: str, tool: Tool) -> bool:
    """Tell whether a text begins like an object of the tool's arguments, with its brace or without."""
    first = _FIRST_MEMBER.match(text)
    return first is not None and first[1] in tool.properties


def unwrapped(arguments: dict[str, Any], tool: Tool) -> dict[str, Any]:
    """Return the arguments that an object holds under a key such as `args`, or the object itself."""
    if len(arguments) == 1:
        ((key, inner),) = arguments.items()
        if key not in tool.properties and role_of(key) == "arguments" and are_arguments(inner, tool):
            return dict(inner)
    return arguments
