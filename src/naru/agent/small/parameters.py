"""What a schema shows of the values that a parameter takes: ids of a shape, numbers that name a thing (form alone)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from naru.agent.small.sources import Sources
from naru.messages import JsonObject, ToolDefinition
from naru.models.asking.grammar import without_null
from naru.tools.names import plain_name
from naru.tools.texts import digits, folded

_SAMPLE = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:[A-Za-z]+[-_#]){0,3}[A-Za-z]+[-_#]?\d+(?:[-_/.]?[A-Za-z0-9]+)*|[A-Z]+[-_#](?![A-Za-z\d]))",
    re.ASCII,
)
"""An id that is shown as an example, or the beginning of all: `F-99`, `KA-PL-12`, `APP-`."""
_PICTURE = re.compile(r"\b([A-Z])\1+(?:[-/:.]([A-Z])\2+)+\b")  # A form that is shown letter by letter: `YYYY-MM`.
ID = "id"  # What schemas and results of all kinds call an id: `event_id`, `eventId`, `id`.
_TELLING_CHOICE = 2
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_LETTERS_IN_PATTERN = re.compile(r"[A-Za-z]{1,8}(?=[-_]?(?:\\d|\[0-9\]|\[\\d\]))")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool."""

    name: str
    schema: JsonObject
    required: bool
    samples: tuple[str, ...] = ()  # Ids that its description, examples or pattern show.
    pattern: re.Pattern[str] | None = None
    shown: tuple[str, ...] = ()  # Those that its tool's own words show, where it alone is needed: a hint, no rule.

    @property
    def kind(self) -> str:
        """Its JSON type; empty when it may be several."""
        kind = self.schema.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def is_choice(self) -> bool:
        """Tell whether the schema lists what may be given: that is the model's to choose."""
        return bool(self.schema.get("enum")) or "const" in self.schema or self.kind == "boolean"

    @property
    def listed(self) -> list[str]:
        """The texts that its schema lists; two letters in a question say nothing of it."""
        return [one for one in self.schema.get("enum") or () if isinstance(one, str) and len(one) > _TELLING_CHOICE]

    @property
    def takes_id(self) -> bool:
        """Tell whether it takes ids of a shape that the schema shows."""
        return not self.is_choice and self.kind in ("", "string") and bool(self.samples)

    @property
    def is_plain_text(self) -> bool:
        """Tell whether it takes a text of which the schema shows no form."""
        told = self.is_choice or self.samples or self.pattern or self.form
        return self.kind == "string" and not (told or _PICTURE.search(str(self.schema.get("description", ""))))

    @property
    def is_named_id(self) -> bool:
        """Tell whether its name says that it takes an id."""
        return plain_name(self.name).split()[-1:] == [ID]

    @property
    def form(self) -> str:
        """The form of its texts that the schema names: `date`, `uuid`; empty for any."""
        return str(self.schema.get("format") or "") if self.kind == "string" else ""

    def fits(self, value: str) -> bool:
        """Tell whether an id has the letters that this parameter's ids begin with, or matches its pattern."""
        if self.pattern is not None:
            return self.pattern.search(value) is not None
        shown = self.samples or self.shown
        return any(_lead(one) == _lead(value) or _is_made_up(one, value) for one in shown)

    def takes(self, value: str) -> bool:
        """Tell whether an id or a number that somebody gave is one for this parameter, as far as form tells."""
        if self.takes_id or self.shown:
            return self.fits(value)
        return self.required and self.kind == "integer" and value.isdigit()


def _is_made_up(sample: str, value: str) -> bool:
    """Tell whether a sample stands for all ids of its form, which this value has: `ABCD-00000`, `XX-12`."""
    letters = _lead(sample)
    is_any = len(letters) > 1 and (letters in _ALPHABET or len(set(letters)) == 1)
    return is_any and form_of(sample) == form_of(value)


def form_of(value: str) -> str:
    """Return a value with its letters and digits each as one: `aaa-000`."""
    return "".join("0" if one.isdigit() else "a" if one.isalpha() else one for one in value)


def _lead(value: str) -> str:
    """Return the letters before the first digit, as they are compared."""
    return re.split(r"\d", folded(value), maxsplit=1)[0].strip("-_#/. ")


def parameters(tool: ToolDefinition) -> list[Parameter]:
    """Return a tool's parameters, in order; references followed, `null` left out."""
    properties = tool.input_schema.get("properties")
    required = tool.input_schema.get("required") or ()
    found = []
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        plain = without_null(schema, tool.input_schema)
        # `ISBN-13` is a kind of `isbn`, `IMO9450077` an `imo`.
        samples = tuple(one for one in _samples(plain) if _lead(one) != folded(name) or len(digits(one)) > 2)
        found.append(Parameter(name, plain, name in required, samples, _compiled(plain.get("pattern"))))
    if len(alone := [one for one in found if one.required]) == 1 and alone[0].is_plain_text:
        found[found.index(alone[0])] = replace(alone[0], shown=tuple(_SAMPLE.findall(tool.description)))
    return found


def needed(tool: ToolDefinition) -> list[Parameter]:
    """Return the parameters without which a tool cannot be called."""
    return [one for one in parameters(tool) if one.required]


def _samples(schema: JsonObject) -> Iterator[str]:
    if schema.get("format"):
        return  # `RFC3339` is none of a `date-time`.
    for text in (schema.get("description", ""), *(schema.get("examples") or ())):
        yield from _SAMPLE.findall(str(text))
    yield from _LETTERS_IN_PATTERN.findall(str(schema.get("pattern", "")))[:1]


def _compiled(pattern: Any) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern) if isinstance(pattern, str) else None
    except re.error:
        return None


def shared_numbers(tools: Sequence[ToolDefinition]) -> frozenset[str]:
    """Return the whole-number parameters that name a thing: they go from tool to tool, and one needs nothing else."""
    every = [needed(tool) for tool in tools]
    whole = [one for some in every for one in some if one.kind == "integer" and "maximum" not in one.schema]
    alone = {some[0].name for some in every if len(some) == 1}
    return frozenset(name for name, count in Counter(one.name for one in whole).items() if count > 1 and name in alone)


def known_values(one: Parameter, sources: Sources, numbered: Set[str]) -> Sequence[Any]:
    """Return the values that a parameter for ids could take, those that no call took yet; none for anything else."""
    values: list[Any] = []
    if one.takes_id:
        values = [span for span in sources.spans() if one.fits(span)]
    elif one.required and one.kind == "integer" and one.name in numbered:
        values = [int(span) for span in sources.spans() if span.isascii() and span.isdigit() and len(span) < 20]
    return [value for value in values if str(value) not in sources.used] or values
