"""Who asks at the gate, and what the gate needs to know of keys and limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from naru.persons import WHOLE, Reach
from naru.web.routes import Access


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, from the verified key alone (S-15)."""

    id: str
    """The key's id; `local` on an open loopback."""
    role: Access
    owner: str = ""
    rate_limit_per_minute: int | None = None
    """None takes the setting's."""
    reach: Reach = WHOLE
    """What of the hub it may see and use."""


LOCAL = Principal("local", Access.ADMIN)
"""Everyone on an open loopback; starting programs over HTTP stays off there unless it is switched on."""


class TokenFacts(Protocol):
    """What a client is told of the tokens that are taken beside keys."""

    @property
    def metadata_url(self) -> str:
        """Where it learns whose tokens they are."""
        ...

    @property
    def sign_in_name(self) -> str:
        """What the issuer is called where persons sign in to the console with it; empty where they cannot."""
        ...

    def scope_for(self, access: Access) -> str:
        """Return the scope that a role needs."""
        ...

    def may_hold_session(self, person: str) -> bool:
        """Tell whether this person could have signed in to the console as it is set up now."""
        ...

    def verify(self, token: bytes) -> Principal | None:
        """Return whom a token stands for; None when it is not good here."""
        ...


class KeyCheck(Protocol):
    """Knows the keys."""

    @property
    def sessions_are_shared(self) -> bool:
        """Whether other hubs open sessions that are good here."""
        ...

    @property
    def tokens(self) -> TokenFacts | None:
        """Tokens of an authorization server; None when none are taken."""
        ...

    def were_made(self) -> bool:
        """Tell whether a key was ever made here, revoked or not. Raises StoreError."""
        ...

    def ensure_admin(self) -> Path | None:
        """Make the first admin key when there is none; return the file to read it from. Raises StoreError."""
        ...

    def verify(self, secret: bytes) -> Principal | None:
        """Return whose key this is, in constant time over a hash (S-07); None for a wrong or expired one."""
        ...


class RateLimit(Protocol):
    """Counts requests and failed keys (S-19)."""

    def request(self, principal: Principal) -> float:
        """Count a request; return the seconds to wait, 0 when it may pass."""
        ...

    async def spend(self, principal: Principal) -> float:
        """Take a request from the budget of the day; return the seconds to the next one when it is used up."""
        ...

    def failure(self, address: str) -> float:
        """Count a wrong key; return the seconds to wait, 0 while few."""
        ...
