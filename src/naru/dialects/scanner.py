"""Finds markers in text, all dialects at once, and tells how much of its end may become one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from naru.dialects.catalog.marked import MARKED, STOPS, STRUCTURE
from naru.dialects.catalog.thinking import ANSWER_TAGS, THINKING
from naru.dialects.dialect import Body, Dialect, Thinking

Kind = Literal["calls", "thinking", "thinking-end", "structure", "stop", "closer", "answer", "answer-end"]

TRIGGER = re.compile(r"[<\[\]{`\n\r✿◁]|\s\Z")
"""Without one of these nothing but plain text can be there, in the middle of a line."""

_TRIGGERS = "<[]✿◁H\n"
_TRIGGER_CHARACTER = re.compile("[<\\[\\]✿◁H\n]")


class Marker(NamedTuple):
    """What a literal marker stands for."""

    kind: Kind
    row: Dialect | None = None
    thinking: Thinking | None = None


class Markers(NamedTuple):
    """Every marker, compiled."""

    table: dict[str, Marker]
    pattern: re.Pattern[str]
    """Matches a marker, a line break, a run of backticks, or a bracket that may begin JSON."""
    calls: re.Pattern[str]
    """Matches only markers that announce calls."""
    prefixes: frozenset[str]
    longest: int
    hinted: bool
    """Whether ordinary words are among the markers."""


@lru_cache(maxsize=4)
def markers(hint: str = "") -> Markers:
    """Compile the catalog; `hint` admits rows that are too ordinary to count without it."""
    table: dict[str, Marker] = {}
    for row in MARKED:
        for closer in (*row.closers, *(token for token, role in row.marks if role in ("close", "end"))):
            if closer[0] in _TRIGGERS and closer != "]":
                table[closer] = Marker("closer", row)
    for token in STRUCTURE:
        table.setdefault(token, Marker("structure"))
    for token in STOPS:
        table.setdefault(token, Marker("stop"))
    for opener, closer in ANSWER_TAGS.items():
        table[opener], table[closer] = Marker("answer"), Marker("answer-end")
    for thinking in THINKING:
        if not thinking.hinted or thinking.hinted in hint:
            for closer in thinking.closers:
                table.setdefault(closer, Marker("thinking-end", thinking=thinking))
            table[thinking.opener] = Marker("thinking", thinking=thinking)
    for row in MARKED:
        for opener in row.openers:
            table[opener] = Marker("calls", row)
    calls = [token for token, marker in table.items() if marker.kind == "calls"]
    return Markers(
        table,
        # Every alternative begins with a literal: only then does `re` look for first characters before it tries them.
        re.compile(f"\n|``*|{_alternatives(table)}|{{|\\["),
        re.compile(_alternatives(calls)),
        frozenset(token[:size] for token in table for size in range(1, len(token))),
        max(map(len, table)),
        bool(hint),
    )


def _alternatives(tokens: dict[str, Marker] | list[str]) -> str:
    return "|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True))


@lru_cache(maxsize=1)
def draft_openers() -> dict[str, Dialect]:
    """Return the markers that may announce a call inside reasoning."""
    return {token: marker.row for token, marker in markers().table.items() if marker.kind == "calls" and marker.row}


@lru_cache(maxsize=1)
def stray_closers() -> tuple[str, ...]:
    """Return the markers that may come after a call and say nothing."""
    return tuple(token for token, marker in markers().table.items() if marker.kind in ("closer", "stop"))


def held_back(text: str, start: int, prefixes: frozenset[str], longest: int) -> int:
    """Return the position from which the end of `text` may become a marker, or its length."""
    for found in _TRIGGER_CHARACTER.finditer(text, max(start, len(text) - longest)):
        if text[found.start() :] in prefixes:
            return found.start()
    return len(text)


@lru_cache(maxsize=128)
def body_pattern(body: Body) -> tuple[re.Pattern[str], frozenset[str], int]:
    """Compile what ends a body, or may be a call inside it."""
    tokens = [*body.closers, *body.pending]
    if body.drafts:
        tokens += draft_openers()
    prefixes = frozenset(token[:size] for token in tokens for size in range(1, len(token)))
    return re.compile(_alternatives(tokens) or r"(?!)"), prefixes, max(map(len, tokens), default=1)


@lru_cache(maxsize=256)
def first_body(prompt: str) -> Body | None:
    """Tell from the end of the prompt what the reply begins inside of; None for plain text."""
    tail = prompt
    header = tail.rfind("<|message|>")
    if header >= 0 and not tail[header + 11 :].strip() and "<|channel|>" in tail:
        kind: Literal["reasoning", "content"] = "reasoning"
        if "analysis" not in tail[tail.rfind("<|channel|>") :]:
            kind = "content"
        return Body(kind, ("<|end|>", "<|return|>"), ("<|start|>assistant",))
    for name in ("think", "response"):
        if tail.rfind(f"<|open|>{name}<|sep|>") > tail.rfind(f"<|close|>{name}<|sep|>"):
            reasoning = name == "think"
            pending = ("<|open|>tools<|sep|>", *(("<|open|>response<|sep|>",) if reasoning else ()))
            return Body("reasoning" if reasoning else "content", (f"<|close|>{name}<|sep|>",), pending)
    best, found = -1, None
    for thinking in THINKING:
        at = tail.rfind(thinking.opener)
        if thinking.hinted or at <= best or at <= max(tail.rfind(closer) for closer in thinking.closers):
            continue
        best, found = at, thinking
    if found is None:
        return None
    closers = found.closers
    if found.opener.endswith(":"):
        closers = (found.closers[0] + tail[best + len(found.opener) :].split(">")[0] + ">",)
    return Body("reasoning", closers, drafts=True)
