"""Arguments against a tool's own schema, whatever form a provider was given; hostile schemas bounded (S-09)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from naru.encoding import encode
from naru.errors import InvalidArgumentsError
from naru.messages import JsonObject
from naru.tools.arguments.fit import fit
from naru.tools.arguments.schema_bounds import is_bounded
from naru.tools.provider_schemas.normalise import normalised

logger = logging.getLogger(__name__)

LARGEST_SCHEMA = 64 * 1024
"""Bytes; a larger schema is not compiled, and its tool's arguments are only checked to be an object (S-54)."""
MAX_ERRORS = 5
MAX_MESSAGE = 300
_BACKTRACK_LIMIT = 10_000


class ArgumentsValidator:
    """A compiled schema. References to other documents are never fetched; patterns run within a limit."""

    def __init__(self, schema: JsonObject) -> None:
        self.schema = schema
        self.problem = ""
        """Why arguments cannot be checked; empty when they can."""
        self._effective = schema
        self._validator = self._compiled(schema)

    def validate(self, arguments: Any, *, tool: str = "") -> JsonObject:
        """Return the arguments, coerced only where the schema forbids them as they came.

        Raises:
            InvalidArgumentsError: they do not fit; the message names each field.
        """
        if not isinstance(arguments, dict):
            raise InvalidArgumentsError(
                f"{_who(tool)} was not run: arguments are an object, not {type(arguments).__name__}."
            )
        misspelt: dict[str, str] = {}
        try:
            if self._validator is None or self._validator.is_valid(arguments):
                return arguments
            fitted = fit(self._effective, arguments, misspelt)
            problems = self.problems(fitted)
        except (ValueError, RecursionError) as error:  # Half a character in a name, or nested beyond reading.
            raise InvalidArgumentsError(f"{_who(tool)} was not run, its arguments cannot be read: {error}.") from error
        if problems:
            problems += told_misspelt(misspelt)
            raise InvalidArgumentsError(f"{_who(tool)} was not run, its arguments do not fit: {'; '.join(problems)}")
        return fitted

    def problems(self, value: Any) -> list[str]:
        """Return what the schema forbids in a value as it is, the first few; each names its field."""
        if self._validator is None:
            return []
        return [
            _explained(error) for _, error in zip(range(MAX_ERRORS), self._validator.iter_errors(value), strict=False)
        ]

    def _compiled(self, schema: JsonObject) -> Any:
        try:
            if len(encode(schema)) > LARGEST_SCHEMA:
                self.problem = f"the schema is larger than {LARGEST_SCHEMA} bytes"
                return None
            if is_bounded(schema):
                return _compile(schema)
            first_problem = "it refers to itself without end, or has too many parts"
        except (ValueError, TypeError, RecursionError) as error:
            first_problem = str(error).splitlines()[0]
        try:
            # Badly shaped (`properties: []`, `type: "int"`) or without bounds: read it as `normalised` does.
            self._effective = {key: value for key, value in normalised(schema).items() if key != "$schema"}
            return _compile(self._effective)
        except (ValueError, TypeError, RecursionError):
            self.problem = first_problem
            logger.warning("a tool's schema cannot be used to check its arguments: %s", first_problem)
            return None


def _compile(schema: JsonObject) -> Any:
    return jsonschema_rs.validator_for(
        schema,
        validate_formats=False,
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT),
        offline=True,
    )


def told_misspelt(misspelt: Mapping[str, str]) -> list[str]:
    """Return a line for each misspelt name with the right one."""
    return [f"{wrong} is not known: did you mean {right}?" for wrong, right in misspelt.items()]


def _explained(error: Any) -> str:
    path = ".".join(str(step) for step in error.instance_path)
    message = str(error.message)
    shown = message if len(message) <= MAX_MESSAGE else "…" + message[-MAX_MESSAGE:]
    return f"{path}: {shown}" if path else shown


def _who(tool: str) -> str:
    return f"tool {tool!r}" if tool else "the tool"
