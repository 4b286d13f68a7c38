"""Seals what a stateless client carries for us: nobody can change it, or use it for another request or caller.

A seal is not a secret: it proves, it does not hide (S-58, SEP-2322).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

import orjson

from naru.encoding import encode
from naru.gateway.wire.protocol import INVALID_PARAMS, RpcError
from naru.messages import JsonObject

MAC_BYTES = 16


class Sealer:
    """Seals small JSON objects under a key of this process."""

    def __init__(
        self, key: bytes | None = None, *, ttl_seconds: float = 600.0, clock: Callable[[], float] = time.time
    ) -> None:
        self._key = key or secrets.token_bytes(32)
        self._ttl_seconds = ttl_seconds
        self._clock = clock

    def seal(self, payload: JsonObject, *, caller: str, binding: bytes) -> str:
        """Return a token that `open` accepts from the same caller, for the same binding, until it expires."""
        body = encode([int(self._clock() + self._ttl_seconds), payload])
        return _text(self._mac(body, caller, binding) + body)

    def open(self, token: str, *, caller: str, binding: bytes) -> JsonObject:
        """Return what was sealed.

        Raises:
            RpcError: -32602; it does not say which of caller, binding, time or text was wrong.
        """
        refused = RpcError(INVALID_PARAMS, "requestState is not valid for this request. Start the request again.")
        try:
            raw = base64.b64decode(token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, UnicodeEncodeError):
            raise refused from None
        mac, body = raw[:MAC_BYTES], raw[MAC_BYTES:]
        if _text(raw) != token or not hmac.compare_digest(mac, self._mac(body, caller, binding)):
            raise refused
        expires, payload = orjson.loads(body)
        if self._clock() > expires:
            raise refused
        return dict(payload)

    def mark(self, text: str, *, caller: str) -> str:
        """Return a short proof that `text` was handed to `caller`; it does not expire."""
        return _text(self._mac(b"mark", caller, text.encode()))

    def _mac(self, body: bytes, caller: str, binding: bytes) -> bytes:
        digest = hashlib.blake2b(key=self._key, digest_size=MAC_BYTES)
        for part in (caller.encode(), binding, body):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return digest.digest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def binding_of(method: str, params: JsonObject) -> bytes:
    """Return what a state is bound to: the method, what it names, and its arguments."""
    named = [method, params.get("name"), params.get("uri"), params.get("arguments")]
    return hashlib.blake2b(encode(named, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()
