"""Request bodies as strict JSON (S-08): no duplicate keys, no NaN, bounded depth, keys and strings; 400, never 500."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from naru.errors import UserError
from naru.records import describe

MAX_DEPTH = 64
MAX_KEYS = 10_000
MAX_STRING = 1024 * 1024
Model = TypeVar("Model", bound=BaseModel)

_STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""A text that never ends goes to the body's end, or each quote in it would be tried anew."""


class BodyError(UserError):
    """The body is not the JSON that is wanted."""

    code = "bad_body"


class UnusableBodyError(UserError):
    """The body is JSON, but it names fields that do not exist or do not go together."""

    code = "unusable_body"
    http_status = 422


async def read_json(request: Request) -> Any:
    """Return the decoded body. Raises BodyError."""
    return decode_json(await request.body())


def decode_json(body: bytes) -> Any:
    """Decode strict JSON within bounds. Raises BodyError, which names the bound."""
    _check_depth(body)
    keys = 0

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal keys
        keys += len(pairs)
        if keys > MAX_KEYS:
            raise BodyError(f"The body has more than {MAX_KEYS} keys.")
        found = dict(pairs)
        if len(found) < len(pairs):
            twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
            raise BodyError(f"The key {twice[:100]!r} stands twice in one object.")
        for value in found.values():
            if isinstance(value, str) and len(value) > MAX_STRING:
                raise BodyError(f"A string has more than {MAX_STRING} characters.")
        return found

    def refuse(constant: str) -> Any:
        raise BodyError(f"{constant} is not JSON.")

    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=collect, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise BodyError(f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from error
    except UnicodeDecodeError as error:
        raise BodyError("The body is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise BodyError("The body holds a number or a nesting beyond all use.") from error


def parse_body(model: type[Model], data: Any) -> Model:
    """Return the model of a decoded body.

    Raises:
        UnusableBodyError: a field does not exist (422).
        BodyError: a field is missing or has a wrong value (400).
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        kind = UnusableBodyError if any(fault["type"] == "extra_forbidden" for fault in faults) else BodyError
        raise kind("; ".join(describe(error)) + ".") from error


def _check_depth(body: bytes) -> None:
    depth = 0
    for match in _STRUCTURE.finditer(body):
        if match[0] in (b"{", b"["):
            depth += 1
            if depth > MAX_DEPTH:
                raise BodyError(f"The body is nested deeper than {MAX_DEPTH} levels.")
        elif match[0] in (b"}", b"]"):
            depth -= 1
