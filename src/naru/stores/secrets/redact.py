"""The one redactor: secrets leave neither by an API, nor by a log line, nor by an error (S-34, H7).

Two ways: `mask` and `masked_config` for what is shown on purpose, `Redactor` for text of our own that may hold one.
What a server says is cleaned of that server's secrets where it comes in (`SecretValues`, `connections.transports`).
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakSet

from naru.stores.formats.expand import PLACEHOLDER, is_placeholder
from naru.stores.secrets.text import MASK, without_secrets, without_shapes, without_url_secrets
from naru.stores.secrets.values import SecretValues, says_secret

_SHORTEST_SECRET = 6
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "mcp-protocol-version"})
_FLAG = re.compile(r"(?P<flag>--?[A-Za-z][\w-]*)(?P<equals>=)(?P<value>.+)", re.DOTALL)
_NAME_VALUE = re.compile(r"(?P<flag>[A-Z][A-Z0-9_]*)(?P<equals>=)(?P<value>.+)", re.DOTALL)


def mask(secret: str) -> str:
    """Return what is shown in a secret's place: `••••59 (71 chars)`; the tail only of long ones."""
    tail = secret[-2:] if len(secret) >= 20 else ""
    return f"{MASK}{tail} ({len(secret)} chars)"


def is_mask(value: object) -> bool:
    """Tell whether a value is what `mask` shows, so that writing it back keeps the secret."""
    return isinstance(value, str) and MASK in value


def masked_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's config as read APIs show it (H7): placeholders as written, values of secrets masked."""
    return {key: _masked_field(key, value) for key, value in config.items()}


def unmasked_config(new: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Put the kept secret wherever the new config has its mask (S-34).

    Raises:
        ValueError: a mask stands where no secret is kept; names the field.
    """
    shown = masked_config(kept)

    def restore(value: Any, masked: Any, original: Any, place: str) -> Any:
        if isinstance(value, str) and is_mask(value):
            if value == masked and isinstance(original, str):
                return original
            raise ValueError(f"config.{place} is a mask, and no such secret is kept: give the value itself")
        if isinstance(value, dict):
            masked_table = masked if isinstance(masked, dict) else {}
            original_table = original if isinstance(original, dict) else {}
            return {
                key: restore(item, masked_table.get(key), original_table.get(key), f"{place}.{key}")
                for key, item in value.items()
            }
        if isinstance(value, list):
            pairs = dict(zip(masked, original, strict=False)) if isinstance(masked, list) else {}
            return [
                restore(item, item if item in pairs else None, pairs.get(item), f"{place}[{position}]")
                if isinstance(item, str)
                else item
                for position, item in enumerate(value)
            ]
        return value

    return {key: restore(value, shown.get(key), kept.get(key), key) for key, value in new.items()}


def masked_url(url: str) -> str:
    """Mask user info and secret query values of a URL."""
    return without_url_secrets(url, keep=PLACEHOLDER)


def _masked_field(key: str, value: Any) -> Any:
    if key == "env" and isinstance(value, dict):
        return {name: _masked_text(item) for name, item in value.items()}
    if key == "headers" and isinstance(value, dict):
        return {name: item if name.lower() in _HARMLESS_HEADERS else _masked_text(item) for name, item in value.items()}
    if key == "args" and isinstance(value, list):
        return _masked_args(value)
    if isinstance(value, str):
        return _masked_text(value) if says_secret(key) else masked_url(value)
    if isinstance(value, dict):
        return {name: _masked_field(name, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked_field(key, item) for item in value]
    return value


def _masked_text(value: Any) -> Any:
    if not isinstance(value, str):
        return mask(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not value or is_mask(value) or is_placeholder(value):
        return value
    if not PLACEHOLDER.search(value):
        return mask(value)
    # Placeholders stay readable; what is written beside them, or as their default, may be the secret itself.
    scheme, rest = _split_scheme(value)
    shown, at = [scheme], 0
    for match in PLACEHOLDER.finditer(rest):
        shown += [_masked_literal(rest[at : match.start()]), _masked_default(match[0])]
        at = match.end()
    return "".join([*shown, _masked_literal(rest[at:])])


def _split_scheme(value: str) -> tuple[str, str]:
    match = re.match(r"(?i)(?:bearer|basic|token|api-?key|key)\s+", value)
    return (match[0], value[match.end() :]) if match else ("", value)


def _masked_literal(text: str) -> str:
    return MASK if len(text) >= _SHORTEST_SECRET else text


def _masked_default(placeholder: str) -> str:
    match = re.fullmatch(r"(\$\{[^}:]+:?[-?+])(.*)\}", placeholder, re.DOTALL)
    if not match or "${" in match[2] or ":?" in match[1]:
        return placeholder
    return f"{match[1]}{_masked_literal(match[2])}}}"


def _masked_args(args: list[Any]) -> list[Any]:
    shown: list[Any] = []
    expects_secret = False
    for arg in args:
        if not isinstance(arg, str):
            shown.append(arg)
            continue
        if expects_secret and not arg.startswith("-"):
            shown.append(_masked_text(arg))
            expects_secret = False
            continue
        assignment = _secret_assignment(arg)
        if assignment:
            shown.append(f"{assignment['flag']}={_masked_text(assignment['value'])}")
        elif ":" in arg and says_secret(arg.partition(":")[0]) and "://" not in arg:  # --header "X-Key: v"
            name, _, value = arg.partition(":")
            shown.append(f"{name}: {_masked_text(value.strip())}")
        else:
            shown.append(without_shapes(masked_url(arg)))
        expects_secret = arg.startswith("-") and "=" not in arg and says_secret(arg)
    return shown


def _secret_assignment(arg: object) -> re.Match[str] | None:
    if not isinstance(arg, str):
        return None
    match = _FLAG.fullmatch(arg) or _NAME_VALUE.fullmatch(arg)
    return match if match and says_secret(match["flag"]) else None


class Redactor:
    """Removes known secrets, and what looks like one, from free text: log lines, errors, stderr of children."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._known = SecretValues(secrets)
        self._passing: WeakSet[SecretValues] = WeakSet()

    def passing(self) -> SecretValues:
        """Return a place for values that come and go, such as tokens: they are known as long as it is held."""
        made = SecretValues()
        with self._lock:
            self._passing.add(made)
        return made

    def learn(self, secrets: Iterable[str]) -> None:
        """Remember values that must never be seen."""
        with self._lock:
            self._known.learn(secrets)

    def clean(self, text: str) -> str:
        """Return the text without secrets; linear in its length."""
        text = self._known.text(text)
        with self._lock:
            passing = list(self._passing)
        for known in passing:
            text = known.text(text)
        return without_secrets(text)


REDACTOR = Redactor()
"""The process's own: whoever expands a configuration or makes a key tells it."""


class RedactingFilter(logging.Filter):
    """Cleans each record before a handler sees it: message, arguments, traceback."""

    def __init__(self, redactor: Redactor = REDACTOR) -> None:
        super().__init__()
        self._redactor = redactor
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the record's text; never drop it."""
        record.msg = one_line(self._redactor.clean(record.getMessage()))
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redactor.clean(record.exc_text)
            record.exc_info = None
        if record.stack_info:
            record.stack_info = self._redactor.clean(record.stack_info)
        return True


_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str) -> str:
    """Write control characters and line ends visibly, so that a name cannot forge a log line (S-36)."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def install_log_redaction() -> None:
    """Put the redactor before every handler of the root logger; call it after the handlers are there."""
    for handler in logging.getLogger().handlers:
        if not any(isinstance(kept, RedactingFilter) for kept in handler.filters):
            handler.addFilter(RedactingFilter())
