"""Which values of a server's record are secrets, told by their place, and how they come out of foreign text (S-34).

A value is one where its place says so: a header, variable, option or field whose name ends in `token`, `password`,
`key` and the like, the variable or `${input:…}` behind a placeholder, the user, query or path of a URL; elsewhere only
when it is as random as keys are. An ordinary word never is: to mask `postgres` wherever it stands hides nothing, blanks
what people read, and tells the password.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from naru.config import environment
from naru.stores.formats.expand import PLACEHOLDER
from naru.stores.formats.inputs import variable_of
from naru.stores.secrets.text import MASK

_SHORTEST = 6
_CERTAIN = 12
"""From this length on a secret is found inside of longer words, too."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SAYS_SECRET = frozenset(
    "token tokens secret secrets password passwords passwd passphrase passcode pass pwd pw key keys apikey apikeys auth"
    " authorization authentication credential credentials creds cookie session sessionid signature sig dsn bearer jwt"
    " pat".split()
)
_ENDS_SECRET = ("token", "secret", "password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "privatekey")
_SAYS_NOTHING = frozenset("value header base encoded json text string data raw material content".split())
"""Words after which the one before counts: AUTH_HEADER, TOKEN_BASE64."""
_PAIRS = frozenset({("session", "id"), ("connection", "string"), ("conn", "str")})
_OTHER_KEYS = frozenset("public primary sort foreign partition group cache lookup hot project host known".split())
_ORDINARY = re.compile(r"[A-Za-z]?[a-z]{0,11}|[A-Z]{0,12}|\d{0,7}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_PART = re.compile(r"[\s,;&]+")
_PLACE = re.compile(r"~/|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\\\\")
_PLAIN = re.compile(rb"[A-Za-z0-9_-]+")
"""What stands in JSON as it is, whoever wrote it."""


def says_secret(name: str) -> bool:
    """Tell whether the name of a variable, header, option or field says that its value is a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and words[-1] in _SAYS_NOTHING:
        words.pop()
    if not words:
        return False
    before = words[-2] if len(words) > 1 else ""
    if words[-1] in ("key", "keys") and before in _OTHER_KEYS:
        return False
    return words[-1] in _SAYS_SECRET or words[-1].endswith(_ENDS_SECRET) or (before, words[-1]) in _PAIRS


def is_ordinary(value: str) -> bool:
    """Tell whether a value is too short or too common a word to be searched for in what others write."""
    return len(value) < _SHORTEST or bool(_ORDINARY.fullmatch(value))


def looks_random(value: str) -> bool:
    """Tell whether a value is as random as keys are: letters and digits change places within one of its parts."""
    if len(value) < 16 or _UUID.fullmatch(value):
        return False
    for part in re.findall(r"[A-Za-z0-9]{8,}", value):
        changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(part))
        if changes >= 3:
            return True
    return False


def secrets_of(written: Mapping[str, Any], expanded: Mapping[str, Any] | None = None) -> set[str]:
    """Return the secret values of a config.

    Args:
        written: as it is stored, with its placeholders.
        expanded: with their values; None when there are none.
    """
    found = set(_behind_placeholders(written))
    for key, value in (written if expanded is None else expanded).items():
        found.update(_below(key, value))
    return {value for value in found if not is_ordinary(value)}


def _below(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _below(str(name), inner)
    elif key == "args" and isinstance(value, list):
        yield from _in_arguments([item for item in value if isinstance(item, str)])
    elif isinstance(value, list):
        for item in value:
            yield from _below(key, item)
    elif isinstance(value, str):
        # `auth` may be the token itself.
        yield from _in_value(value, is_named=says_secret(key))


def _in_arguments(args: list[str]) -> Iterator[str]:
    is_named = False
    for arg in args:
        name, mark, value = arg.partition("=")
        if not mark and "://" not in arg:
            name, mark, value = arg.partition(":")  # --header "X-Key: v"
        if mark and says_secret(name) and "/" not in name:
            yield from _in_value(value.strip(), is_named=True)
        else:
            yield from _in_value(arg, is_named=is_named and not arg.startswith("-"))
        is_named = arg.startswith("-") and not mark and says_secret(arg)


def _in_value(value: str, *, is_named: bool) -> Iterator[str]:
    """Yield what is secret in one value: all of it, or the parts that can be."""
    if "://" in value:
        yield from _in_url(value)
        return
    if value.lstrip().startswith("{"):  # a service account, for instance
        try:
            yield from _below("", json.loads(value))
        except (ValueError, RecursionError):
            yield value
        return
    parts = [part for part in _PART.split(value) if part]
    if is_named:
        yield value
        for part in parts:
            yield part
            yield part.partition("=")[2].strip("\"'")
            yield from _in_basic(part)
    else:
        yield from (part for part in parts if looks_random(part) and not _is_place(part.partition("=")[2] or part))


def _is_place(value: str) -> bool:
    """Tell whether a value is a path on this machine, whose folders may have names as random as keys."""
    path = Path(value)
    # As `os.path` tells it: a key may be too long for a name, which `Path` raises.
    is_there = path.is_absolute() and len(path.parts) > 1 and os.path.exists(Path(*path.parts[:2]))  # noqa: PTH110
    return is_there or bool(_PLACE.match(value))


def _in_basic(part: str) -> Iterator[str]:
    """Yield the password of a Basic credential."""
    try:
        user, colon, password = base64.b64decode(part, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return
    if colon and user.isprintable() and password.isprintable():
        yield password
        yield f"{user}:{password}"


def _in_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        if parts.password:
            yield unquote(parts.password)
            yield f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        elif parts.username:
            yield unquote(parts.username)
        for text in (parts.query, parts.fragment):
            for name, value in parse_qsl(text):
                if says_secret(name) or name.lower() in ("code", "assertion", "ticket") or looks_random(value):
                    yield value
    except ValueError:
        return
    if parts.netloc:
        yield from filter(looks_random, map(unquote, parts.path.split("/")))


def _behind_placeholders(value: Any) -> Iterator[str]:
    """Yield the values of variables whose own name says secret, and of `${input:…}`, which asks for one."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _behind_placeholders(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _behind_placeholders(inner)
    elif isinstance(value, str) and "$" in value:
        for match in PLACEHOLDER.finditer(value):
            kind, _, identifier = (match["special"] or "").partition(":")
            name = match["braced"] or match["opencode"] or match["bare"] or ""
            if kind == "input":
                name = variable_of(identifier)
            elif not says_secret(name):
                continue
            yield from _in_value(environment().get(name, ""), is_named=True)
            yield match["word"] or ""


_MOST_PASSING = 4
"""Tokens of one sign-in that are known: access and refresh token, and those before, which calls under way have."""


class _Sought:
    """What is looked for, made of some values when they are first looked for."""

    def __init__(self, known: frozenset[str]) -> None:
        self.known = known
        forms = sorted({form for value in known for form in _forms(value)}, key=len, reverse=True)
        self.pattern = re.compile(
            "|".join(
                re.escape(form) if len(form) >= _CERTAIN else rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])"
                for form in forms
            )
        )
        needles = {max(_PLAIN.findall(form.encode()), key=len, default=b"") for form in forms}
        self.needles = (b"",) if any(len(needle) < 4 for needle in needles) else tuple(sorted(needles))
        self.words = tuple(needle.decode("ascii") for needle in self.needles)


class SecretValues:
    """Known secrets, taken out of text and of decoded JSON. Safe for many readers while one learns."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._known: frozenset[str] = frozenset()
        self._lasting: frozenset[str] = frozenset()
        self._passing: tuple[str, ...] = ()
        self._made: _Sought | None = None
        self.learn(values)

    def learn(self, values: Iterable[str]) -> None:
        """Remember values that must never be seen; ordinary words are passed over."""
        new = {value for value in values if value not in self._lasting and not is_ordinary(value)}
        if new:
            self._lasting |= new
            self._known = self._lasting.union(self._passing)

    def learn_passing(self, value: str) -> None:
        """Remember a value that others will take the place of, such as a token; the last few of them stay known."""
        if value not in self._passing and not is_ordinary(value):
            self._passing = (*self._passing, value)[-_MOST_PASSING:]
            self._known = self._lasting.union(self._passing)

    def _sought(self) -> _Sought | None:
        known, made = self._known, self._made
        if not known:
            return None
        if made is None or made.known is not known:
            made = self._made = _Sought(known)
        return made

    def text(self, text: str) -> str:
        """Return a text without them."""
        sought = self._sought()
        if sought is None or not any(word in text for word in sought.words):
            return text
        return sought.pattern.sub(MASK, text)

    def data(self, raw: bytes, value: Any) -> Any:
        """Return decoded JSON without them, names of members included; changed in place.

        Args:
            raw: the bytes that it was decoded from: they tell fast that there is nothing to do.
            value: what they say.
        """
        if not self._known:
            return value
        sought = self._sought()
        if sought is None or not any(needle in raw for needle in sought.needles):
            return value
        root = [value]
        stack: list[Any] = [root]
        while stack:
            node = stack.pop()
            members = list(node.items() if isinstance(node, dict) else enumerate(node))
            for key, item in members:
                if isinstance(item, dict | list):
                    stack.append(item)
                elif isinstance(item, str):
                    node[key] = self.text(item)
                elif type(item) is int and str(item) in sought.known:
                    node[key] = MASK
                if isinstance(key, str) and (shown := self.text(key)) != key:
                    node[shown] = node.pop(key)
        return root[0]


def _forms(secret: str) -> set[str]:
    """Return a secret as it may stand in text: as it is, in a URL, in JSON, in Python, in HTML, in base64."""
    raw = secret.encode("utf-8", "surrogateescape")
    forms = {
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        html.escape(secret),
        raw.hex(),
    }
    # Base64 of a longer text shows it in one of three ways, by what stands before it.
    for before, unsure in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        certain = encoded[unsure : len(encoded) - ((before + len(raw)) % 3 != 0)]
        if len(certain) >= 2 * _SHORTEST:
            forms |= {certain, certain.replace("+", "-").replace("/", "_")}
    return forms
