"""Many Toolsets as one (R8): names qualified by server, one bad tool or server set aside, the rest go on (N6)."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from naru.errors import ConflictError, NaruError, UnknownToolError, foreign
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.names import NameMap, ToolId
from naru.tools.provider_schemas.forms import own_name_note
from naru.tools.toolset import CallContext, Toolset, set_aside_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SetAside:
    """A tool, or with an empty `tool` a whole server, that is not offered, and why."""

    server: str
    tool: str
    reason: str


class CombinedToolset:
    """The tools of several servers.

    A call may name them `server__tool`, `server.tool`, `server/tool` or, if it is the only one, `tool`.
    """

    def __init__(self, toolsets: Mapping[str, Toolset]) -> None:
        """Take the toolsets by server name; read at every use, so that the owner may add and remove meanwhile."""
        self._validators: dict[str, ArgumentsValidator] = {}
        self.toolsets = toolsets
        self.set_aside: list[SetAside] = []
        """What the last listing left out."""
        self._names = NameMap()
        self._offered: dict[str, ToolDefinition] = {}
        self._own: dict[str, ToolDefinition] = {}
        """What each server said of its tool, by exposed name; while that is the same object, so is the offer."""

    async def open(self) -> None:
        """Open all, side by side; one that fails is set aside at the next listing."""
        await asyncio.gather(*(_quietly(server, toolset) for server, toolset in self.toolsets.items()))

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return all tools under their exposed names, by server, in each server's own order."""
        servers = dict(sorted(self.toolsets.items()))
        for gone in {tool.server for tool in self._ids()} - servers.keys():
            self._names.forget(gone)
        listings = await asyncio.gather(*(toolset.tools() for toolset in servers.values()), return_exceptions=True)
        offered: dict[str, ToolDefinition] = {}
        own: dict[str, ToolDefinition] = {}
        aside: list[SetAside] = []
        for server, listing in zip(servers, listings, strict=True):
            # A cancellation that is listed is not ours: something that the server's own code waited for.
            if isinstance(listing, Exception | asyncio.CancelledError):
                told = str(listing) if isinstance(listing, NaruError) else foreign(listing)
                aside.append(SetAside(server, "", told))
                continue
            if isinstance(listing, BaseException):
                raise listing
            aside += [SetAside(server, tool, reason) for tool, reason in set_aside_of(servers[server]).items()]
            for definition in listing:
                try:
                    name = self._names.add(server, definition.name)
                except ConflictError as error:
                    aside.append(SetAside(server, definition.name, str(error)))
                    continue
                is_same = self._own.get(name) is definition
                offered[name] = self._offered[name] if is_same else _exposed(definition, name, server)
                own[name] = definition
        for problem in aside:
            if problem not in self.set_aside:
                logger.warning("set aside: server %s tool %s: %s", problem.server, problem.tool or "*", problem.reason)
        self._offered, self._own, self.set_aside = offered, own, aside
        return list(offered.values())

    def identity(self, name: str) -> ToolId | None:
        """Return the tool behind an exposed name."""
        return self._names.tool(name)

    def locate(self, name: str) -> ToolId | None:
        """Return the tool that a name stands for among those last listed, or None.

        Raises:
            UnknownToolError: the bare name is that of several servers' tools.
        """
        if name in self._offered:
            return self._names.tool(name)
        ids = self._ids()
        dotted = [tool for tool in ids if name in (f"{tool.server}.{tool.tool}", f"{tool.server}/{tool.tool}")]
        found = dotted or [tool for tool in ids if name == tool.tool]
        if len(found) > 1:
            names = ", ".join(sorted(filter(None, (self._names.name(tool) for tool in found))))
            raise UnknownToolError(f"several servers have a tool {name!r}. Say which: {names}.")
        return found[0] if found else None

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool of one of the servers once.

        Raises:
            UnknownToolError: no such tool is offered, or the bare name is ambiguous.
            InvalidArgumentsError: the arguments do not fit; it was not called.
            ToolError: see `Toolset.call`.
        """
        tool = self.locate(name)
        if tool is None:
            await self.tools()  # it may be new; lists may be read again, calls may not
            tool = self.locate(name)
        toolset = self.toolsets.get(tool.server) if tool is not None else None
        if tool is None or toolset is None:
            raise self.unknown(name)
        if not getattr(toolset, "validates_arguments", False):
            arguments = self._validator(self._names.name(tool) or name).validate(arguments, tool=tool.tool)
        return await toolset.call(tool.tool, arguments, context)

    def _validator(self, exposed: str) -> ArgumentsValidator:
        """Return the validator of a tool's schema, compiled once for as long as the schema is the same."""
        schema = self._offered[exposed].input_schema
        held = self._validators.get(exposed)
        if held is None or held.schema is not schema:
            if len(self._validators) > 2 * len(self._offered):
                self._validators = {name: each for name, each in self._validators.items() if name in self._offered}
            held = self._validators[exposed] = ArgumentsValidator(schema)
        return held

    async def close(self) -> None:
        """Close all, in reverse; one that fails does not keep the others open."""
        failures: list[Exception] = []
        for toolset in reversed(list(self.toolsets.values())):
            try:
                await toolset.close()
            except Exception as error:  # noqa: BLE001  # foreign code; told when all are closed
                failures.append(error)
        if failures:
            raise failures[0]

    def _ids(self) -> list[ToolId]:
        return [tool for tool in map(self._names.tool, self._offered) if tool is not None]

    def unknown(self, name: str) -> UnknownToolError:
        """Return the error for a name that no tool on offer has."""
        reason = next((one.reason for one in self.set_aside if one.tool and one.tool == name), "")
        said = f"{name!r} is set aside: {reason}." if reason else f"there is no tool {name!r}. {self._hint(name)}"
        return UnknownToolError(said)

    def _hint(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._offered, n=3, cutoff=0.6)
        if close:
            return f"Did you mean {' or '.join(close)}?"
        shown = sorted(self._offered)[:20]
        return (
            f"Tools: {', '.join(shown)}{', …' if len(self._offered) > len(shown) else ''}."
            if shown
            else "No tools are offered."
        )


def _exposed(definition: ToolDefinition, name: str, server: str) -> ToolDefinition:
    """Return a definition under its exposed name, told its own where that can no longer be seen in it."""
    description = definition.description
    if definition.name not in name:
        description = f"{description} {own_name_note(definition.name)}".strip()
    return replace(definition, name=name, server=server, description=description)


async def _quietly(server: str, toolset: Toolset) -> None:
    try:
        await toolset.open()
    except Exception as error:  # noqa: BLE001  # foreign code; it never costs the other servers
        logger.warning("opening the tools of %s failed: %s", server, error)
