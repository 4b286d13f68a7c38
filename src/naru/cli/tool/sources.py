"""Where `naru tool` finds tools: functions of modules, built-in servers, the hub's servers; only what a name needs."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from naru.cli.options import settings_from
from naru.cli.terminal.asking import ask_here
from naru.cli.terminal.output import print_warnings
from naru.cli.terminal.told_once import check_store, news_of, told_once, unreadable, unusable
from naru.cli.terminal.working import connected
from naru.errors import ConnectionFailedError
from naru.tools.combined import CombinedToolset
from naru.tools.functions.modules import module_toolset
from naru.tools.supervised import SupervisedToolset
from naru.tools.supervision.approvals import Approvals
from naru.tools.supervision.calls import Supervision
from naru.tools.toolset import Toolset

BUILTINS = {
    "hr": ("naru.builtins.hr.server", "hr_toolset"),
    "data": ("naru.builtins.data.toolset", "data_toolset"),
}
"""Server name → where its toolset is made; imported only when it is needed."""
OWN = ""
"""Server name of the functions of modules: they are called by their own names."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a command line says about where tools are."""

    modules: tuple[str, ...] = ()
    store: str = ""
    local: bool = False

    @property
    def again(self) -> str:
        """The modules as a further command line names them."""
        return "".join(f"-m {shlex.quote(each)} " for each in self.modules)

    @asynccontextmanager
    async def toolset(self, name: str = "") -> AsyncIterator[CombinedToolset]:
        """Open the tools that a name may mean, or all of them when it is empty.

        Raises:
            ConfigError: a module cannot be imported.
            ConnectionFailedError: the name says a server of the hub, and it cannot be reached.
        """
        toolsets: dict[str, Toolset] = {}
        if self.modules:
            toolsets[OWN] = module_toolset(self.modules)
        server = _server_of(name)
        if not self.modules or server in BUILTINS:
            chosen = [builtin for builtin in BUILTINS if server in ("", builtin)]
            toolsets |= {builtin: supervised(builtin, builtin_toolset(builtin)) for builtin in chosen}
        combined = CombinedToolset(toolsets)
        await combined.open()
        try:
            await combined.tools()
            if self.local or self.modules or (name and combined.locate(name) is not None):
                yield combined
            else:
                async with self._with_servers(toolsets, name) as everything:
                    yield everything
        finally:
            await combined.close()

    @asynccontextmanager
    async def _with_servers(self, local: Mapping[str, Toolset], name: str) -> AsyncIterator[CombinedToolset]:
        """Connect the hub's servers, or the one that a name says, beside the local tools."""
        settings = settings_from()
        if self.store:
            settings = settings.model_copy(update={"hub": settings.hub.model_copy(update={"store": self.store})})
        # The hub is heavy to import, and most tools are found without it.
        async with importlib.import_module("naru.hub").open_servers(settings) as manager:
            check_store(manager)
            ask_here(manager.supervision)
            registered = [record.name for record in await manager.list_servers()]
            server = next((each for each in sorted(registered, key=len, reverse=True) if _is_of(name, each)), "")
            if server:
                if not await manager.ensure_connected(server) and not await connected(manager):
                    raise _unreachable(manager, server)
                if not manager.connection(server).is_live:
                    raise _unreachable(manager, server)
            else:
                await connected(manager)
                problems = news_of(unreadable(manager) | unusable(manager), settings.hub.data_dir)
                print_warnings(f"{each}: {what}" for each, what in problems.items())
            chosen = [server] if server else registered
            combined = CombinedToolset({**{each: manager.toolsets[each] for each in chosen}, **local})
            await combined.tools()
            yield combined


def supervised(name: str, toolset: Toolset) -> Toolset:
    """Put a server that runs here under the rules of this installation, like one that is registered.

    Raises:
        StoreError: what was allowed for always cannot be read.
    """
    settings = settings_from()
    rules = settings.approvals
    if not (rules.ask or rules.deny):
        return toolset
    approvals = Approvals(rules, settings.hub.data_dir / "approvals.json")
    approvals.load()
    supervision = Supervision(gatekeeper=approvals)
    ask_here(supervision)
    return SupervisedToolset(toolset, name, supervision)


def builtin_toolset(name: str) -> Toolset:
    """Make the tool set of one of `BUILTINS`."""
    module, factory = BUILTINS[name]
    made: Toolset = getattr(importlib.import_module(module), factory)()
    return made


def _is_of(name: str, server: str) -> bool:
    return any(name.startswith(f"{server}{separator}") for separator in ("__", ".", "/"))


def _unreachable(manager: Any, server: str) -> ConnectionFailedError:
    summary, remedy = told_once(manager.explain(server))
    return ConnectionFailedError(f"server {server!r} cannot be used: {summary}", remedy=remedy)


def _server_of(name: str) -> str:
    """Return the server that a qualified name says, or an empty text."""
    for separator in ("__", ".", "/"):
        server, found, _ = name.partition(separator)
        if found and server in BUILTINS:
            return server
    return ""
