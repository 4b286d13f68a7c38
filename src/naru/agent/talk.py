"""Small talk and made-up texts: what a person wants of the model itself, whatever tools there are."""

from __future__ import annotations

import re

from naru.agent.selection import ToolIndex

_MADE_UP = re.compile(
    r"\b(?:write|compose|make up|tell|give|say|invent)\b[^.?!]*?\b(poem|haiku|limerick|joke|riddle|story|tale|"
    r"song|sentence|essay|rhyme|synonym|antonym|fun fact|proverb)s?\b"
    r"|(시|농담|수수께끼|이야기|노래|문장|글|속담|동화|자기소개)"
    r"(?:[을를로]|으로)?\s*(?:하나|한\s?\S+|짧게)?\s*(?:를|을)?\s*"
    r"(?:써|지어|들려|해\s?줘|해\s?주|만들어)",
    re.IGNORECASE,
)


def asks_to_talk(question: str, index: ToolIndex) -> bool:
    """Tell whether a question asks for a text that the model is to make up, and of which no tool speaks."""
    found = _MADE_UP.search(question)
    return found is not None and not index.speaks_of(found.group(1) or found.group(2))
