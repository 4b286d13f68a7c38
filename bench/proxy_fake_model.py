"""A model endpoint that costs next to nothing: raw asyncio, one JSON answer or a stream of 200 deltas.

`python bench/proxy_fake_model.py PORT`. The request's body chooses: `"stream": true`, `"pace_ms": 5`, and
`"call": true` for a tool call in Hermes tags, cut into as many deltas.
"""

from __future__ import annotations

import asyncio
import json
import sys

import uvloop

DELTAS = 200


def _chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "fake",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    data = b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


def _call_text() -> str:
    return (
        '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "content": "'
        + "word " * 180
        + '"}}\n</tool_call>'
    )


def _deltas(text: str) -> list[bytes]:
    size = -(-len(text) // DELTAS)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [_chunk({"role": "assistant", "content": ""}), *(_chunk({"content": piece}) for piece in pieces)]


_DONE = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM = [*_deltas("token " * DELTAS), _chunk({}, "stop") + _DONE]
CALL = [*_deltas(_call_text()), _chunk({}, "stop") + _DONE]
_ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "fake",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello there."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(_ANSWER), _ANSWER)
_MODELS = json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}).encode()
MODELS = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(_MODELS), _MODELS)
SHORT_TOKENS = 7
"""A limit that asks for the short answer, by clients of APIs that pass no field of ours."""
SHORT = [_chunk({"role": "assistant", "content": "Hello there."}), _chunk({}, "stop") + _DONE]


class Model(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.data = b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, rest = self.data.partition(b"\r\n\r\n")
        if not found:
            return
        if head.startswith(b"GET"):
            self.data = rest
            self.transport.write(MODELS)
            return
        lowered = head.lower()
        at = lowered.find(b"content-length:")
        size = int(lowered[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(rest) < size:
            return
        body, self.data = json.loads(rest[:size]), rest[size:]
        self._answer(body)

    def _answer(self, body: dict[str, object]) -> None:
        # A gateway may ask for a stream on behalf of a client that did not: the short answer keeps it comparable.
        if not body.get("stream"):
            self.transport.write(ANSWER)
            return
        pieces = (
            SHORT
            if body.get("short") or body.get("max_tokens") == SHORT_TOKENS
            else CALL
            if body.get("call")
            else STREAM
        )
        pace = body.get("pace_ms")
        if not pace:
            self.transport.write(_HEAD + b"".join(pieces))
            return
        self.transport.write(_HEAD)
        self._pace(pieces, 0, float(pace) / 1000)  # type: ignore[arg-type]

    def _pace(self, pieces: list[bytes], at: int, seconds: float) -> None:
        if self.transport.is_closing():
            return
        self.transport.write(pieces[at])
        if at + 1 < len(pieces):
            asyncio.get_running_loop().call_later(seconds, self._pace, pieces, at + 1, seconds)


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Model, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
