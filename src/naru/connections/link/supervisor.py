"""The owner task of one server's link: opens it, watches it, closes it, and opens it again.

The machine in `lifecycle` decides what is due; this task does it. Nobody else opens or closes a session: they leave a
wish and are told when it came true.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from dataclasses import replace

from naru.connections.link.health import Door, Health, Pulse, knock_pause
from naru.connections.link.remembered import Facts, Remembered
from naru.connections.link.surroundings import Surroundings
from naru.connections.session.asking import declared
from naru.connections.session.catalogue import Listing, ToolCatalogue, noted, read_list, read_tools
from naru.connections.session.opening import Known, Opened, Opener
from naru.connections.session.session import Session
from naru.connections.state.faults import Failure, LinkError, RpcError
from naru.connections.state.lifecycle import Lifecycle
from naru.connections.state.settings import settings_for
from naru.connections.state.waiters import Waiters, unless
from naru.connections.wire.protocol import METHOD_NOT_FOUND
from naru.errors import NaruError, StoreError
from naru.messages import JsonObject
from naru.persons import nobodys_context
from naru.records import ServerRecord, ServerStatus, TransportType
from naru.stores.secrets.redact import REDACTOR
from naru.stores.secrets.values import SecretValues, secrets_of

logger = logging.getLogger(__name__)

_AGAIN_SECONDS = 5.0
"""When a list that could not be read again is asked for once more; until then what is offered is the old one."""
_SPREAD_SECONDS = 1.0
"""Servers behind one address are lost together: their first redial is spread over this (R-33)."""


class Supervisor:
    """Keeps one link. Made idle; the first wish starts its task, `close` ends it for good."""

    def __init__(self, record: ServerRecord, around: Surroundings) -> None:
        self.record = record
        self.tools = ToolCatalogue()
        self.transport_type: TransportType | None = record.transport_type
        """The transport in use, once it is known."""
        self.revision = 0
        """Grows whenever a list may have changed."""
        self.session: Session | None = None
        """The present session; None while not connected."""
        self.facts = Facts()
        """What was agreed on with the present or last link."""
        self.used_at = 0.0
        """Loop time of the last request that was made for others."""
        self.held: frozenset[str] = frozenset()
        """Resources that somebody watches: the link is not parked meanwhile."""
        self.last_session: Session | None = None
        self._around = around
        self._settings = settings_for(record, around.settings)
        hooks = replace(around.hooks, capabilities={**around.hooks.capabilities, **declared(record.config)})
        self._opener = Opener(record, self, self._settings, hooks, around.http, around.starts, around.guard)
        self._loop = asyncio.get_running_loop()
        policy = around.settings.reconnect
        if record.transport_type is not TransportType.STDIO:
            policy = replace(policy, spread_seconds=_SPREAD_SECONDS)
        self.life = Lifecycle(policy, now=self._loop.time())
        self._waiters: Waiters[bool] = Waiters()
        self._idlers: Waiters[None] = Waiters()
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self.is_closed = False
        self._dirty: set[str] = set()
        self.lists: dict[str, Listing] = {}
        """Lists other than tools that somebody asked for, of this revision."""
        self._refreshed_at = -self._settings.refresh_interval_seconds
        self._asked = itertools.count(1)
        self._listed = 0
        """Number of the listing that `tools` came from: one that was asked for earlier comes too late."""
        self._health = Health(self._settings)
        self._door = Door(str(record.config.get("url", "")))
        self._task: asyncio.Task[None] | None = None

    # Wishes

    async def demand(self, *, forced: bool) -> bool:
        """Wish for a link and wait for the attempt that decides; True when there is one.

        Args:
            forced: a person asks. Otherwise a call does, which starts no attempt where that would make a storm:
                while the server wants credentials (R-11), asked to be left alone, or crashes in a loop (R-32). One that
                refused connections is knocked at, for the call, and tried when it takes them again.
        """
        if self.is_closed or not (forced or self._may_try(self._loop.time()) or await self._is_back()):
            return False
        if self.session is not None and self.session.failure is None:
            return True
        now = self._loop.time()
        waiter = self._waiters.add()
        if forced:
            self.life.connect(now)
        else:
            self.life.demand(now)
        if self._task is None:
            name = f"connection {self.record.name}"
            self._task = self._loop.create_task(self._run(), name=name, context=nobodys_context())
        self._wake.set()
        return await waiter

    async def _is_back(self) -> bool:
        """Tell whether a server that refused connections takes them again: no call need wait for the next retry."""
        failure = self.life.last_failure
        is_shut = self.life.status is ServerStatus.FAILED and failure is not None and failure.code == "refused"
        return is_shut and self._settings.knock_interval_seconds > 0 and await self._door.opens() and not self.is_closed

    def _may_try(self, now: float) -> bool:
        if self.life.status is ServerStatus.CONNECTING:
            return True  # joins the attempt
        failure = self.life.last_failure
        if self.life.status is ServerStatus.NEEDS_AUTH or self.life.in_crash_loop(now):
            return False
        return not (self.life.status is ServerStatus.FAILED and failure is not None and not failure.retryable)

    async def settled(self) -> bool:
        """Wait for the attempt that is under way; tell whether there is a link."""
        if self.life.status is ServerStatus.CONNECTING:
            return await self._waiters.add()
        return self.session is not None

    async def stop(self) -> None:
        """Close the link, or break the attempt off, and keep it closed until someone wishes for it."""
        self.life.disconnect(self._loop.time())
        self.session = None  # from now on nobody takes it for a link: a wish that comes meanwhile opens another
        self._waiters.settle(False)
        self._changed("status")
        if self._task is not None:
            self._stop.set()
            self._wake.set()
            await self._idlers.add()

    async def close(self) -> None:
        """End the task and everything it holds."""
        self.is_closed = True
        self.life.disconnect(self._loop.time())
        self.session = None
        self._stop.set()
        self._wake.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        self._waiters.settle(False)

    async def relist(self) -> None:
        """List anew now. Raises RpcError or LinkError."""
        if self.session is not None:
            await self._relist(self.session, {"tools", "prompts", "resources"})

    def suspect(self) -> None:
        """Something broke on the link: find out soon whether it is alive."""
        self._health.suspect()
        self._wake.set()

    def rest(self, seconds: float) -> None:
        """Leave the server alone for a while: no pings (R-12)."""
        self._health.due_at = max(self._health.due_at, self._loop.time() + seconds)

    def degraded(self, failure: Failure) -> None:
        """Show that the link is up but the server fails."""
        if self.life.is_live:
            self.life.degrade(self._loop.time(), failure)
            self._changed("status")

    def recovered(self) -> None:
        """Show that the trouble is over."""
        if self.life.status is ServerStatus.DEGRADED:
            self.life.recover(self._loop.time())
            self._changed("status")

    def recall(self) -> bool:
        """Offer what is remembered of a server that is not started yet; False when nothing is."""
        seen = self._around.memory.recall(self.record)
        if seen is None or "tools" not in seen.lists:
            return False
        self.facts = seen.facts
        self.tools = read_tools(Listing(seen.lists["tools"]), self.record.name, seen.facts.era)
        self.lists = {kind: Listing(items) for kind, items in seen.lists.items() if kind != "tools"}
        self._opener.known = Known(self.record.transport_type, seen.facts.era)
        self.life.park(self._loop.time())
        self._changed("tools")
        return True

    def remember(self) -> None:
        """Keep what the server offers, where it may be needed before the next link."""
        if self.record.is_lazy(default=self._settings.is_lazy):
            lists = {"tools": self.tools.raw, **{kind: kept.items for kind, kept in self.lists.items()}}
            self._around.memory.keep(self.record, Remembered(self.facts, lists))

    # What the session tells (session.Listener)

    def begun(self, session: Session) -> None:
        """Keep the newest session's log and counters at hand; what it says from now on of its lists is new."""
        self.last_session = session
        self._dirty.clear()

    def list_changed(self, kind: str) -> None:
        """Note that a list is out of date; many notes make one refresh (R-19)."""
        self._dirty.add(kind)
        self._wake.set()

    def notified(self, method: str, params: JsonObject) -> None:
        """Hand on a notification that belongs to no request."""
        if self._around.hooks.on_notification is not None:
            self._around.hooks.on_notification(self.record.name, method, params)

    def link_lost(self) -> None:
        """Wake the owner: its session is dead."""
        self._wake.set()

    # The task

    async def _run(self) -> None:
        try:
            while not self.is_closed:
                wait = self.life.wait_seconds(self._loop.time())
                if self._stop.is_set():
                    self._stop.clear()
                    self._idlers.settle(None)
                if wait == 0.0:
                    await self._attempt()
                else:
                    self._idlers.settle(None)
                    await self._pause(wait)
        finally:
            self._waiters.settle(False)
            self._idlers.settle(None)

    async def _attempt(self) -> None:
        try:
            await self._live_once()
        except Exception as error:  # noqa: BLE001  # the edge: a defect here must not end the supervision
            logger.exception("server %s: the supervisor failed", self.record.name)
            failure = Failure("connect", "internal", f"Naru itself failed: {error!r}.", "Report it with Naru's log.")
            self.life.failed(self._loop.time(), failure)
            self._waiters.settle(False)
            self._changed("status")

    async def _live_once(self) -> None:
        """Make one attempt, and serve the link that comes of it to its end."""
        self.life.begin(self._loop.time())
        self._changed("status")
        try:
            opened = await unless(self._stop, self._open())
        except LinkError as error:
            if not self._stop.is_set():  # else it failed in the very moment of the stop
                self.life.failed(self._loop.time(), error.failure)
                logger.warning("server %s: %s", self.record.name, error.failure.message)
                self._waiters.settle(False)
                self._changed("status")
            return
        if opened is None:
            return
        if self._stop.is_set():
            await opened.session.close()  # opened in the very moment of the stop
            return
        self._adopt(opened)
        try:
            failure = await self._serve(opened.session)
            if failure is not None and not self._stop.is_set():
                self._lose(opened.session, failure)
        finally:
            # Told before it is closed: closing a link to a server that hangs takes its time.
            self.session = None
            if self.life.is_parked:
                logger.info("server %s: parked, nobody used it", self.record.name)
                self._changed("status")
            await opened.session.close()

    def _lose(self, session: Session, failure: Failure) -> None:
        now = self._loop.time()
        self.life.failed(now, failure, at_once=session.session_gone)
        logger.warning("server %s: link lost: %s", self.record.name, failure.message)
        if self._waiters and self._may_try(now):
            self.life.demand(now)
        else:
            self._waiters.settle(False)
        self.session = None
        self._changed("status")

    async def _open(self) -> Opened:
        try:
            config = self._around.config_of(self.record)
        except NaruError as error:
            passes = isinstance(error, StoreError)
            raise LinkError(Failure("config", error.code, error.message, error.remedy, retryable=passes)) from error
        secrets = SecretValues() if self.record.credentials != "forward" else REDACTOR.passing()
        secrets.learn(secrets_of(self.record.config, config))
        return await self._opener.open(config, secrets)

    def _adopt(self, opened: Opened) -> None:
        now = self._loop.time()
        self.session = opened.session
        self.transport_type = opened.transport
        self.tools = opened.tools
        self.facts = Facts.of(opened.session)
        self.lists.clear()
        self.used_at = now
        self.held = frozenset()
        self.revision += 1
        self._health.begin(now)
        self.life.opened(now)
        self._waiters.settle(True)
        self.remember()
        self._changed("status")
        self._changed("tools")

    async def _serve(self, session: Session) -> Failure | None:
        """Watch a live link; return why it died, or None when told to stop or parked."""
        idle = self.record.idle_stop_seconds(self._settings.idle_stop_seconds, is_lazy=self._settings.is_lazy)
        while True:
            if self._stop.is_set():
                return None
            if session.failure is not None:
                return session.failure
            now = self._loop.time()
            refresh_at = self._refreshed_at + self._settings.refresh_interval_seconds if self._dirty else None
            if refresh_at is not None and refresh_at <= now:
                kinds, self._dirty = self._dirty, set()
                await unless(self._stop, self._refresh(session, kinds))
                continue
            if self._health.due_at <= now:
                await unless(self._stop, self._check(session))
                continue
            is_busy = bool(session.in_flight or self.held)
            park_at = (now if is_busy else self.used_at) + idle
            if park_at <= now:
                self.life.park(now)
                return None
            await self._sleep(min(self._health.due_at, refresh_at or park_at, park_at) - now)

    async def _refresh(self, session: Session, kinds: set[str]) -> None:
        try:
            await self._relist(session, kinds)
        except (LinkError, RpcError) as error:
            logger.warning("server %s: the list could not be refreshed: %s", self.record.name, error)
            if not isinstance(error, RpcError) or error.error_code != METHOD_NOT_FOUND:
                self._dirty |= kinds
                self._refreshed_at = self._loop.time() + _AGAIN_SECONDS
            if isinstance(error, LinkError) and (error.session_gone or error.breaks_link):
                session.lost(error.failure)

    async def _relist(self, session: Session, kinds: set[str]) -> None:
        self._refreshed_at = self._loop.time()
        if "tools" in kinds:
            number = next(self._asked)
            listing = await read_list(session, "tools", self._settings)
            tools = await noted(listing, self.record, session.era, self._around.guard)
            if session is not self.session or number < self._listed:
                return  # the link is another now, or a listing that was asked for later came first
            self._listed, self.tools = number, tools
        self.revision += 1
        self.lists.clear()
        self.remember()
        for kind in sorted(kinds):
            self._changed(kind)

    async def _check(self, session: Session) -> None:
        pulse = await self._health.check(session)
        failure = self._health.failure
        if pulse is Pulse.DEAD and failure is not None:
            session.lost(failure)
        elif pulse is Pulse.BUSY and failure is not None:
            self.degraded(failure)
        elif pulse is Pulse.ALIVE and self.life.last_failure is failure:
            self.recovered()

    # Waiting

    async def _pause(self, wait: float | None) -> None:
        """Wait for the next retry or a wish, and knock meanwhile where a refused server may come back."""
        pause = knock_pause(self.life, self._settings, wait)
        if pause is None:
            await self._sleep(wait)
            return
        await self._sleep(pause)
        if not self._wake.is_set() and await self._door.opens():
            self.life.hasten(self._loop.time())

    async def _sleep(self, seconds: float | None) -> None:
        """Sleep until the time is up or something happened; what happened is for the caller to see."""
        self._wake.clear()
        if self._stop.is_set() or self.is_closed or (self.session is not None and self.session.failure is not None):
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    def _changed(self, what: str) -> None:
        self._around.changed(self.record.name, what)
