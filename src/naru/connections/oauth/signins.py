"""Who is signed in where: begins a sign-in, takes its answer once, keeps tokens sealed, signs out with revocation."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from yarl import URL

from naru.connections.oauth import clients, flow
from naru.connections.oauth.clients import Client
from naru.connections.oauth.discovery import Found, discover, read_challenge
from naru.connections.oauth.fetch import Fetch, refused, unavailable
from naru.connections.oauth.flow import Pending, Tokens, digest, secret_text
from naru.connections.oauth.signed import Signed
from naru.connections.state.faults import LinkError
from naru.connections.transports.http.destinations import Lookup, look_up
from naru.connections.transports.http.tokens import LAST_SECONDS
from naru.errors import NotFoundError, StoreError
from naru.persons import nobodys_context
from naru.stores.secrets.vault import SHARED, UnopenedError, Vault
from naru.tasks import Tasks

logger = logging.getLogger(__name__)
T = TypeVar("T")

PENDING_SECONDS = 600.0
"""How long a person may take to say yes."""
TURN_SECONDS = 60.0
"""How long one process waits for another that is changing the same sign-in."""
_AGAIN_SECONDS = 5.0
"""How long between two tries to keep tokens that could not be kept."""
TOKENS, _CLIENT, _PENDING = "tokens", "client", "pending:"


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """How sign-ins are made here."""

    hosts: Sequence[str] = ()
    """Hosts of authorities that need not be public."""
    client_document: str = ""
    """https URL of Naru's client metadata document; empty registers instead."""
    lookup: Lookup = look_up
    persons_at_console: bool = False
    """Who comes with an issuer's token can open the console as well (`server.oauth.client_id`)."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A sign-in that somebody asks for."""

    server: str
    config: Mapping[str, Any]
    """The server's config, with its placeholders filled in."""
    owner: str
    """Whose tokens they will be; empty for everybody's."""
    asker: str
    redirect_uri: str
    by_browser: bool = True
    """The answer comes by the asker's browser, which must hold what `Begun.browser` says; else with the asker's key."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Where to go, and what to come back with."""

    url: str
    state: str
    browser: str


@dataclass(frozen=True, slots=True)
class Done:
    """A sign-in that is made."""

    server: str
    owner: str


class SignIns:
    """One for an installation. Its methods may be called from many tasks of one loop."""

    def __init__(self, vault: Vault, settings: SignInSettings | None = None) -> None:
        """Keep everything in the vault."""
        self.vault = vault
        self.settings = settings or SignInSettings()
        self._signed: dict[tuple[str, str], Signed] = {}
        self._unkept: dict[tuple[str, str], tuple[Tokens, Tokens]] = {}
        """Renewed tokens that could not be kept yet, each after those that are: whose refresh token is void."""
        self._tasks = Tasks()

    async def begin(self, wish: Wish) -> Begun:
        """Find out where a person signs in at a server.

        Raises:
            LinkError: nobody gives tokens for it, or what it says must not be trusted.
        """
        url = URL(str(wish.config["url"])).with_user(None)
        auth = wish.config.get("auth")
        auth = auth if isinstance(auth, Mapping) else {}
        async with self._fetch(url) as fetch:
            status, header = await fetch.challenge(_plain_headers(wish.config))
            challenge = read_challenge(header if status in (401, 403) else "")
            found = await discover(fetch, url, challenge, str(auth.get("issuer") or ""))
            held = await asyncio.to_thread(_readable, self._held, wish.owner, wish.server, str(url))
            scope = self._scope(wish, found, held, str(auth.get("scope") or ""))
            client = await self._client(fetch, wish, found, auth, scope)
        browser = secret_text() if wish.by_browser else ""
        pending = Pending(
            state=secret_text(),
            verifier=secret_text() + secret_text(),
            redirect_uri=wish.redirect_uri,
            server=wish.server,
            url=str(url),
            owner=wish.owner,
            asker=wish.asker,
            browser=digest(browser) if browser else "",
            resource=found.resource,
            scope=scope,
            authority=found.authority,
            client=client,
            expires_at=time.time() + PENDING_SECONDS,
        )
        address = flow.consent_url(pending)
        await asyncio.to_thread(self._keep_pending, pending)
        return Begun(address, pending.state, browser)

    async def finish(self, answer: Mapping[str, str], *, asker: str | None = None, browser: str = "") -> Done:
        """Take an authority's answer, once, from the person who began.

        Args:
            answer: the parameters that came back.
            asker: who brings it, for one that came with a key.
            browser: what the browser holds, for one that came by a browser.

        Raises:
            LinkError: it is no answer to a question of this person's, or no tokens came of it.
        """
        state = answer.get("state", "")
        kept = await asyncio.to_thread(self.vault.take, SHARED, "", _PENDING + digest(state)) if state else None
        pending = flow.read_pending(kept) if kept is not None else None
        if pending is None or pending.expires_at < time.time():
            raise refused("This sign-in is not waited for: it was used, or took too long.", "Begin it again.")
        by_browser = hmac.compare_digest(digest(browser), pending.browser)
        is_theirs = by_browser if pending.browser else asker == pending.asker
        if not is_theirs:
            raise refused("This sign-in was begun by somebody else; it was not used.", "Begin it again.")
        code = flow.code_of(pending.authority, answer)
        async with self._fetch(URL(pending.url)) as fetch:
            tokens = await flow.exchange(fetch, pending, code)
        async with self._turn(pending.owner, pending.server):
            await asyncio.to_thread(self.vault.write, pending.owner, pending.server, TOKENS, tokens.kept())
        await self._drop(pending.owner, pending.server)
        return Done(pending.server, pending.owner)

    async def sign_out(self, owner: str, server: str) -> str:
        """Forget a person's tokens and tell their authority; return why it could not be told, if so.

        Raises:
            NotFoundError: there is no sign-in.
        """
        if (signed := self._signed.pop((owner, server), None)) is not None:
            signed.leave()
        async with self._turn(owner, server):  # what is being renewed, here or elsewhere, is waited for, and revoked
            tokens = await asyncio.to_thread(_readable, self._newest, owner, server)
            await asyncio.to_thread(self.vault.delete, owner, server, TOKENS)
            await self._drop(owner, server)  # a link that was opened meanwhile has taken them up again
        if tokens is None:
            raise NotFoundError(f"Nobody is signed in at {server!r}.")
        try:
            async with self._fetch(URL(tokens.url)) as fetch:
                await flow.revoke(fetch, tokens)
        except LinkError as error:
            logger.warning("the tokens for %s are forgotten, and could not be revoked: %s", server, error)
            return error.message
        return ""

    def source(self, owner: str, server: str, url: str) -> Signed | None:
        """Return a person's tokens for a server; None when nobody is signed in. Raises StoreError."""
        signed = self._signed.get((owner, server))
        if signed is None:
            tokens = self._held(owner, server, url)
            if tokens is None:
                return None

            async def renewed(old: Tokens) -> Tokens:
                return await self._renew(owner, server, old)

            signed = self._signed[owner, server] = Signed(tokens, renewed)
        return signed if _is_same(signed.tokens.url, url) else None

    async def look_again(self, owner: str, server: str) -> bool:
        """Follow what another process did to a person's sign-in; tell whether their link must be opened anew.

        Raises:
            StoreError: it cannot be read.
        """
        signed = self._signed.get((owner, server))
        tokens = await asyncio.to_thread(self._read, owner, server)
        if signed is None or tokens is None or tokens.signed_in != signed.tokens.signed_in:
            await self._drop(owner, server)
            return signed is not None or tokens is not None
        if tokens.access_token != signed.tokens.access_token:
            signed.take_up(tokens)
        return False

    def is_signed_in(self, owner: str, server: str, url: str) -> bool:
        """Tell whether a person is signed in at a server. Raises StoreError."""
        return _readable(self._held, owner, server, url) is not None

    async def forget_server(self, server: str) -> None:
        """Forget all that was kept for a server that is no more. Raises StoreError."""
        for owner, name in list(self._signed):
            if name == server:
                await self._drop(owner, name)
        await asyncio.to_thread(self.vault.forget_server, server)

    async def close(self) -> None:
        """Give up what is being renewed, after a moment: what was sent is void, and what comes back unkept."""
        await asyncio.gather(*(signed.close(patience_seconds=LAST_SECONDS) for signed in self._signed.values()))
        await self._tasks.end()
        for owner, server in list(self._unkept):
            with contextlib.suppress(StoreError):
                await asyncio.to_thread(self._newest, owner, server)
        self._signed.clear()
        self.vault.close()

    def _fetch(self, url: URL) -> Fetch:
        return Fetch(url, hosts=self.settings.hosts, lookup=self.settings.lookup)

    def _held(self, owner: str, server: str, url: str) -> Tokens | None:
        tokens = self._read(owner, server)
        return tokens if tokens is not None and _is_same(tokens.url, url) else None

    def _read(self, owner: str, server: str) -> Tokens | None:
        """Return a sign-in's tokens: those that are kept, or what came instead of them and could not be."""
        kept = flow.read_tokens(self.vault.read(owner, server, TOKENS))
        before, after = self._unkept.get((owner, server), (None, None))
        is_after = kept is not None and before is not None and kept.access_token == before.access_token
        return after if is_after else kept

    def _scope(self, wish: Wish, found: Found, held: Tokens | None, configured: str) -> str:
        signed = self._signed.get((wish.owner, wish.server))
        more = signed.wanted_scope if signed is not None else ""
        asked = replace(found, scope=f"{more} {configured}" if more or configured else found.scope)
        return flow.wanted(asked, held.scope if held is not None and held.issuer == found.authority.issuer else "")

    async def _client(self, fetch: Fetch, wish: Wish, found: Found, auth: Mapping[str, Any], scope: str) -> Client:
        authority = found.authority
        chosen = clients.of_record(auth, authority) or clients.of_document(
            self.settings.client_document, authority, wish.redirect_uri
        )
        if chosen is not None:
            return chosen
        kept = clients.read_client(await asyncio.to_thread(_readable, self.vault.read, SHARED, wish.server, _CLIENT))
        if kept is not None and clients.is_good(kept, authority, wish.redirect_uri, scope):
            return kept
        made = await clients.register(fetch, authority, wish.redirect_uri, scope)
        await asyncio.to_thread(self.vault.write, SHARED, wish.server, _CLIENT, made.kept())
        return made

    def _keep_pending(self, pending: Pending) -> None:
        self.vault.prune(_PENDING, PENDING_SECONDS)
        self.vault.write(SHARED, "", _PENDING + digest(pending.state), pending.kept())

    async def _renew(self, owner: str, server: str, old: Tokens) -> Tokens:
        """Renew tokens, unless another process has: a refresh token is good once."""
        async with self._turn(owner, server):
            kept = await asyncio.to_thread(self._newest, owner, server)
            if kept is None or not _is_same(kept.url, old.url):
                raise refused("The sign-in is over: somebody signed out.", "Sign in again.")
            if kept.access_token != old.access_token:
                return kept
            try:
                async with self._fetch(URL(kept.url)) as fetch:
                    tokens = await flow.renew(fetch, kept)
            except flow.VoidError:
                await asyncio.to_thread(self.vault.delete, owner, server, TOKENS)
                self._signed.pop((owner, server), None)
                raise
            try:
                await asyncio.to_thread(self.vault.write, owner, server, TOKENS, tokens.kept())
                self._unkept.pop((owner, server), None)
            except StoreError as error:
                self._keep_later(owner, server, kept, tokens, error)
        return tokens

    def _keep_later(self, owner: str, server: str, kept: Tokens, tokens: Tokens, error: StoreError) -> None:
        """Go on with tokens that cannot be kept now: those before them are void, and nobody has to sign in again."""
        before, _ = self._unkept.get((owner, server), (kept, tokens))
        is_first = (owner, server) not in self._unkept
        self._unkept[owner, server] = before, tokens
        if is_first:
            logger.error(
                "the renewed tokens for %s are in memory alone until they can be kept, which is tried again every "
                "%g s; if Naru ends before, sign in again: %s",
                server,
                _AGAIN_SECONDS,
                error,
            )
            self._tasks.begin(self._keep_again(owner, server), context=nobodys_context(), name="keep renewed tokens")

    async def _keep_again(self, owner: str, server: str) -> None:
        while (owner, server) in self._unkept:
            await asyncio.sleep(_AGAIN_SECONDS)
            with contextlib.suppress(LinkError):
                async with self._turn(owner, server):
                    await asyncio.to_thread(self._newest, owner, server)
        logger.info("the renewed tokens for %s are kept, or over", server)

    def _newest(self, owner: str, server: str) -> Tokens | None:
        """Return what a sign-in is now, at whichever hub it was kept last; keep it where that was not possible yet."""
        self.vault.pull(owner, server, TOKENS)
        tokens = self._read(owner, server)
        unkept = self._unkept.get((owner, server))
        if unkept is not None:
            if tokens is unkept[1]:
                try:
                    self.vault.write(owner, server, TOKENS, tokens.kept())
                except StoreError:  # it is told of, and tried again
                    return tokens
            del self._unkept[owner, server]
        return tokens

    @asynccontextmanager
    async def _turn(self, owner: str, server: str) -> AsyncIterator[None]:
        """Hold one person's sign-in at one server against all processes that have this vault."""
        try:
            async with self.vault.lease(f"sign-in/{server}/{owner}").held(TURN_SECONDS) as is_ours:
                if not is_ours:
                    raise unavailable(f"The sign-in at {server!r} is being changed by another process.")
                yield
        except StoreError as error:
            raise unavailable(f"The sign-in at {server!r} cannot be changed: {error.message}") from error

    async def _drop(self, owner: str, server: str) -> None:
        signed = self._signed.pop((owner, server), None)
        if signed is not None:
            await signed.close()


def _readable(read: Callable[..., T | None], *place: str) -> T | None:
    """Return what is kept; None where another key has sealed it, which can only be replaced."""
    with contextlib.suppress(UnopenedError):
        return read(*place)
    return None


def _is_same(one: str, other: str) -> bool:
    return str(URL(one).with_user(None)) == str(URL(other).with_user(None))


def _plain_headers(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the record's headers for the first question, without credentials: it is to be refused."""
    given = config.get("headers") or {}
    return {name: str(value) for name, value in given.items() if name.lower() not in ("authorization", "cookie")}
