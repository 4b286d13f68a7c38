"""Bodies of HTTP answers: capped, and inflated in steps when a server compresses unasked (R-07, R-08)."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

import aiohttp

from naru.connections.faults import Failure, LinkError
from naru.connections.transports.pending import too_large
from naru.connections.transports.posting import Reply


class Inflater:
    """Undoes a content encoding that we did not ask for, never past the cap (R-08)."""

    def __init__(self, encoding: str, cap: int) -> None:
        if encoding not in ("gzip", "deflate", "x-gzip"):
            raise LinkError(
                Failure("call", "encoding", f"the server answered in {encoding!r} although identity was asked for.")
            )
        self._cap = cap
        self._total = 0
        self._inner = zlib.decompressobj(47 if encoding != "deflate" else zlib.MAX_WBITS)

    def feed(self, data: bytes) -> bytes:
        """Return what the chunk inflates to. Raises LinkError beyond the cap."""
        try:
            out = self._inner.decompress(data, self._cap - self._total + 1)
        except zlib.error as error:
            raise LinkError(Failure("call", "encoding", "the server's compressed answer is broken.")) from error
        self._total += len(out)
        if self._total > self._cap:
            raise LinkError(too_large(None, self._cap, "max_body_bytes"), delivered=True)
        return out


async def chunks(response: aiohttp.ClientResponse | Reply, cap: int) -> AsyncIterator[bytes]:
    """Yield a body as it arrives, inflated; event streams may be endless, so the cap holds for one inflated chunk."""
    encoding = response.headers.get("Content-Encoding", "").lower()
    source = response if isinstance(response, Reply) else response.content
    if encoding in ("", "identity"):
        async for chunk in source.iter_any():
            yield chunk
        return
    inflater = Inflater(encoding, cap)
    async for chunk in source.iter_any():
        yield inflater.feed(chunk)


async def read_body(response: aiohttp.ClientResponse | Reply, cap: int) -> bytes:
    """Return a whole body. Raises LinkError when it is longer than the cap, before it is all read."""
    if (response.content_length or 0) > cap:
        raise LinkError(too_large(response.content_length, cap, "max_body_bytes"), delivered=True)
    if isinstance(response, Reply) and response.is_whole and "Content-Encoding" not in response.headers:
        body = response.take()
        if len(body) > cap:
            raise LinkError(too_large(None, cap, "max_body_bytes"), delivered=True)
        return body
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks(response, cap):
        size += len(chunk)
        if size > cap:
            raise LinkError(too_large(None, cap, "max_body_bytes"), delivered=True)
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)
