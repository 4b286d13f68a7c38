"""What each provider's schema dialect can say: rows that `convert` interprets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from naru.tools.provider_schemas.patterns import anchored_pattern, grammar_pattern


@dataclass(frozen=True, slots=True)
class SchemaDialect:
    """Facts about the schemas that a provider accepts. The defaults say "whatever JSON Schema can"."""

    name: str
    keywords: frozenset[str] | None = None
    """What may stand in a schema; None: anything."""
    upper_case_types: bool = False
    type_lists: Literal["keep", "any_of"] = "keep"
    """`any_of`: a branch for each type."""
    null: Literal["keep", "nullable", "tell"] = "keep"
    """`nullable`: OpenAPI's keyword; `tell`: in the description."""
    enum_of: Literal["anything", "strings"] = "anything"
    const_as_enum: bool = False
    fold_one_of: bool = False
    """`oneOf` becomes `anyOf`, `allOf` is merged, a combinator of one branch becomes that branch."""
    bounds: Literal["keep", "inclusive"] = "keep"
    """`inclusive`: no exclusive bounds; an integer's becomes the next number, another's is told."""
    formats: dict[str, frozenset[str]] | None = None
    """By type, the formats that may stand; None: any."""
    patterns: Callable[[str], str | None] | None = None
    """How a pattern is written, None of it: not at all. Without it patterns stand as they are."""
    largest_repeat: int | None = None
    """Larger item counts and lengths are left out."""
    untyped: Literal["keep", "any_type", "union"] = "keep"
    """What a schema without type becomes: a list of every type, or a union of them."""
    empty_items: dict[str, object] = field(default_factory=dict)
    """What an array without `items` gets."""
    omit_empty_parameters: bool = False
    """A tool without parameters has no `parameters` key."""
    property_names: re.Pattern[str] | None = None
    """What a property may be called; a tool with another is set aside."""
    most_tools: int | None = None
    """Tools of one request; those beyond are set aside."""
    longest_description: int = 4096
    """Characters of a tool's description (S-54)."""
    largest_schema: int = 64 * 1024
    """Bytes of one tool's schema (S-54); a larger one is set aside."""


_GEMINI_KEYWORDS = frozenset(
    {"type", "format", "title", "description", "nullable", "default", "items", "enum", "properties", "required"}
    | {"minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf"}
    | {"minProperties", "maxProperties"}
)
_OLLAMA_KEYWORDS = frozenset({"type", "description", "items", "enum", "properties", "required", "anyOf"})
_GRAMMAR_KEYWORDS = frozenset(
    {"type", "description", "items", "prefixItems", "enum", "const", "properties", "required", "additionalProperties"}
    | {"anyOf", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern", "format"}
    | {"exclusiveMinimum", "exclusiveMaximum"}
)
_STRICT_KEYWORDS = frozenset(
    {"type", "description", "title", "items", "enum", "const", "properties", "required", "additionalProperties"}
    | {"anyOf", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "pattern", "format"}
)
_STRICT_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_GRAMMAR_FORMATS = frozenset({"date", "time", "date-time", "uuid"})

OPENAI = SchemaDialect("openai", most_tools=128, longest_description=1024)
OPENAI_STRICT = SchemaDialect(
    "openai-strict",
    keywords=_STRICT_KEYWORDS,
    fold_one_of=True,
    formats={"string": _STRICT_FORMATS},
    patterns=anchored_pattern,
    most_tools=128,
    longest_description=1024,
)
ANTHROPIC = SchemaDialect("anthropic", property_names=re.compile(r"[a-zA-Z0-9_.-]{1,64}"))
GEMINI = SchemaDialect(
    "gemini",
    keywords=_GEMINI_KEYWORDS,
    upper_case_types=True,
    type_lists="any_of",
    null="nullable",
    enum_of="strings",
    const_as_enum=True,
    fold_one_of=True,
    bounds="inclusive",
    formats={
        "string": frozenset({"enum", "date-time"}),
        "integer": frozenset({"int32", "int64"}),
        "number": frozenset({"float", "double"}),
    },
    untyped="union",
    empty_items={"type": "STRING", "description": "any value"},
    omit_empty_parameters=True,
)
OLLAMA = SchemaDialect(
    "ollama",
    keywords=_OLLAMA_KEYWORDS,
    type_lists="any_of",
    null="tell",
    const_as_enum=True,
    fold_one_of=True,
    untyped="union",
)
LLAMA_CPP = SchemaDialect(
    "llama.cpp",
    keywords=_GRAMMAR_KEYWORDS,
    fold_one_of=True,
    formats={"string": _GRAMMAR_FORMATS},
    patterns=grammar_pattern,
    largest_repeat=64,
    untyped="any_type",
)

DIALECTS = {row.name: row for row in (OPENAI, OPENAI_STRICT, ANTHROPIC, GEMINI, OLLAMA, LLAMA_CPP)}
