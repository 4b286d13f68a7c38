"""A request's tools in a provider's form: what cannot be expressed is set aside, the rest go on (N6)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from naru.errors import ConflictError, UserError
from naru.messages import JsonObject, ToolDefinition
from naru.tools.names import sendable_name
from naru.tools.provider_schemas.convert import convert
from naru.tools.provider_schemas.dialect import DIALECTS, OPENAI, OPENAI_STRICT, SchemaDialect
from naru.tools.provider_schemas.normalise import normalised
from naru.tools.provider_schemas.strict import strict_form

logger = logging.getLogger(__name__)
_Shape = Callable[[str, str, JsonObject], JsonObject]


@dataclass(frozen=True, slots=True)
class ProviderForm:
    """Tools as one provider takes them."""

    tools: list[JsonObject] = field(default_factory=list)
    """One declaration a tool."""
    names: dict[str, str] = field(default_factory=dict)
    """Sent name → the definition's own."""
    set_aside: dict[str, str] = field(default_factory=dict)
    """A definition's name → why it was not sent."""


def provider_form(definitions: Sequence[ToolDefinition], provider: str, shape: str = "") -> ProviderForm:
    """Return tools in a provider's form. No definition makes it fail; one that cannot be sent is set aside.

    Args:
        definitions: The tools; their names are mapped to legal ones where needed.
        provider: `openai`, `openai-strict`, `anthropic`, `gemini`, `ollama` or `llama.cpp`.
        shape: The provider as whose a declaration is written, where an engine's schemas go over another's API.

    Raises:
        UserError: there is no such provider form.
    """
    row = dialect_of(provider)
    shaped = _SHAPES[shape or provider]
    form = ProviderForm()
    taken: dict[str, str] = {}
    for definition in definitions:
        reason = ""
        try:
            name = sendable_name(definition.name)
            holder = taken.setdefault(name.casefold(), definition.name)
            if holder != definition.name or name in form.names:
                raise ConflictError(f"its name cannot be told from that of {holder!r}, which came first")
            reason, declaration = _declaration(definition, name, row, shaped)
            if row.most_tools is not None and len(form.tools) >= row.most_tools:
                reason = f"{provider} takes at most {row.most_tools} tools"
        except ConflictError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001  # a foreign schema never costs the other tools
            reason = f"its schema cannot be read: {type(error).__name__}: {error}"
        if reason:
            form.set_aside[definition.name] = reason
            logger.warning("tool %s is not offered to %s: %s", definition.name, provider, reason)
            continue
        form.names[name] = definition.name
        form.tools.append(declaration)
    return form


def provider_schema(schema: JsonObject, provider: str) -> JsonObject:
    """Return one arguments schema in a provider's form.

    Raises:
        UserError: there is no such provider form.
    """
    return _schema(schema, dialect_of(provider))[0]


def _schema(schema: JsonObject, row: SchemaDialect) -> tuple[JsonObject, bool]:
    """Return a schema in a row's form, and whether it is OpenAI's strict one."""
    plain = normalised(schema)
    if row is not OPENAI_STRICT:
        return convert(plain, row), False
    strict = strict_form(plain)
    return (convert(plain, OPENAI), False) if strict is None else (strict, True)


def dialect_of(provider: str) -> SchemaDialect:
    """Return a provider's row.

    Raises:
        UserError: there is none.
    """
    if provider not in DIALECTS:
        raise UserError(f"there is no provider form {provider!r}.", remedy=f"Forms: {', '.join(DIALECTS)}, mcp, text.")
    return DIALECTS[provider]


def _declaration(definition: ToolDefinition, name: str, row: SchemaDialect, shaped: _Shape) -> tuple[str, JsonObject]:
    """Return why a tool cannot be sent, or an empty reason and its declaration."""
    schema, is_strict = _schema(definition.input_schema, row)
    size = len(json.dumps(schema, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))
    if size > row.largest_schema:
        return f"its schema has {size} bytes, the limit is {row.largest_schema}", {}
    if row.property_names is not None:
        for key in _property_names(schema):
            if not row.property_names.fullmatch(key):
                return f"{row.name} takes no parameter called {key!r}", {}
    declaration = shaped(name, _description(definition, name, row.longest_description), schema)
    if shaped is not _openai:
        return "", declaration
    if row is OPENAI_STRICT:
        declaration["function"]["strict"] = is_strict
    elif definition.strict and row is OPENAI:
        declaration["function"]["strict"] = True  # What makes a schema strict passes through this form as it is.
    return "", declaration


def _openai(name: str, description: str, schema: JsonObject) -> JsonObject:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _anthropic(name: str, description: str, schema: JsonObject) -> JsonObject:
    return {"name": name, "description": description, "input_schema": schema}


def _gemini(name: str, description: str, schema: JsonObject) -> JsonObject:
    declaration: JsonObject = {"name": name, "description": description or name}
    return {**declaration, "parameters": schema} if schema.get("properties") else declaration


_SHAPES: dict[str, _Shape] = {
    "openai": _openai,
    "openai-strict": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _openai,
    "llama.cpp": _openai,
}


def _property_names(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _property_names(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "properties" and isinstance(value, dict):
                yield from value
                yield from _property_names(list(value.values()))
            else:
                yield from _property_names(value)


def _description(definition: ToolDefinition, name: str, limit: int) -> str:
    """Return the description with a tool's own name, where it is sent under another; people ask for it by its own."""
    if name == definition.name:
        return _cut(definition.description, limit)
    note = own_name_note(definition.name)
    return f"{_cut(definition.description, limit - len(note) - 1)} {note}".strip()


def own_name_note(name: str) -> str:
    """Say a tool's own name."""
    return f"(its own name: {name})"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
