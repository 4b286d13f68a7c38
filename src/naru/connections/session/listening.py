"""Hears what a stateless server says of itself: one `subscriptions/listen` request kept open, and opened again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any, Protocol

from naru.connections.state.faults import Failure, LinkError, RpcError
from naru.connections.state.waiters import unless
from naru.messages import JsonObject

logger = logging.getLogger(__name__)

_PAUSES = (0.2, 1.0, 5.0, 30.0)
_LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


class Link(Protocol):
    """What is needed of a session."""

    server: str
    capabilities: JsonObject
    failure: Failure | None

    def lost(self, failure: Failure) -> None:
        """Take note that the link is dead."""
        ...

    def list_changed(self, kind: str) -> None:
        """Take note that a list is out of date."""
        ...

    def own(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something until it ends or the session is closed."""
        ...

    async def request_endless(self, method: str, notifications: JsonObject) -> JsonObject:
        """Send a request whose answer ends a subscription. Raises RpcError or LinkError."""
        ...


class ChangeListener:
    """One session's subscription. What is heard goes the session's usual way, as notifications of no request."""

    def __init__(self, session: Link) -> None:
        self._session = session
        self._uris: frozenset[str] = frozenset()
        self._again = asyncio.Event()
        """Set when what is wanted is another than what was asked for."""
        self._is_running = False
        self._may_have_missed = False
        """A subscription ended, and the next one does not stand yet."""

    def wanted(self) -> JsonObject:
        """Return what to subscribe to: the lists that the server says may change, and the resources asked for."""
        capabilities = self._session.capabilities
        wanted: JsonObject = {
            key: True for kind, key in _LISTS.items() if (capabilities.get(kind) or {}).get("listChanged")
        }
        if self._uris:
            wanted["resourceSubscriptions"] = sorted(self._uris)
        return wanted

    def acknowledged(self) -> None:
        """Have lists read again that may have changed while nobody was told: there is no replay."""
        is_again, self._may_have_missed = self._may_have_missed, False
        for kind, key in _LISTS.items():
            if is_again and key in self.wanted():
                self._session.list_changed(kind)

    def watch(self, uris: frozenset[str]) -> None:
        """Hear of these resources from now on, and of no others."""
        if uris != self._uris:
            self._uris = uris
            self.restart()

    def restart(self) -> None:
        """Ask anew, with what is wanted now."""
        self._again.set()
        if not self._is_running:
            self._is_running = True
            self._session.own(self._run())

    async def _run(self) -> None:
        """Keep the subscription open as long as the link lives; ends when the server has no such method."""
        try:
            await self._keep_open()
        except RpcError as error:
            logger.info("server %s takes no subscription: %s", self._session.server, error)
        finally:
            self._is_running = False

    async def _keep_open(self) -> None:
        failures = 0
        while (wanted := self.wanted()) and self._session.failure is None:
            self._again.clear()
            began = asyncio.get_running_loop().time()
            try:
                await unless(self._again, self._session.request_endless("subscriptions/listen", wanted))
            except LinkError as error:
                logger.debug("subscription at server %s broke: %s", self._session.server, error)
                if error.breaks_link or error.failure.needs_auth:
                    self._session.lost(error.failure)
                    return
            if self._again.is_set():
                continue
            self._may_have_missed = True
            lasted = asyncio.get_running_loop().time() - began
            failures = 0 if lasted > _PAUSES[-1] else failures + 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._again.wait(), _PAUSES[min(failures, len(_PAUSES)) - 1])
