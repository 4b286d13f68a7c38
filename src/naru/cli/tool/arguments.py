"""Arguments of a tool as a person types them: a JSON object, a file, stdin, or key=value; never evaluated (S-44)."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from naru.errors import InvalidArgumentsError, UserError
from naru.messages import JsonObject, ToolDefinition
from naru.tools.arguments.misspelt import meant

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
_MORE_PROPERTIES = frozenset(
    {"patternProperties", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "dependentSchemas", "dependencies"}
)
"""Keywords by which a schema may name properties elsewhere than in `properties`."""


def read_arguments(words: Sequence[str], file: Path | None) -> JsonObject:
    """Return the arguments object; empty when nothing was given.

    `key=value` gives text, which the tool's schema turns into a number or truth value where it wants one;
    `key:=json` gives JSON.

    Raises:
        UserError: they are no JSON object, too large, or said twice.
    """
    if file is not None:
        if words:
            raise UserError("arguments were given both in --args-file and on the command line.", remedy="Give one.")
        return _parsed(_read_file(file), f"file {file}")
    if not words:
        return {}
    if words == ["-"]:
        return _parsed(sys.stdin.read(MAX_BYTES + 1), "stdin")
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return _parsed(words[0], "the argument")
    return _pairs(words)


def check_known(arguments: JsonObject, tool: ToolDefinition) -> None:
    """Refuse what is no parameter's name, which most tools drop in silence; a model is not held to that, a person is.

    Raises:
        InvalidArgumentsError: says what was meant, or what there is.
    """
    schema = tool.input_schema
    known = schema.get("properties")
    takes_more = schema.get("additionalProperties", False) is not False or schema.keys() & _MORE_PROPERTIES
    if not isinstance(known, dict) or takes_more:
        return
    strange = {name: meant(name, known, arguments) for name in arguments if name not in known}
    if strange:
        told = [
            f"{name!r} is no argument of it{f' (did you mean {near}?)' if near else ''}"
            for name, near in strange.items()
        ]
        takes = f"it takes {', '.join(known) or 'none'}"
        raise InvalidArgumentsError(f"tool {tool.name!r} was not run: {'; '.join((*told, takes))}")


def _read_file(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            return opened.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"reading arguments from {file} failed: {error}.", remedy="Give a readable JSON file."
        ) from error


def _pairs(words: Sequence[str]) -> JsonObject:
    found: JsonObject = {}
    for word in words:
        key, separator, value = word.partition("=")
        is_json = key.endswith(":")
        key = key[:-1] if is_json else key
        if not separator or not key:
            raise UserError(
                f"{word!r} is neither a JSON object nor key=value.",
                remedy='Say \'{"key": "value"}\', key=value, key:=json, or - for stdin.',
            )
        if key in found:
            raise UserError(f"argument {key!r} was given twice.", remedy="Give it once.")
        found[key] = _json(value, f"argument {key!r}") if is_json else value
    return found


def _parsed(text: str, where: str) -> JsonObject:
    if len(text) > MAX_BYTES:
        raise UserError(f"the arguments in {where} are larger than {MAX_BYTES} bytes.", remedy="Send less.")
    found = _json(text, where)
    if not isinstance(found, dict):
        raise UserError(f"{where} holds {type(found).__name__}, not a JSON object.", remedy='Say \'{"key": "value"}\'.')
    return found


def _json(text: str, where: str) -> Any:
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        _check_depth(found, 0)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} is no JSON: {error}.", remedy="Check quotes and brackets.") from error
    return found


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _check_depth(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH}")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(item, depth + 1)
