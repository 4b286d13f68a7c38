"""Judges whether the text before a candidate talks about calls instead of making one.

Models show calls in answers about tools ("The format looks like this: ..."). What introduces a candidate decides;
an unmarked candidate needs less to be taken for an example than one that a dialect's own marker announces.
"""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.patterns import lazy_pattern

_SHOWN = (
    r"for example|for instance|e\.g\.|i\.e\.|such as|like (?:this|so|that)|looks? like|would (?:be|look)"
    r"|an? (?:[\w\-]+ ){0,3}example\b|examples?\b(?: [\w\-]+){0,5}(?: (?:is|are|of))?"
    r"|an? (?:[\w\-]+ )?template\b|templates? (?:is|are|for|of)\b"
    r"|sample (?:call|output|response|json)"
    r"|(?:the|this|its|a|call|correct|expected|required|same|following) (?:[\w\-]+ ){0,2}"
    r"(?:format|syntax|schema|structure|notation|shape) (?:is|are|looks|would|for|of|should)"
    r"|syntax|documentation|is (?:written|represented|encoded|serialized|formatted) as"
    r"|예를 들(?:어|면|자면)|예시|예제|예컨대|형식(?:은|이|의|입니다|으로)|문법|이런 식|이런 형태|같은 형태|사용법"
    r"|이렇게 (?:생|쓰|적|보)|다음과 같이 (?:쓰|적|작성|표현)"
)
_REFUSED = (
    r"\byou (?:ran|called|sent|used|made|wrote)\b|\byesterday\b|\blast time\b|\bdid not\b|\bdidn't\b"
    r"|\b(?:wrong|incorrect|right|correct|proper) (?:way|form|format|call|request|syntax)\b"
    r"|\b(?:should|shall|may) i\b|\bwant me to\b|\bwould you like\b|(?:할|드릴|볼|을)까요|이미 |었습니다[:：]?\s*\Z"
    r"|\bdo not\b|\bdon't\b|\bnever\b|\binstead of\b|\bshould(?:n't| not)\b|\bmust(?:n't| not)\b|\bcannot\b"
    r"|\bcan't\b|\bwon't\b|\bwill not\b|\bprevious(?:ly)?\b|\bearlier\b|\balready (?:called|ran|made)\b"
    r"|\bwas called\b|\bdefinitions?\b|\bdefined as\b|하지 마|하지 않|이전에|아까|정의(?:는|입니다)"
)
_TAUGHT = (
    r"\bI (?:would|could|might)\b|\bI'd\b"
    r"|\bto [\w ]{2,40}, (?:send|use|call|post|run|write|issue)\b|\bshould (?:send|use|call|post|look|be)\b"
    r"|\byou (?:can|could|would|should|may|might|need to|have to)\b|\byou'd\b|\bhow to\b"
    r"|\bto (?:call|invoke|use) (?:it|this|the|a)\b|\bif you\b|\bone (?:can|could|would)\b"
    r"|\bclients? (?:send|sends|would)\b|\b(?:models?|it|llms?) (?:emits?|writes?|outputs?|produces?|returns?)\b"
    r"|할 수 있|하려면|하시면|면 (?:됩니다|돼요|된다)|호출하는 (?:법|방법)"
)
_MARKED = (
    rf"(?:{_SHOWN})[\w \-'\"“”]{{0,30}}\s*[:：,]?\s*\Z"
    r"|(?:for example|for instance|e\.g\.|예를 들(?:어|면|자면))[^.!?\n]{0,80}[:：]\s*\Z"
    r"|would (?:output|emit|write|produce|generate|return|respond with|look like)[^.!?\n]{0,40}[:：]\s*\Z"
)
_UNMARKED = rf"{_SHOWN}|{_REFUSED}"
_UNMARKED_JSON = rf"{_SHOWN}|{_REFUSED}|{_TAUGHT}"
_STEMS = (
    "example", "instance", "e.g.", "i.e.", "such as", "like", "would", "template", "sample", "format", "syntax",
    "schema", "structure", "notation", "shape", "documentation", "written", "represented", "encoded", "serialized",
    "예", "형식", "문법", "이런", "같은 형태", "사용법", "이렇게", "다음과",
)  # fmt: skip
"""One of these is part of every phrase in `_SHOWN`: looked for first, since most text before a call has none."""
_PARAGRAPHS = lazy_pattern(r"\n\s*\n")


@lru_cache(maxsize=3)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _introduction(text: str) -> str:
    """Return the paragraph that the candidate stands in, or the one before it when it begins one."""
    paragraphs = [part for part in _PARAGRAPHS.split(text) if part.strip()]
    return paragraphs[-1][-240:] if paragraphs else ""


def shows_marked(before: str) -> bool:
    """Tell whether `before` introduces a marked call as an example."""
    ends = before.rstrip()[-4:]
    if not ends or (ends[-1] in ".!?。)" and ends not in ("e.g.", "i.e.")):
        return False  # the sentence is over
    tail = before[-160:].lower()
    for stem in _STEMS:
        if stem in tail:
            return bool(_compiled(_MARKED).search(tail))
    return False


def shows_unmarked(before: str, *, pythonic: bool) -> bool:
    """Tell whether `before` introduces an unmarked candidate as something else than a call."""
    pattern = _UNMARKED if pythonic else _UNMARKED_JSON
    return bool(before) and bool(_compiled(pattern).search(_introduction(before)))
