"""VS Code's `inputs`: what `${input:id}` is called, and its value unless somebody gives another (N14).

VS Code asks a person and keeps the answer to itself. Here the variable NARU_INPUT_ID gives the value, else the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_INPUT = re.compile(r"\$\{input:([^}]+)\}")


@dataclass(frozen=True, slots=True)
class Input:
    """Something that VS Code would ask for."""

    identifier: str
    description: str = ""
    default: str | None = None
    """None when there is none, or when it could not stand inside a placeholder."""
    choices: tuple[str, ...] = ()
    is_secret: bool = True
    """VS Code hides what is typed; so is what no file describes."""

    @property
    def variable(self) -> str:
        """Return the environment variable that gives the value."""
        return variable_of(self.identifier)

    @property
    def question(self) -> str:
        """Return what a person is asked for."""
        asked = self.description or self.identifier
        return f"{asked} ({', '.join(self.choices)})" if self.choices else asked


def variable_of(identifier: str) -> str:
    """Return the environment variable of an input: `api-key` is NARU_INPUT_API_KEY."""
    return "NARU_INPUT_" + re.sub(r"\W", "_", identifier).upper()


def read_inputs(root: Any) -> dict[str, Input]:
    """Return the inputs of a decoded `mcp.json` or `settings.json`, by id; what is none is passed over."""
    if not isinstance(root, dict):
        return {}
    inner = root.get("mcp")
    listed = root.get("inputs") or (inner.get("inputs") if isinstance(inner, dict) else None)
    found = [_read(entry) for entry in (listed if isinstance(listed, list) else ())]
    return {one.identifier: one for one in found if one is not None}


def _read(entry: Any) -> Input | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str) or not entry["id"]:
        return None
    description, default, options = entry.get("description"), entry.get("default"), entry.get("options")
    choices = tuple(
        str(one.get("value", one.get("label", "")) if isinstance(one, dict) else one)
        for one in (options if isinstance(options, list) else ())
    )
    usable = isinstance(default, str) and not re.search(r"[{}]", default)
    return Input(
        entry["id"],
        description if isinstance(description, str) else "",
        default if usable else None,
        choices,
        is_secret=entry.get("password") is True,
    )


def with_defaults(value: Any, inputs: Mapping[str, Input]) -> Any:
    """Return an entry whose `${input:id}` carry their defaults, as `${NARU_INPUT_ID:-default}`.

    One that VS Code does not hide becomes a plain variable: what stays `${input:id}` is a secret (`secret_values`).
    """
    if isinstance(value, str):
        return _INPUT.sub(lambda match: _placeholder(match, inputs), value)
    if isinstance(value, list):
        return [with_defaults(item, inputs) for item in value]
    if isinstance(value, dict):
        return {key: with_defaults(item, inputs) for key, item in value.items()}
    return value


def _placeholder(match: re.Match[str], inputs: Mapping[str, Input]) -> str:
    known = inputs.get(match[1])
    if known is None or (known.default is None and known.is_secret):
        return match[0]
    if known.default is None:
        return f"${{{known.variable}}}"
    return f"${{{known.variable}:-{known.default.replace('$', '$$')}}}"


def wanted(value: Any, inputs: Mapping[str, Input]) -> Iterator[Input]:
    """Yield the inputs that an entry names and that have no default."""
    if isinstance(value, str):
        for identifier in _INPUT.findall(value):
            yield inputs.get(identifier) or Input(identifier)
        yield from (one for one in inputs.values() if one.default is None and f"${{{one.variable}}}" in value)
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from wanted(item, inputs)
