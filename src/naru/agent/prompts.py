"""What the loop says to models, in one place. No placeholder stands here that could be taken for a value (UPLIFT)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HANGUL = re.compile(r"[가-힣ㄱ-ㅎㅏ-ㅣ]")

_ENGLISH_START = re.compile(
    r"\W*(?:how|what|what's|who|whose|which|when|where|why|is|are|was|were|do|does|did|has|have|can|could|would|will|please|"
    r"show me|tell me|give me|list|find|search|get|read|compare|look) [a-z]",
    re.IGNORECASE,
)
"""A question in English may hold a name in Korean."""
LAST_TURN = "Answer the question from the results above, in plain text. Do not call a tool."
NO_TOOLS_NOTE = "No tools could be loaded for this request; answer without them and say so if it matters."
UNAVAILABLE = "Some tools cannot be used now; do not guess what they would have said:"
UNKNOWN_TOOL = "That call was not made: it names no tool that is offered, or is not valid. Offered tools: {tools}."
REPEATED = "This call has been made already; its result is above. Use it, or call something else."
MODEL_FAILED = "(The model failed before it could answer: {fault} What its tools gave:)"
CUT_OFF = "(The limit on the reply's length cut it off before its call of {tools} was complete; nothing was called.)"
CUT_MARK = "\n[… {count} characters left out …]\n"


def is_korean(text: str) -> bool:
    """Tell whether a person wrote this in Korean."""
    return len(_HANGUL.findall(text)) >= 2 and _ENGLISH_START.match(text) is None


def language_line(question: str) -> str:
    """Name the language to answer in, since small models drift to that of the results."""
    return "한국어로 답하세요." if is_korean(question) else "Answer in English."


def final_turn(question: str, results: str, attempt: int) -> tuple[str, str]:
    """Return system and user text of the last turn: results first, the question last (UPLIFT).

    An instruction after the question loses answers. Measured on 18 recorded results with the 0.5B: the first form
    gave 15 answers that held the facts, the second 14; it is for when the first gave none.
    """
    if attempt == 1 and is_korean(question):
        return "당신은 정보에서 답을 찾아 한국어 문장으로 말하는 도우미입니다.", f"정보:\n{results}\n\n질문: {question}"
    if attempt == 1:
        system = "You find the answer in the information and say it in a full sentence."
    else:
        system = f"Answer the question using the information. {language_line(question)}"
    return system, f"Information:\n{results}\n\nQuestion: {question}"


def nothing_found(question: str, call: str) -> str:
    """Say that a search gave nothing, in the person's language: small models invent a value instead (UPLIFT)."""
    return f"찾은 결과가 없습니다: {call}" if is_korean(question) else f"No results were found: {call}"


def cut(text: str, limit: int) -> str:
    """Keep head and tail of a long text within `limit` characters, the marker included (H12, N12)."""
    if len(text) <= limit:
        return text
    mark = CUT_MARK.format(count=len(text) - limit)
    room = max(0, limit - len(mark))
    head = room * 2 // 3
    tail = room - head
    return f"{text[:head]}{mark}{text[len(text) - tail :] if tail else ''}"[: max(limit, 0)]


def tools_note(problems: Sequence[str], *, missing: bool) -> str:
    """Return what the model is told about tools that it should have and has not (lesson 24)."""
    if problems:
        return f"{UNAVAILABLE} {'; '.join(problems)}."
    return NO_TOOLS_NOTE if missing else ""
