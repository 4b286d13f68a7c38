"""What a function says it returns, as MCP's `outputSchema`, and results held to it before they are sent."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from naru.messages import JsonObject, MediaPart, TextPart, ToolResult
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.functions.annotations import members
from naru.tools.functions.json_schema import type_to_json_schema

logger = logging.getLogger(__name__)

_SAYS_NOTHING = (str, int, float, bool, None, type(None), Any)
"""The usual returns that are no objects; pydantic need not be asked."""


def output_schema(annotation: Any) -> JsonObject | None:
    """Return the JSON Schema of the objects that a return annotation promises; None where it promises no object.

    A type that pydantic cannot describe costs the schema alone: the result is told as it comes.
    """
    if annotation in _SAYS_NOTHING or any(_is_own(kind) for kind, _ in members(annotation)):
        return None
    try:
        schema = type_to_json_schema(annotation, mode="serialization")
    except Exception:  # noqa: BLE001  # hooks of types are foreign code
        logger.debug("no output schema for %r", annotation, exc_info=True)
        return None
    reference = schema.get("$ref")
    if isinstance(reference, str):  # a recursive type; MCP wants `type: object` at the root itself
        schema = {**schema["$defs"][reference.removeprefix("#/$defs/")], "$defs": schema["$defs"]}
    schema.pop("title", None)
    return schema if schema.get("type") == "object" else None


def _is_own(kind: Any) -> bool:
    """Say whether it is a finished result, which is sent as it is."""
    return isinstance(kind, type) and issubclass(kind, ToolResult | TextPart | MediaPart)


class OutputCheck:
    """Holds results to an output schema: what does not match goes as text alone."""

    def __init__(self, name: str, schema: JsonObject) -> None:
        self._name = name
        self._checks = ArgumentsValidator(schema)

    def checked(self, result: ToolResult) -> ToolResult:
        """Return the result, without its structured content where that is not what the schema promises."""
        if result.is_error or result.structured is None:
            return result
        problems = self._checks.problems(result.structured)
        if not problems:
            return result
        logger.warning(
            "tool %s returned what its return annotation does not promise, so its result is sent as text alone: %s",
            self._name,
            "; ".join(problems),
        )
        return replace(result, structured=None)
