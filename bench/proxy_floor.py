"""The floor: a bare pass-through of uvicorn, httptools, uvloop and aiohttp. `… PORT UPSTREAM`."""

from __future__ import annotations

import sys

import aiohttp
import uvicorn


class Floor:
    """Copies the body out and the answer back, nothing else."""

    def __init__(self, upstream: str) -> None:
        self.url = f"{upstream}/v1/chat/completions"
        self.session: aiohttp.ClientSession | None = None

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        if scope["type"] != "http":
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if self.session is None:
            self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        async with self.session.post(self.url, data=body, headers={"content-type": "application/json"}) as answer:
            kind = answer.headers["content-type"].encode()
            await send({"type": "http.response.start", "status": answer.status, "headers": [(b"content-type", kind)]})
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    uvicorn.run(Floor(sys.argv[2]), port=int(sys.argv[1]), log_level="error", access_log=False, lifespan="off")
