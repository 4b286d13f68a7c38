"""What one browser asks of the issuer: state, nonce and PKCE's verifier all follow from a cookie that it alone has.

So nothing is kept here for people who are nobody yet: asking costs no memory, and any hub can take the answer.
"""

from __future__ import annotations

import base64
import hmac
import re
import secrets
import time
from dataclasses import dataclass

MOST_SECONDS = 600
"""How long a person may take to say yes."""
PAGE = re.compile(r"#/[A-Za-z0-9._~%?=&:@!$'()*+,;/-]{0,500}")
"""A page of the console as its address names it: a fragment of our own page, so it can lead to nobody else's."""
LANGUAGES = ("en", "ko")
_COOKIE = re.compile(r"([A-Za-z0-9_-]{43})\.([0-9]{1,12})\.(en|ko)\.([A-Za-z0-9_-]{0,700})")


@dataclass(frozen=True, slots=True)
class Question:
    """One sign-in that was begun, and where it leads back to."""

    secret: str
    """256 random bits."""
    begun: int
    """Epoch seconds."""
    language: str
    page: str

    @staticmethod
    def new(page: str, language: str) -> Question:
        """Return one that nobody has asked."""
        return Question(secrets.token_urlsafe(32), int(time.time()), language, page)

    @property
    def cookie(self) -> str:
        """What the browser holds."""
        return f"{self.secret}.{self.begun}.{self.language}.{_text(self.page.encode())}"

    @property
    def state(self) -> str:
        """Comes back with the answer: who does not have the cookie cannot know it, nor change what is in the cookie."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """Comes back inside the ID token, which no other sign-in can have."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """What a code is good for: shown to the issuer alone (RFC 7636)."""
        return self._derived("verifier")

    @property
    def is_late(self) -> bool:
        """Whether the person took too long."""
        return time.time() > self.begun + MOST_SECONDS

    def is_answered_by(self, state: str) -> bool:
        """Tell whether an answer with this state is one to this question."""
        return hmac.compare_digest(self.state.encode(), state.encode())

    def _derived(self, what: str) -> str:
        return _text(hmac.digest(self.cookie.encode(), what.encode(), "sha256"))


def read_question(cookie: str) -> Question | None:
    """Return the question of a cookie; None for what is none."""
    found = _COOKIE.fullmatch(cookie)
    if found is None:
        return None
    secret, begun, language, page = found.groups()
    try:
        led = base64.urlsafe_b64decode(page + "=" * (-len(page) % 4)).decode()
    except ValueError:
        return None
    return Question(secret, int(begun), language, led) if PAGE.fullmatch(led) else None


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
