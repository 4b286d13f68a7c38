"""Toolsets round another: prefixed, filtered, renamed, described, limited, approved. Compose them freely.

A wrapper never repeats a call and never hides a failure.
"""

from __future__ import annotations

import asyncio
import fnmatch
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from naru.deadlines import bound
from naru.errors import ConflictError, PolicyError, ToolTimeoutError, UnknownToolError
from naru.messages import JsonObject, Part, TextPart, ToolDefinition, ToolResult
from naru.tools.supervision.patience import patient
from naru.tools.toolset import CallContext, Toolset, definition_of, set_aside_of


class WrapperToolset:
    """Passes everything on; what a wrapper changes, it overrides."""

    def __init__(self, inner: Toolset) -> None:
        self.inner = inner

    async def open(self) -> None:
        """Open the inner toolset."""
        await self.inner.open()

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the inner tools."""
        return await self.inner.tools()

    async def definition(self, name: str) -> ToolDefinition | None:
        """Return one tool as it is offered here: the inner one's, unless the wrapper has a list of its own."""
        if type(self).tools is WrapperToolset.tools:
            return await definition_of(self.inner, name)
        return next((tool for tool in await self.tools() if tool.name == name), None)

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call the inner tool once."""
        return await self.inner.call(name, arguments, context)

    @property
    def set_aside(self) -> Mapping[str, str]:
        """The inner tools that cannot be offered, by their own names, and why."""
        return set_aside_of(self.inner)

    async def close(self) -> None:
        """Close the inner toolset."""
        await self.inner.close()


class RenamedToolset(WrapperToolset):
    """Gives some tools other names; the old ones can no longer be called."""

    def __init__(self, inner: Toolset, names: Mapping[str, str]) -> None:
        """Take the new name of each tool by its old one.

        Raises:
            ConflictError: two tools would have one name.
        """
        super().__init__(inner)
        self._new = dict(names)
        self._old = {new: old for old, new in names.items()}
        if len(self._old) < len(self._new):
            twice = next(new for new in names.values() if list(names.values()).count(new) > 1)
            raise ConflictError(f"two tools would be renamed to {twice!r}.", remedy="Give each a name of its own.")

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the tools under their new names; one whose own name was given away is left out."""
        return [
            replace(tool, name=self._new.get(tool.name, tool.name))
            for tool in await self.inner.tools()
            if tool.name in self._new or tool.name not in self._old
        ]

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool by its new name."""
        if name in self._new and name not in self._old:
            raise UnknownToolError(f"there is no tool {name!r}; it is called {self._new[name]!r} here.")
        return await self.inner.call(self._old.get(name, name), arguments, context)


class PrefixedToolset(WrapperToolset):
    """Puts a prefix before every name."""

    def __init__(self, inner: Toolset, prefix: str) -> None:
        super().__init__(inner)
        self._prefix = prefix

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the tools with the prefix."""
        return [replace(tool, name=f"{self._prefix}{tool.name}") for tool in await self.inner.tools()]

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool by its name with the prefix."""
        if not name.startswith(self._prefix):
            raise UnknownToolError(f"there is no tool {name!r}: names here begin with {self._prefix!r}.")
        return await self.inner.call(name.removeprefix(self._prefix), arguments, context)


class FilteredToolset(WrapperToolset):
    """Offers only some tools; what is not offered cannot be called either."""

    def __init__(self, inner: Toolset, keep: Callable[[ToolDefinition], bool]) -> None:
        super().__init__(inner)
        self._keep = keep

    @classmethod
    def by_name(cls, inner: Toolset, *, allowed: Iterable[str] = (), denied: Iterable[str] = ()) -> FilteredToolset:
        """Filter by patterns such as `get_*`: none allowed means all; denied beats allowed."""
        allow, deny = tuple(allowed), tuple(denied)

        def keep(tool: ToolDefinition) -> bool:
            fits = not allow or any(fnmatch.fnmatchcase(tool.name, pattern) for pattern in allow)
            return fits and not any(fnmatch.fnmatchcase(tool.name, pattern) for pattern in deny)

        return cls(inner, keep)

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the tools that are kept."""
        return [tool for tool in await self.inner.tools() if self._keep(tool)]

    async def definition(self, name: str) -> ToolDefinition | None:
        """Return a tool that is kept."""
        tool = await definition_of(self.inner, name)
        return tool if tool is not None and self._keep(tool) else None

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool that is kept."""
        if await self.definition(name) is None:
            raise UnknownToolError(f"there is no tool {name!r} here.")
        return await self.inner.call(name, arguments, context)


class DescribedToolset(WrapperToolset):
    """Puts other descriptions in the place of some tools' own."""

    def __init__(self, inner: Toolset, descriptions: Mapping[str, str]) -> None:
        super().__init__(inner)
        self._descriptions = dict(descriptions)

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the tools with the given descriptions."""
        return [
            replace(tool, description=self._descriptions.get(tool.name, tool.description))
            for tool in await self.inner.tools()
        ]


class LimitedToolset(WrapperToolset):
    """Bounds each call: its time, how many run at once, how long a text it gives.

    Structured content that a tool's `outputSchema` promises stays whole beside a text that is cut.
    """

    def __init__(
        self,
        inner: Toolset,
        *,
        timeout_seconds: float | None = None,
        max_concurrent: int | None = None,
        max_characters: int | None = None,
    ) -> None:
        super().__init__(inner)
        self._timeout_seconds = timeout_seconds
        self._slots = asyncio.Semaphore(max_concurrent) if max_concurrent is not None else None
        self._max_characters = max_characters

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool within the limits; waiting for a slot counts as time of the call.

        Raises:
            ToolTimeoutError: it did not finish in time.
        """
        limits = [each for each in (self._timeout_seconds, context.timeout_seconds) if each is not None]
        result = await self._in_time(name, arguments, replace(context, timeout_seconds=min(limits, default=None)))
        if self._max_characters is None:
            return result
        cut = _cut(result, self._max_characters)
        if cut is not result and result.structured is not None and await self._promises(name):
            return replace(cut, structured=result.structured)
        return cut

    async def _promises(self, name: str) -> bool:
        """Tell whether a tool declares what its structured content is like: clients refuse a result without it."""
        tool = await definition_of(self.inner, name)
        return tool is not None and tool.output_schema is not None

    async def _in_time(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        seconds = context.timeout_seconds
        if seconds is None:
            return await self._in_slot(name, arguments, context)
        try:
            with bound(seconds) as deadline, patient(deadline):
                return await self._in_slot(name, arguments, context)
        except TimeoutError as error:
            if not deadline.has_passed:
                raise
            raise ToolTimeoutError(f"tool {name!r} did not finish within {seconds:g} s; it may still run.") from error

    async def _in_slot(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        if self._slots is None:
            return await self.inner.call(name, arguments, context)
        async with self._slots:
            return await self.inner.call(name, arguments, context)


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's, or a policy's, answer about one call with just these arguments."""

    is_allowed: bool
    reason: str = ""


Approver = Callable[[ToolDefinition, JsonObject, CallContext], Awaitable[Approval]]
"""Asked before a call; gets the tool, the arguments that will be sent, and who asks."""


class ApprovedToolset(WrapperToolset):
    """Asks before calls that need it; without an answer in time the call is not made."""

    def __init__(
        self,
        inner: Toolset,
        approver: Approver,
        *,
        needs_approval: Callable[[ToolDefinition], bool] = lambda tool: (
            tool.annotations.get("readOnlyHint") is not True
        ),
        wait_seconds: float = 300.0,
    ) -> None:
        super().__init__(inner)
        self._approver = approver
        self._needs_approval = needs_approval
        self._wait_seconds = wait_seconds

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool once it is allowed.

        Raises:
            UnknownToolError: there is no such tool.
            PolicyError: it was denied, or nobody answered.
        """
        tool = await definition_of(self.inner, name)
        if tool is None:
            raise UnknownToolError(f"there is no tool {name!r} here.")
        if self._needs_approval(tool):
            try:
                with bound(self._wait_seconds) as asked:
                    approval = await self._approver(tool, arguments, context)
            except TimeoutError:
                if not asked.has_passed:
                    raise
                approval = Approval(is_allowed=False, reason=f"nobody answered within {self._wait_seconds:g} s")
            if not approval.is_allowed:
                raise PolicyError(f"the call of {name!r} was not allowed: {approval.reason or 'denied'}.")
        return await self.inner.call(name, arguments, context)


def _cut(result: ToolResult, limit: int) -> ToolResult:
    """Cut the texts of a result to a budget that counts the notice; structured content, which may say it all, goes."""
    texts = [part.text for part in result.content if isinstance(part, TextPart)]
    total = sum(map(len, texts))
    if total <= limit:
        return result
    notice = f"\n[cut: {total} characters, the limit is {limit}]"[:limit]
    room = limit - len(notice)
    parts: list[Part] = []
    for part in result.content:
        if not isinstance(part, TextPart):
            parts.append(part)
        elif room > 0:
            end = _boundary(part.text, room)
            parts.append(TextPart(part.text[:end]))
            room -= len(part.text[:end]) if end == len(part.text) else room
    return replace(result, content=(*parts, TextPart(notice)), structured=None)


def _boundary(text: str, limit: int) -> int:
    """Return where to cut: not between a letter and its marks."""
    end = min(limit, len(text))
    while 0 < end < len(text) and (unicodedata.combining(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return end
