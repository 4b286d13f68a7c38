"""Finds markers in text, all dialects at once, and tells how much of its end may become one."""

from __future__ import annotations

from functools import lru_cache

from naru.dialects.catalog.marked import MARKED, STOPS, STRUCTURE
from naru.dialects.catalog.thinking import ANSWER_TAGS, THINKING
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.tokens import Tokens
from naru.dialects.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    from naru.dialects.dialect import Dialect, Thinking

    Kind = Literal["calls", "thinking", "thinking-end", "structure", "stop", "closer", "answer", "answer-end"]
    BodyKind = Literal["reasoning", "content", "code", "dropped"]

TRIGGER = lazy_pattern(r"[<\[\]{`\n\r✿◁]|[^\S ]\Z|\s \Z|\A \Z")
"""Without one of these nothing but plain text can be there, in the middle of a line; one blank may be at its end."""

_TRIGGERS = "<[]✿◁H"


class Marker(Value):
    """What a literal marker stands for."""

    __slots__ = __match_args__ = ("kind", "row", "thinking")

    def __init__(self, kind: Kind, row: Dialect | None = None, thinking: Thinking | None = None) -> None:
        self.kind: Final[Kind] = kind
        self.row: Final = row
        self.thinking: Final = thinking


class Markers:
    """Every marker; the tokens' first characters are joined by a line break, a backtick and brackets of JSON."""

    __slots__ = ("hinted", "table", "tokens")

    def __init__(self, table: dict[str, Marker], *, hinted: bool) -> None:
        self.table: Final = table
        self.tokens: Final = Tokens(table, also="\n`{[")
        self.hinted: Final = hinted
        """Whether ordinary words are among the markers."""


class Body:
    """What follows a header or a reasoning tag, up to one of `closers`.

    Args:
        kind: what the text is; `code` is content whose closer is part of it.
        closers: what ends the body.
        pending: closers that end the body without being part of it.
        drafts: whether calls in it count when it is never closed.
    """

    __slots__ = ("closers", "kind", "pending", "tokens")

    def __init__(
        self, kind: BodyKind, closers: tuple[str, ...], pending: tuple[str, ...] = (), *, drafts: bool = False
    ) -> None:
        self.kind: Final[BodyKind] = kind
        self.closers: Final = closers
        self.pending: Final = pending
        self.tokens: Final = _body_tokens(closers, pending, drafts)
        """What ends the body, or may be a call inside it."""


@lru_cache(maxsize=64)
def _body_tokens(closers: tuple[str, ...], pending: tuple[str, ...], drafts: bool) -> Tokens:
    return Tokens({*closers, *pending, *(draft_openers() if drafts else ())})


@lru_cache(maxsize=4)
def markers(hint: str = "") -> Markers:
    """Gather the catalog's markers; `hint` admits rows that are too ordinary to count without it."""
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
    return Markers(table, hinted=bool(hint))


@lru_cache(maxsize=1)
def draft_openers() -> dict[str, Dialect]:
    """Return the markers that may announce a call inside reasoning."""
    return {opener: row for row in MARKED for opener in row.openers}


@lru_cache(maxsize=1)
def draft_tokens() -> Tokens:
    """Return the tokens of `draft_openers`."""
    return Tokens(draft_openers())


@lru_cache(maxsize=1)
def stray_closers() -> Tokens:
    """Return the markers that may come after a call and say nothing."""
    return Tokens(token for token, marker in markers().table.items() if marker.kind in ("closer", "stop"))


@lru_cache(maxsize=1)
def call_closers() -> Tokens:
    """Return the closing tags of calls and of what stands around them."""
    return Tokens(token for token, marker in markers().table.items() if marker.kind == "closer")


@lru_cache(maxsize=256)
def first_body(prompt: str) -> Body | None:
    """Tell from the end of the prompt what the reply begins inside of; None for plain text."""
    tail = prompt
    header = tail.rfind("<|message|>")
    if header >= 0 and not tail[header + 11 :].strip() and "<|channel|>" in tail:
        thinks = "analysis" in tail[tail.rfind("<|channel|>") :]
        return Body("reasoning" if thinks else "content", ("<|end|>", "<|return|>"), ("<|start|>assistant",))
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
