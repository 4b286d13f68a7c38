"""One Python function as a tool: arguments read, the function run, whatever its kind."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
from collections.abc import Callable, Generator, Hashable, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from naru.encoding import encode
from naru.errors import InvalidArgumentsError, ToolError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.tools.arguments.fit import fit
from naru.tools.arguments.misspelt import meant
from naru.tools.arguments.validate import ArgumentsValidator, told_misspelt
from naru.tools.functions.annotations import enclosing_names, is_resolvable, public_name, unwrap
from naru.tools.functions.inject import ToolContext
from naru.tools.functions.parameters import EMPTY
from naru.tools.functions.returned import OutputCheck, output_schema
from naru.tools.functions.signature import NotYetDefinedError, ToolSignature, openai_function, read_signature
from naru.tools.functions.threads import WORKERS
from naru.tools.functions.wrapped import is_dispatching
from naru.tools.results import to_tool_result

MAX_NAME = 128
"""Characters of a tool's name, as MCP has it."""
MAX_YIELDED = 100_000
"""Items that a generator may yield; more is an error, as it is taken for one that never ends."""


class FunctionTool:
    """A function with its schema; the schema is read at first use, so that later definitions of its module count."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str = "",
        description: str | None = None,
        schema: JsonObject | None = None,
        annotations: JsonObject | None = None,
    ) -> None:
        self.function = function
        self._name = _checked(name or public_name(function))
        self._description = description
        self._schema = schema
        self._checks = None if schema is None else ArgumentsValidator(schema)
        self._annotations = annotations or {}
        self._local_names = enclosing_names(function)
        inner = unwrap(function)
        self.is_async = inspect.iscoroutinefunction(inner)
        self._is_async_generator = inspect.isasyncgenfunction(inner)

    @property
    def name(self) -> str:
        """The tool's name."""
        return self._name

    @property
    def module(self) -> str:
        """Where the function was defined."""
        return str(getattr(unwrap(self.function), "__module__", ""))

    @functools.cached_property
    def signature(self) -> ToolSignature:
        """What the function says about itself."""
        return read_signature(self.function, self._local_names)

    @property
    def problem(self) -> str:
        """Why it cannot be offered; empty when it can."""
        try:
            _ = self.definition
        except TypeError as error:
            return str(error)
        return ""

    def early_problem(self) -> str:
        """Return the problem as far as it can be told before the function's module is read to its end."""
        if not is_resolvable(self.function, self._local_names):
            return ""
        try:
            _ = self.signature
        except NotYetDefinedError:
            return ""
        except TypeError as error:
            return str(error)
        return ""

    @functools.cached_property
    def definition(self) -> ToolDefinition:
        """The tool as it is offered; what was given explicitly beats the signature."""
        return ToolDefinition(
            name=self._name,
            description=self.signature.description if self._description is None else self._description,
            input_schema=self.signature.schema if self._schema is None else self._schema,
            output_schema=output_schema(self.signature.returns),
            annotations=self._annotations,
        )

    @property
    def openai_schema(self) -> JsonObject:
        """The tool in OpenAI's form (S2)."""
        found = self.definition
        return openai_function(found.name, found.description, found.input_schema)

    def read_arguments(self, arguments: JsonObject) -> dict[str, Any]:
        """Validate the arguments into what the function takes; coerced only where the schema forbids them.

        Raises:
            InvalidArgumentsError: they do not fit; the message names each field.
            TypeError: the function's signature cannot be read.
        """
        if self._checks is not None:
            arguments = self._checks.validate(arguments, tool=self.name)
        try:
            values = self._read(arguments)
        except ValidationError:
            values = self._read_mended(arguments)
        if len(values) < len(arguments) and (misspelt := self._misspelt(arguments)):
            raise InvalidArgumentsError(
                f"tool {self.name!r} was not run, its arguments do not fit: {'; '.join(told_misspelt(misspelt))}"
            )
        return values

    def _read_mended(self, arguments: JsonObject) -> dict[str, Any]:
        """Read arguments as JSON has them, or else what is beyond doubt mended."""
        try:
            return self._read_json(arguments)
        except ValidationError:
            misspelt: dict[str, str] = {}
            fitted = fit(self.signature.schema, arguments, misspelt)
        try:
            return self._read_json(fitted)
        except ValidationError as error:
            problems = [*_problems(error), *told_misspelt({**self._misspelt(arguments), **misspelt})]
            shown = "; ".join(problems[:5]) + (f"; and {len(problems) - 5} more" if len(problems) > 5 else "")
            raise InvalidArgumentsError(f"tool {self.name!r} was not run, its arguments do not fit: {shown}") from error

    def _misspelt(self, arguments: JsonObject) -> dict[str, str]:
        """Return the arguments that no parameter has, with the parameter that they are meant for."""
        if "additionalProperties" in self.signature.schema:  # `**rest` takes them
            return {}
        known = self.signature.schema["properties"]
        strange = [name for name in arguments if name not in known and name not in self.signature.hidden]
        return {name: right for name in strange if (right := meant(name, known, arguments))}

    @functools.cached_property
    def _read(self) -> Callable[[JsonObject], dict[str, Any]]:
        """The validator, which reads bytes as base64 text only from JSON itself."""
        if self._takes_hidden or b"contentEncoding" in encode(self.signature.schema):
            return self._read_json
        return self.signature.validator.validate_python

    @functools.cached_property
    def _takes_hidden(self) -> bool:
        """Whether `**rest` would take what is sent under a hidden name."""
        return bool(self.signature.hidden) and "additionalProperties" in self.signature.schema

    def _read_json(self, arguments: JsonObject) -> dict[str, Any]:
        validator = self.signature.validator
        values: dict[str, Any]
        try:
            text = to_json(arguments, bytes_mode="base64")  # a caller in this process may send bytes themselves
        except (PydanticSerializationError, ValueError):
            values = validator.validate_python(arguments)  # pydantic's own words
        else:
            values = validator.validate_json(text)
        if self._takes_hidden:
            return {name: value for name, value in values.items() if name not in self.signature.hidden}
        return values

    def told(self, value: Any) -> ToolResult:
        """Return the result that stands for what the function returned, held to its return annotation.

        Raises:
            UnserialisableError: it holds something that JSON cannot.
        """
        result = to_tool_result(value)
        return result if self._output_check is None else self._output_check.checked(result)

    @functools.cached_property
    def _output_check(self) -> OutputCheck | None:
        schema = self.definition.output_schema
        return None if schema is None else OutputCheck(self.name, schema)

    async def run(self, values: dict[str, Any], context: ToolContext | None) -> Any:
        """Run the function with what `read_arguments` gave and what the host supplies; return what it returned.

        A generator, of either kind and however it was come by, is run to its end, and what it gave is the result.
        """
        positional, named = ((), values) if self._is_plain else self._bound(values)
        if self.is_async or self._is_async_generator:
            result = self.function(*positional, **named)
        else:
            result = await WORKERS.run(functools.partial(_call_and_drain, self.function, positional, named, context))
        if inspect.isawaitable(result):
            result = await result
        if inspect.isasyncgen(result):
            return [item async for item in _bounded(result)]
        if inspect.isgenerator(result):
            return await WORKERS.run(functools.partial(_drained, result, context))
        return result

    @functools.cached_property
    def _is_plain(self) -> bool:
        """Whether everything can be passed by name, with no default of ours."""
        return not self._wants_positional and not any(each.supplies_default for each in self.signature.parameters)

    def _bound(self, values: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Put values where the signature wants them: positional-only first, the rest by name."""
        named = dict(values)
        for parameter in self.signature.parameters:
            if parameter.supplies_default and parameter.name not in named:
                if parameter.default_factory is not None:
                    named[parameter.name] = parameter.default_factory()
                elif parameter.default is not EMPTY:
                    # As pydantic does: what one call does to a list in a `Field` is no later call's.
                    is_fixed = isinstance(parameter.default, Hashable)
                    named[parameter.name] = parameter.default if is_fixed else copy.deepcopy(parameter.default)
        if not self._wants_positional:
            return [], named
        positional: list[Any] = []
        variadic = next((each for each in self.signature.places if each.kind is each.VAR_POSITIONAL), None)
        rest = named.pop(variadic.name, []) if variadic else []
        for place in self.signature.places:
            takes_place = place.kind is place.POSITIONAL_ONLY or (
                place.kind is place.POSITIONAL_OR_KEYWORD and (rest or (self._dispatches and not positional))
            )
            if takes_place and (place.name in named or place.default is not EMPTY):
                positional.append(named.pop(place.name, place.default))
        return [*positional, *rest], named

    @functools.cached_property
    def _wants_positional(self) -> bool:
        kinds = {place.kind for place in self.signature.places}
        return self._dispatches or bool(kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL})

    @functools.cached_property
    def _dispatches(self) -> bool:
        return is_dispatching(self.function)


def _checked(name: str) -> str:
    """Refuse a name that nobody could call; what providers refuse is mapped by `names`, not here."""
    if name == "<lambda>":
        raise TypeError('a lambda has no name of its own; say register_tool("its_name")(lambda …: …)')
    if not name or len(name) > MAX_NAME or not all(char.isalnum() or char in "_-./" for char in name):
        raise ValueError(f"tool name {name!r} is not allowed: use 1 to {MAX_NAME} letters, digits, '_', '-', '.', '/'")
    return name


def _call_and_drain(
    function: Callable[..., Any], positional: Sequence[Any], named: dict[str, Any], context: ToolContext | None
) -> Any:
    result = function(*positional, **named)
    return _drained(result, context) if inspect.isgenerator(result) else result


def _drained(generator: Generator[Any, Any, Any], context: ToolContext | None) -> list[Any]:
    items: list[Any] = []
    for item in generator:
        if context is not None and context.is_cancelled:
            generator.close()
            break
        if len(items) >= MAX_YIELDED:
            generator.close()
            raise _endless()
        items.append(item)
    return items


def _endless() -> ToolError:
    return ToolError(
        f"The tool gave more than {MAX_YIELDED} items one by one, and was stopped.",
        remedy="Ask it for less; a function that never ends has to end by itself.",
    )


async def _bounded(stream: Any) -> Any:
    count = 0
    async for item in stream:
        if count >= MAX_YIELDED:
            await stream.aclose()
            raise _endless()
        yield item
        count += 1
        await asyncio.sleep(0)  # a generator that never waits must not hold the loop


def _problems(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
