"""What the loop says to models, in one place. No placeholder stands here that could be taken for a value (UPLIFT)."""

from __future__ import annotations

import re

_HANGUL = re.compile(r"[가-힣ㄱ-ㅎㅏ-ㅣ]")

LAST_TURN = "Answer the question from the results above, in plain text. Do not call a tool."
NO_TOOLS_NOTE = "No tools could be loaded for this request; answer without them and say so if it matters."
REPEATED = "This call has been made already; its result is above. Use it, or call something else."
CUT_MARK = "\n[… {count} characters left out …]\n"


def is_korean(text: str) -> bool:
    """Tell whether a person wrote this in Korean."""
    return len(_HANGUL.findall(text)) >= 2


def language_line(question: str) -> str:
    """Name the language to answer in, since small models drift to that of the results."""
    return "한국어로 답하세요." if is_korean(question) else "Answer in English."


def final_question(question: str, results: str) -> str:
    """Put results first and the question last; an instruction after the question loses answers (UPLIFT)."""
    if is_korean(question):
        return (
            f"다음은 도구로 찾은 정보입니다.\n\n{results}\n\n"
            f"위 정보만 보고 질문에 한국어 문장으로 답하세요.\n질문: {question}"
        )
    return (
        f"This is what the tools found.\n\n{results}\n\n"
        f"Answer the question from this information, in plain text.\nQuestion: {question}"
    )


def cut(text: str, limit: int) -> str:
    """Keep head and tail of a long text within `limit` characters, the marker included (H12, N12)."""
    if len(text) <= limit:
        return text
    mark = CUT_MARK.format(count=len(text) - limit)
    room = max(0, limit - len(mark))
    head = room * 2 // 3
    tail = room - head
    return f"{text[:head]}{mark}{text[len(text) - tail :] if tail else ''}"[: max(limit, 0)]
