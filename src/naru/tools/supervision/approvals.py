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
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from naru.config import ApprovalSettings
from naru.errors import NotFoundError, PolicyError, StoreError
from naru.messages import JsonObject
from naru.records import now_ms
from naru.stores.files.atomic import file_lock, replace_file
from naru.stores.files.followed import FollowedFile
from naru.stores.secrets.redact import REDACTOR
from naru.stores.shared.commons import ALONE, Commons
from naru.tools.supervision.calls import Call, definition_hash
from naru.tools.supervision.patience import paused
from naru.tools.supervision.waiting_room import Waiter, WaitingRoom

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.3
"""How often a held call looks for an answer of another process."""


class Decision(StrEnum):
    """What a person says to a waiting call."""

    ONCE = "once"
    ALWAYS = "always"
    DENY = "deny"


AskPerson = Callable[[Waiter], Awaitable[Decision | None]]
"""Asks the person at this very process, or tells them that a call waits; None leaves the answer to others."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A call that this process holds."""

    shown: Waiter
    call: Call
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
        commons: Commons = ALONE,
    ) -> None:
        """Take the settings.

        Args:
            settings: what is asked, allowed, denied, and how long a call waits.
            path: keeps what was allowed for always, mode 0600; None keeps it in memory.
            asks_for_destructive: whether tools that call themselves destructive wait.
            changed: told the server's name whenever a call begins or ends to wait.
            commons: knows which other hubs live; what they hold waits as long.
        """
        self.settings = settings
        self.changed = changed
        self._path = path.expanduser() if path else None
        self.asks_for_destructive = asks_for_destructive
        self._held: dict[str, _Held] = {}
        self._room = WaitingRoom(self.room, commons=commons)
        self._standing: dict[str, Standing] = {}
        self._file = (
            FollowedFile(
                self._path,
                _standing,
                self._take_up,
                what="The approvals",
                remedy=f"Put {self._path.name}.bak in its place, or remove it to be asked again.",
            )
            if self._path
            else None
        )
        self.ask_person: AskPerson | None = None
        """Asks whoever sits at this process, such as the terminal of `naru tool run`."""

    def load(self) -> None:
        """Read what was allowed for always, by whichever process; a missing file is empty.

        Raises:
            StoreError: it cannot be read.
        """
        if self._file is not None:
            self._file.look({})

    def _take_up(self, standing: dict[str, Standing]) -> None:
        self._standing = standing

    @property
    def room(self) -> Path | None:
        """The folder in which the calls that wait in any process are seen."""
        return self._path.with_name("waiting") if self._path else None

    @property
    def waiting(self) -> Sequence[Waiter]:
        """The calls that wait now, oldest first, whichever process of this data folder holds them."""
        own = [one.shown for one in self._held.values() if not one.answer.done()]
        return sorted((*own, *(one for one in self._room.waiting() if one.id not in self._held)), key=_asked_at)

    @property
    def standing(self) -> Sequence[Standing]:
        """What was allowed for always. Raises StoreError."""
        self.load()
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
        self._make_room(call)
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

    async def answer(self, waiting_id: str, decision: Decision, *, by: str) -> Waiter:
        """Answer for a waiting call.

        Raises:
            NotFoundError: no call of that id waits; it may have been answered meanwhile.
            StoreError: `always` could not be kept; the call still waits.
        """
        found = self._held.get(waiting_id)
        if found is None:
            return await asyncio.to_thread(self._room.answer, waiting_id, decision, by)
        if found.answer.done():
            raise NotFoundError(f"No call {waiting_id[:80]!r} waits.", remedy="It was answered, or its time is over.")
        if decision is Decision.ALWAYS:
            granted = self._grant(found.call, by)
            await self._keep(lambda standing: {**standing, **granted})
        if not found.answer.done():
            found.answer.set_result(decision)
        return found.shown

    async def revoke(self, standing_id: str) -> Standing:
        """Take an `always` back. Raises NotFoundError, StoreError."""
        revoked = next((one for one in self.standing if one.id == standing_id), None)
        if revoked is None:
            raise NotFoundError(
                f"There is no standing approval {standing_id[:80]!r}.", remedy="See: naru approvals list"
            )
        await self._keep(lambda standing: {key: one for key, one in standing.items() if key != standing_id})
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
        return "destructive" if self.asks_for_destructive and destroys else ""

    def _make_room(self, call: Call) -> None:
        """Have whoever has most calls waiting give way with the newest of them, where there are too many (S-19).

        Raises:
            PolicyError: that is the caller of this one.
        """
        waiting = [one for one in self._held.values() if not one.answer.done()]
        if len(waiting) < self.settings.max_waiting:
            return
        held = Counter(one.call.caller for one in waiting)
        most, number = held.most_common(1)[0]
        if held[call.caller] + 1 >= number:
            raise _too_many(call, len(waiting))
        last = next(one for one in reversed(waiting) if one.call.caller == most)
        last.answer.set_exception(_too_many(last.call, len(waiting)))
        last.answer.exception()  # seen, even if its caller leaves just now

    async def _ask(self, call: Call, why: str) -> Decision | None:
        """Hold a call until it is answered; None when its time is over."""
        one = _Held(self._shown(call, why), call, asyncio.get_running_loop().create_future())
        self._held[one.shown.id] = one
        self.changed(call.server)
        logger.info("a call of %s waits for approval (%s)", _place(call), one.shown.id)
        asking = [asyncio.ensure_future(work) for work in self._askers(one)]
        try:
            with paused():
                await asyncio.wait({one.answer}, timeout=self.settings.wait_seconds)
            return one.answer.result() if one.answer.done() else None
        finally:
            one.answer.cancel()
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            try:
                await asyncio.to_thread(self._room.leave, one.shown.id)
            except (StoreError, OSError) as error:  # it is answered all the same
                logger.warning("the call %s, which waits no more, is still shown: %s", one.shown.id, error)
            finally:
                del self._held[one.shown.id]
                self.changed(call.server)

    def _shown(self, call: Call, why: str) -> Waiter:
        now = now_ms()
        return Waiter(
            id=secrets.token_hex(9),
            server=call.server,
            tool=call.tool,
            arguments=REDACTOR.clean(json.dumps(call.arguments, ensure_ascii=False, indent=1)),
            caller=call.caller,
            description=call.definition.description if call.definition else "",
            why=why,
            asked_at=now,
            expires_at=now + int(self.settings.wait_seconds * 1000),
        )

    def _askers(self, one: _Held) -> Iterator[Coroutine[None, None, None]]:
        """Return all who may bring an answer, beside whoever calls `answer`."""
        yield self._ask_elsewhere(one)
        if one.call.ask is not None:
            yield self._ask_client(one)
        if self.ask_person is not None:
            yield self._ask_here(one, self.ask_person)

    async def _ask_client(self, one: _Held) -> None:
        """Tell the client that its call waits, and take its person's answer where the settings allow that."""
        assert one.call.ask is not None
        answer = await one.call.ask(one.shown.id, may_answer=self.settings.ask_client)
        if answer is not None and self.settings.ask_client:
            await self._take(one, Decision(answer), by=one.call.caller)

    async def _ask_here(self, one: _Held, ask: AskPerson) -> None:
        if (answer := await ask(one.shown)) is not None:
            await self._take(one, answer, by="terminal")

    async def _ask_elsewhere(self, one: _Held) -> None:
        """Show the call to other processes, and take the answer that one of them leaves."""
        entering = asyncio.ensure_future(asyncio.to_thread(self._room.enter, one.shown))
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:  # the thread goes on, and the call leaves only after it has entered
            await asyncio.wait({entering})
            raise
        except (StoreError, OSError) as error:
            logger.warning("the waiting call %s can be answered here alone: %s", one.shown.id, error)
            return
        told = ""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            said = self._room.answered(one.shown.id)
            if said is not None and said[0] in list(Decision):
                told = await self._take(one, Decision(said[0]), by=said[1], told=told)

    async def _take(self, one: _Held, decision: Decision, *, by: str, told: str = "") -> str:
        """Take an answer; return why it could not be kept, of which is told unless that was the last time, too."""
        try:
            if not one.answer.done():
                await self.answer(one.shown.id, decision, by=by)
        except NotFoundError:
            pass  # somebody else was faster
        except StoreError as error:
            if str(error) != told:
                logger.error("the answer to the waiting call %s could not be kept: %s", one.shown.id, error)
            return str(error)
        return ""

    def _stands(self, call: Call) -> bool:
        self.load()
        key = _key(call)
        return any((one.caller, one.server, one.tool, one.definition) == key for one in self._standing.values())

    @staticmethod
    def _grant(call: Call, by: str) -> dict[str, Standing]:
        standing_id = secrets.token_hex(9)
        return {standing_id: Standing(standing_id, *_key(call), by, now_ms())}

    async def _keep(self, edit: Callable[[Mapping[str, Standing]], dict[str, Standing]]) -> None:
        """Change what was allowed for always, as it is now in the file. Raises StoreError."""
        path = self._path
        if path is None:
            self._standing = edit(self._standing)
            return

        def change() -> None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with file_lock(path):
                self.load()
                standing = [asdict(one) for one in edit(self._standing).values()]
                replace_file(path, json.dumps({"standing": standing}, indent=1).encode())
                self.load()

        await asyncio.to_thread(change)


def _standing(document: JsonObject) -> dict[str, Standing]:
    return {entry["id"]: Standing(**entry) for entry in document["standing"]}


def _asked_at(one: Waiter) -> int:
    return one.asked_at


def _place(call: Call) -> str:
    return f"{call.server}/{call.tool}"


def _key(call: Call) -> tuple[str, str, str, str]:
    return call.caller, call.server, call.tool, definition_hash(call.definition) if call.definition else ""


def _too_many(call: Call, waiting: int) -> PolicyError:
    return PolicyError(
        f"The call of {_place(call)} needs a person's yes, and {waiting} calls wait already.",
        remedy="Answer those (naru approvals), or call again later.",
    )


def _matches(patterns: Sequence[str], call: Call) -> bool:
    """Say whether a pattern fits; one with `@` names the caller too (S-56), so that no other reaches into callers."""
    place = _place(call)
    named = f"{call.caller}@{place}"
    return any(
        fnmatch.fnmatchcase(place, pattern) or ("@" in pattern and fnmatch.fnmatchcase(named, pattern))
        for pattern in patterns
    )
