"""Bodies of HTTP answers: capped, and inflated in steps when a server compresses unasked (R-07, R-08)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp

from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.pending import too_large
from naru.http1.faults import BrokenBodyError, EncodingError
from naru.http1.inflate import Inflater
from naru.http1.reply import Reply


async def chunks(response: aiohttp.ClientResponse | Reply) -> AsyncIterator[bytes]:
    """Yield a body as it arrives, inflated in bounded pieces.

    Raises:
        LinkError: it is in an encoding that we did not ask for and cannot undo, or a broken one.
    """
    try:
        if isinstance(response, Reply):
            while piece := await response.read():
                yield piece
            return
        inflater = Inflater.of(", ".join(response.headers.getall("Content-Encoding", [])))
        async for chunk in response.content.iter_any():
            if inflater is None:
                yield chunk
                continue
            for piece in inflater.pieces(chunk):
                yield piece
        if inflater is not None:
            inflater.close()
    except (EncodingError, BrokenBodyError) as error:
        raise LinkError(Failure("call", "encoding", f"the server {error}.")) from error


async def read_body(response: aiohttp.ClientResponse | Reply, cap: int) -> bytes:
    """Return a whole body. Raises LinkError when it is longer than the cap, before it is all read."""
    if (response.content_length or 0) > cap:
        raise LinkError(too_large(response.content_length, cap), delivered=True)
    if isinstance(response, Reply) and response.is_whole and "Content-Encoding" not in response.headers:
        body = response.take()
        if len(body) > cap:
            raise LinkError(too_large(None, cap), delivered=True)
        return body
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks(response):
        size += len(chunk)
        if size > cap:
            raise LinkError(too_large(None, cap), delivered=True)
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)
