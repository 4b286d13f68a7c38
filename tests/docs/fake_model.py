"""An OpenAI-compatible endpoint of the standard library for running the documents: it always says the same.

Its models answer in text; where the documents' own tools are offered they get a call, as fenced JSON in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.loopback import QuietHandler, answering

MODEL = "qwen2.5-coder-0.5b"
ANSWER = "There are 7 days left."
CALL = '```json\n{"name": "get_weather", "arguments": {"city": "Busan"}}\n```'
PRICE = '```json\n{"name": "price", "arguments": {"product": "pen"}}\n```'


def answer_to(asked: str) -> str:
    """Return a call of a document's tool where one is offered, and an answer once its result is there."""
    if "get_weather" in asked:
        return CALL
    if "1200" in asked and "price of a pen" in asked:  # examples/agent.py, with its tool's result
        return "A pen costs 1200 won."
    if "pen or book." in asked:
        return PRICE
    if "how many products?" in asked:  # the table of every command
        return "SELECT count(*) FROM products"
    return ANSWER


class Handler(QuietHandler):
    """Answers /v1/models and /v1/chat/completions."""

    def do_GET(self) -> None:
        self.send_json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = answer_to(json.dumps(asked))
        head = {"id": "chatcmpl-1", "created": 1, "model": asked.get("model", MODEL)}
        if not asked.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self.send_json({**head, "object": "chat.completion", "choices": [choice]})
            return
        chunk = {**head, "object": "chat.completion.chunk"}
        events = [
            {
                **chunk,
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}],
            },
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send_whole(body.encode(), "text/event-stream")


@contextmanager
def fake_model() -> Iterator[str]:
    """Serve it on a free port; gives the base URL."""
    with answering(Handler) as url:
        yield f"{url}/v1"
