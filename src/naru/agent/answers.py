"""Is this an answer? Small models repeat the question, write a call, or name values that no result holds (UPLIFT)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from naru.agent.prompts import is_korean
from naru.agent.selection import terms
from naru.agent.sources import Sources

_CALL_SHAPES = re.compile(
    r'"(?:name|function|tool|arguments|parameters)"\s*:|<tool_call>|</?function|\[TOOL_CALLS\]|```(?:json|tool_code)'
)
_CALL_MARKS = re.compile(r"<tool_call>|</?function|\[TOOL_CALLS\]|```tool_code")
_CALL_NAME = re.compile(r'"(?:name|function|tool)"\s*:')
_CALL_ARGUMENTS = re.compile(r'"(?:arguments|parameters|args)"\s*:')
"""JSON that a person asked for may have a name; with arguments beside it, it is a call."""
_EMPTY = frozenset(
    "information found provided result results available following are is the a of in for and "
    "니다 습니 입니 합니 됩니 겠습 에서 으로 하는 있는 있습 다음 같습 정보 제공 찾은 찾아 결과 도구 문서 위의".split()
)
_YES_NO = re.compile(r"\s*(?:yes|no|예|네|아니)\b", re.IGNORECASE)
_OVER_AND_OVER = re.compile(r"(\S.{4,80}?)(?:[\s,.;:]{0,3}\1){3,}", re.DOTALL)
_LOOKED_AT = 2000
COUNTS = re.compile(r"\bhow (many|much)\b|\bcount\b|\bnumber of\b|몇|개수|얼마|며칠|남은", re.IGNORECASE)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_FENCE = re.compile(r"^```\w*\n?|\n?```$")


def tidy(text: str) -> str:
    """Strip a fence or a label round the whole of an answer."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and stripped.count("```") == 2:
        stripped = _FENCE.sub("", stripped).strip()
    return re.sub(r"^(?:Answer|답변|답)\s*[:：]\s*", "", stripped)


def looks_like_call(text: str) -> bool:
    """Tell whether a text is a call, or holds one, rather than words for a person."""
    whole = text.strip()
    if whole[:1] not in ("{", "[", "<", "`"):
        return False
    return bool(_CALL_MARKS.search(whole) or (_CALL_NAME.search(whole) and _CALL_ARGUMENTS.search(whole)))


def fault(answer: str, question: str, sources: Sources, found: Sequence[str] = ()) -> str:
    """Say what is wrong with an answer; empty when nothing is. `found` are the results it should draw on."""
    text = answer.strip()
    invented = [token for token in sources.invented(text) if len(token.strip(".,:")) > 1]
    asks = question.strip().endswith(("?", "？"))
    faults = {
        "it is empty": not text,
        "it says the same over and over": bool(_OVER_AND_OVER.search(text[:_LOOKED_AT])),
        "it is a call or JSON, not an answer": bool(_CALL_SHAPES.search(text)) or text[:1] + text[-1:] in ("{}", "[]"),
        "it repeats the question": text.casefold().rstrip("?.! ") == question.strip().casefold().rstrip("?.! "),
        "it asks back": asks and text.endswith(("?", "？")),
        f"it names {invented[:1]}, which no result holds": bool(invented),
        "it is in Chinese, which nobody wrote": bool(_HAN.search(text)) and not _HAN.search(sources.text),
        "its number stands in no result": bool(found) and not _counts_right(text, question, found),
        "it says nothing that the results hold": bool(found) and not _says_something(text, question, found),
        "it is not in Korean": is_korean(question) and not is_korean(text) and len(text) > 60,
    }
    return next((fault for fault, holds in faults.items() if holds), "")


def _counts_right(answer: str, question: str, found: Sequence[str]) -> bool:
    """Tell whether an answer to "how many" holds a number of the results, or how many rows they have."""
    if not COUNTS.search(question):
        return True
    said = _numbers(answer) - _numbers(question)
    told = {number for text in found for number in _numbers(text)}
    told |= {float(len([line for line in text.splitlines() if line.strip()])) for text in found}
    return not said or not told or bool(said & told)


def _numbers(text: str) -> set[float]:
    return {float(number) for number in re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text))}


def _says_something(answer: str, question: str, found: Sequence[str]) -> bool:
    """Tell whether an answer holds a word or number of a result that the question did not hold already."""
    asked, said = set(terms(question)), set(terms(answer, keep_stop_words=True)) | set(re.findall(r"\d+", answer))
    told = {term for text in found for term in terms(text, keep_stop_words=True)}
    told |= {number for text in found for number in re.findall(r"\d+", text)}
    return bool((said & told) - asked - _EMPTY) or bool(_YES_NO.match(answer)) or not told - asked
