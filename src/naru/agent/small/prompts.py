"""What a small model is told. Each question stands last: an instruction after it loses answers."""

from __future__ import annotations

MOST_OF_ALL = "Most of all:"  # Without it, what is nearest to the question is passed over.


def answer_in(language: str) -> str:
    """Say in which language to answer: small models drift to that of the results."""
    return f"Answer in {language or 'the language of the question'}."


def final_turn(question: str, results: str, attempt: int, language: str) -> tuple[str, str]:
    """Return instruction and user text of the last turn: results first, the question last."""
    first = "You find the answer in the information and say it in a full sentence."
    how = first if attempt == 1 else "Answer the question from the information alone, word for word."
    return f"{how} {answer_in(language)}", f"Information:\n{results}\n\nQuestion: {question}"


def done_turn(language: str, results: str) -> tuple[str, str]:
    """Return instruction and user text for saying what was changed; an order shown again is explained, not told."""
    return f"Tell the person in one sentence what was done. {answer_in(language)}", f"Done: {results}"


def translation(text: str, language: str) -> tuple[str, str]:
    """Return instruction and user text for putting an answer into the language of the question."""
    return f"You translate into {language}. Keep names, ids and numbers as they are.", text


def nothing_turn(language: str, wanted: str, failure: str = "") -> tuple[str, str]:
    """Return instruction and user text for saying that nothing was found, or why, in the words of the tool that failed.

    The question is not shown, or it would be answered.
    """
    told = f" in {language}" if language else ""
    what = f" that nothing was found, and why: {failure}" if failure else f": {wanted} was not found."
    return answer_in(language), f"Tell me in one short sentence{told}{what}"
