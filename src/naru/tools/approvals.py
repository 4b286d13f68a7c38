"""Calls that wait for a person's yes (N9, S-56): who may answer is the faces' business, what is asked is the settings'.

An answer is about one waiting call with just these arguments; `always` is about a tool as it is defined now, for one
caller, and is forgotten when the definition changes. Annotations are foreign text: they can only make it stricter.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from naru.config import ApprovalSettings
from naru.errors import NotFoundError, PolicyError, StoreError
from naru.stores.atomic_file import replace_file
from naru.tools.patience import paused
from naru.tools.supervision import Call, definition_hash

logger = logging.getLogger(__name__)


class Decision(StrEnum):
    """What a person says to a waiting call."""

    ONCE = "once"
    ALWAYS = "always"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits."""

    id: str
    call: Call
    why: str
    """`asked` by a setting, or `destructive` by its own word."""
    asked_at: int
    expires_at: int
    """Epoch milliseconds."""
    answer: asyncio.Future[Decision] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Standing:
    """An `always`: this caller may call this tool, for as long as it is defined so."""

    id: str
    caller: str
    server: str
    tool: str
    definition: str
    given_by: str
    given_at: int


class Approvals:
    """Decides about calls; `waiting` and `answer` are for whoever asks people. Use inside one event loop."""

    def __init__(
        self,
        settings: ApprovalSettings,
        path: Path | None = None,
        *,
        asks_for_destructive: bool = False,
        changed: Callable[[str], None] = lambda server: None,
    ) -> None:
        """Take the settings.

        Args:
            settings: what is asked, allowed, denied, and how long a call waits.
            path: keeps what was allowed for always, mode 0600; None keeps it in memory.
            asks_for_destructive: whether tools that call themselves destructive wait.
            changed: told the server's name whenever a call begins or ends to wait.
        """
        self.settings = settings
        self.changed = changed
        self._path = path.expanduser() if path else None
        self._asks_for_destructive = asks_for_destructive
        self._waiting: dict[str, Waiting] = {}
        self._standing: dict[str, Standing] = {}

    def load(self) -> None:
        """Read what was allowed for always; a missing file is empty.

        Raises:
            StoreError: it cannot be read.
        """
        if self._path is None or not self._path.exists():
            return
        try:
            kept = [Standing(**entry) for entry in json.loads(self._path.read_bytes())["standing"]]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"The approvals in {self._path} cannot be read: {type(error).__name__}.",
                remedy=f"Put {self._path.name}.bak in its place, or remove it to be asked again.",
            ) from error
        self._standing = {one.id: one for one in kept}

    @property
    def waiting(self) -> Sequence[Waiting]:
        """The calls that wait now, oldest first."""
        return list(self._waiting.values())

    @property
    def standing(self) -> Sequence[Standing]:
        """What was allowed for always."""
        return list(self._standing.values())

    async def decide(self, call: Call) -> str:
        """Return why a call may be made, after a person said so where one is asked.

        Raises:
            PolicyError: a setting or a person denied it, nobody answered, or too many calls wait already.
        """
        why = self._why_ask(call)
        if not why:
            return "allowed"
        if self._stands(call):
            return "approved_always"
        if len(self._waiting) >= self.settings.max_waiting:
            raise PolicyError(
                f"The call of {_place(call)} needs a person's yes, and {len(self._waiting)} calls wait already.",
                remedy="Answer those (naru approvals), or call again later.",
            )
        match await self._ask(call, why):
            case Decision.DENY:
                raise PolicyError(f"A person denied the call of {_place(call)}.")
            case Decision.ONCE:
                return "approved_once"
            case Decision.ALWAYS:
                return "approved_always"
        if self.settings.on_timeout == "allow":
            return "approved_by_silence"
        raise PolicyError(
            f"The call of {_place(call)} needs a person's yes, and nobody answered within "
            f"{self.settings.wait_seconds:g} s; it was not made.",
            remedy="Answer in the console or with `naru approvals`, then call again.",
        )

    async def answer(self, waiting_id: str, decision: Decision, *, by: str) -> Waiting:
        """Answer for a waiting call.

        Raises:
            NotFoundError: no call of that id waits; it may have been answered meanwhile.
            StoreError: `always` could not be kept; the call still waits.
        """
        found = self._waiting.get(waiting_id)
        if found is None or found.answer.done():
            raise NotFoundError(f"No call {waiting_id[:80]!r} waits.", remedy="It was answered, or its time is over.")
        if decision is Decision.ALWAYS:
            await self._keep({**self._standing, **self._grant(found.call, by)})
        if not found.answer.done():
            found.answer.set_result(decision)
        return found

    async def revoke(self, standing_id: str) -> Standing:
        """Take an `always` back. Raises NotFoundError, StoreError."""
        if standing_id not in self._standing:
            raise NotFoundError(f"There is no standing approval {standing_id[:80]!r}.")
        revoked = self._standing[standing_id]
        await self._keep({key: one for key, one in self._standing.items() if key != standing_id})
        return revoked

    def _why_ask(self, call: Call) -> str:
        place, settings = _place(call), self.settings
        if _matches(settings.deny, call):
            raise PolicyError(f"Calls of {place} are denied here.", remedy="The setting is approvals.deny.")
        if _matches(settings.allow, call):
            return ""
        if _matches(settings.ask, call):
            return "asked"
        annotations = call.definition.annotations if call.definition is not None else {}
        destroys = annotations.get("destructiveHint") is True and annotations.get("readOnlyHint") is not True
        return "destructive" if self._asks_for_destructive and destroys else ""

    async def _ask(self, call: Call, why: str) -> Decision | None:
        """Hold a call until it is answered; None when its time is over."""
        now = int(time.time() * 1000)
        one = Waiting(
            secrets.token_urlsafe(9),
            call,
            why,
            now,
            now + int(self.settings.wait_seconds * 1000),
            asyncio.get_running_loop().create_future(),
        )
        self._waiting[one.id] = one
        self.changed(call.server)
        logger.info("a call of %s waits for approval (%s)", _place(call), one.id)
        asking = asyncio.ensure_future(self._ask_client(one)) if call.ask is not None else None
        try:
            with paused():
                await asyncio.wait({one.answer}, timeout=self.settings.wait_seconds)
            return one.answer.result() if one.answer.done() else None
        finally:
            del self._waiting[one.id]
            one.answer.cancel()
            if asking is not None:
                asking.cancel()
                with suppress(asyncio.CancelledError):
                    await asking
            self.changed(call.server)

    async def _ask_client(self, one: Waiting) -> None:
        """Tell the client that its call waits, and take its person's answer where the settings allow that."""
        assert one.call.ask is not None
        answer = await one.call.ask(one.id, may_answer=self.settings.ask_client)
        if answer is not None and self.settings.ask_client and not one.answer.done():
            with suppress(NotFoundError):
                await self.answer(one.id, Decision(answer), by=one.call.caller)

    def _stands(self, call: Call) -> bool:
        key = _key(call)
        return any((one.caller, one.server, one.tool, one.definition) == key for one in self._standing.values())

    @staticmethod
    def _grant(call: Call, by: str) -> dict[str, Standing]:
        standing_id = secrets.token_urlsafe(9)
        return {standing_id: Standing(standing_id, *_key(call), by, int(time.time() * 1000))}

    async def _keep(self, standing: Mapping[str, Standing]) -> None:
        if self._path is not None:
            content = json.dumps({"standing": [asdict(one) for one in standing.values()]}, indent=1).encode()
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            await asyncio.to_thread(replace_file, self._path, content)
        self._standing = dict(standing)


def _place(call: Call) -> str:
    return f"{call.server}/{call.tool}"


def _key(call: Call) -> tuple[str, str, str, str]:
    return call.caller, call.server, call.tool, definition_hash(call.definition) if call.definition else ""


def _matches(patterns: Sequence[str], call: Call) -> bool:
    """Say whether a pattern fits; one with `@` names the caller too (S-56), so that no other reaches into callers."""
    place = _place(call)
    named = f"{call.caller}@{place}"
    return any(
        fnmatch.fnmatchcase(place, pattern) or ("@" in pattern and fnmatch.fnmatchcase(named, pattern))
        for pattern in patterns
    )
