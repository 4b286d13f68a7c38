"""A signed-in person's token for one server: renewed ahead of time, once for all who wait for it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from naru.connections.oauth.discovery import read_challenge
from naru.connections.oauth.fetch import refused, unavailable
from naru.connections.oauth.flow import Tokens
from naru.connections.state.faults import LinkError
from naru.deadlines import uptime
from naru.persons import nobodys_context
from naru.stores.secrets.redact import REDACTOR
from naru.tasks import let_end

logger = logging.getLogger(__name__)

_AHEAD = 0.2
"""The share of a token's life in which it is renewed while it is still used."""
_LEEWAY_SECONDS = 30.0
_QUIET_SECONDS = 60.0
"""A token younger than this that is refused is not renewed again: no storm (R-11)."""


class Signed:
    """One (person, server)'s tokens."""

    def __init__(
        self,
        tokens: Tokens,
        renew: Callable[[Tokens], Awaitable[Tokens]],
    ) -> None:
        """Go on with tokens; `renew` gives others and keeps them, or forgets those that nobody takes any more."""
        self.tokens = tokens
        self.wanted_scope = ""
        """What the server said that it wants beside what was granted; for the next sign-in."""
        self._renew_with = renew
        self._renewal: asyncio.Task[Tokens] | None = None
        self._left = asyncio.Event()
        self._renewed_at = -_QUIET_SECONDS
        self._secrets = REDACTOR.passing()
        self._keep_quiet(tokens)

    async def current(self) -> str:
        """Return a token that is not about to expire. Raises LinkError."""
        tokens = self.tokens
        left = tokens.expires_at - time.time() if tokens.expires_at else float("inf")
        if left > max(_AHEAD * tokens.life, self._leeway) or (not tokens.refresh_token and left > 0):
            return tokens.access_token
        if not tokens.refresh_token:
            raise refused("The sign-in is over, and it cannot be renewed.", "Sign in again.")
        if left > self._leeway:
            self._begin()
            return tokens.access_token
        return await self._renewed(tokens)

    @property
    def _leeway(self) -> float:
        return min(_LEEWAY_SECONDS, self.tokens.life / 4)

    async def instead_of(self, refused_token: str) -> str:
        """Return another token than one that was refused; empty when a fresh one was. Raises LinkError."""
        if self.tokens.access_token != refused_token:
            return self.tokens.access_token
        if not self.tokens.refresh_token or uptime() - self._renewed_at < _QUIET_SECONDS:
            return ""
        return await self._renewed()

    def note(self, challenge: str) -> None:
        """Take note of what a server said when it refused a token (step-up)."""
        said = read_challenge(challenge)
        if said.error == "insufficient_scope" and said.scope:
            self.wanted_scope = said.scope

    def take_up(self, tokens: Tokens) -> None:
        """Go on with tokens that were renewed, here or by another process."""
        self.tokens = tokens
        self._keep_quiet(tokens)
        self._renewed_at = uptime()

    async def close(self, *, patience_seconds: float = 0.0) -> None:
        """Give up what is being renewed; with patience where the refresh token that was sent is still wanted."""
        if self._renewal is not None:
            await let_end(self._renewal, patience_seconds)

    def leave(self) -> None:
        """Let nobody wait any more for what is being renewed: whoever signs out revokes it once it has come."""
        self._left.set()

    async def _renewed(self, before: Tokens | None = None) -> str:
        """Return the renewed token; the one before where its authority is away and it is good for seconds yet."""
        renewal = self._begin()
        left = asyncio.ensure_future(self._left.wait())
        try:
            await asyncio.wait({renewal, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
        if not renewal.done() or renewal.cancelled():  # by a sign-out or a new sign-in: no end of whoever waits here
            raise unavailable("The sign-in was changed while its token was being renewed.")
        error = renewal.exception()
        is_away = isinstance(error, LinkError) and not error.failure.needs_auth
        if is_away and before is not None and time.time() < before.expires_at:
            return before.access_token
        return renewal.result().access_token

    def _begin(self) -> asyncio.Task[Tokens]:
        """Renew in a task of its own: a refresh token is good once, and whoever asked may go before the answer came."""
        if self._renewal is None:
            loop = asyncio.get_running_loop()
            self._renewal = loop.create_task(self._do(), name="renew a token", context=nobodys_context())
            self._renewal.add_done_callback(self._over)
        return self._renewal

    def _over(self, renewal: asyncio.Task[Tokens]) -> None:
        self._renewal = None
        if not renewal.cancelled() and (error := renewal.exception()) is not None:
            logger.warning("a token could not be renewed: %s", error)

    async def _do(self) -> Tokens:
        self.take_up(await self._renew_with(self.tokens))
        return self.tokens

    def _keep_quiet(self, tokens: Tokens) -> None:
        for token in (tokens.access_token, tokens.refresh_token):
            if token:
                self._secrets.learn_passing(token)
