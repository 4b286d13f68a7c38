"""What every face tells of the same answer over every wire, and what an API has no word for (issue 18, acceptance).

`docs/reference/faces.md` is made from here; `test_matrix.py` holds each cell.
"""

from __future__ import annotations

FACES = {
    "chat completions": "/v1/chat/completions",
    "Responses": "/v1/responses",
    "Messages": "/v1/messages",
    "Ollama": "/api/chat",
}
WIRES = ("openai", "anthropic", "responses", "ollama", "gemini")
SCENARIOS = {
    "text": "words",
    "own tool": "a call of the client's own tool, its result, the words after it",
    "hub tool": "a tool of the hub, run here",
    "parallel": "two calls in one turn",
    "image": "a picture in the person's turn",
    "reasoning": "the model's thoughts beside its words",
    "cut": "an answer cut off by its limit, marked as that",
    "error": "an endpoint's refusal, with its status and its reason",
    "cancelled": "the client leaves, and the model is no longer asked",
}
UNSAID: dict[tuple[str, str], str] = {}
"""Face and scenario → why it cannot be expressed."""


def table() -> str:
    """Return the matrix as Markdown: a cell holds for streams and whole answers, over every wire."""
    head = f"| | {' | '.join(FACES)} |\n|---|{'---|' * len(FACES)}\n"
    rows = [
        f"| {name}: {said} | {' | '.join(UNSAID.get((face, name), 'yes') for face in FACES)} |"
        for name, said in SCENARIOS.items()
    ]
    return head + "\n".join(rows) + "\n"
