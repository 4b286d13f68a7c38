"""What changes something, and who asks for it: a tool that writes is never picked for a question that only reads."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from naru.agent.casing import latin_words
from naru.agent.glossary import in_english
from naru.agent.selection import stem
from naru.messages import ToolDefinition

_WRITES = frozenset(
    "create write add insert update edit modify set delete remove move rename send post book schedule cancel submit "
    "approve reject assign upload import drop clear reset start stop restart run execute buy pay order save make "
    "register reserve transfer refund put patch append close open enable disable grant revoke archive renew extend "
    "place mark file give commit checkout merge push stage install uninstall publish subscribe unsubscribe request "
    "record log store attach detach link unlink lock unlock kill reply forward invite change replace upsert toggle "
    "trigger deploy rollback restore return borrow issue escalate resolve complete finish".split()
)
_READS = frozenset(
    "get list read search find query look lookup show fetch describe count check view retrieve calculate compute "
    "convert compare summarize browse inspect current is has what tell how names name books all which when see report "
    "status history track estimate forecast evaluate who full next daily overdue supported number echo".split()
)
_ALSO_NOUNS = frozenset(
    "order book schedule post record log file mark place return issue request refund transfer run start stop link lock "
    "change invite reply store finish commit save merge push stage import drop".split()
)
"""Of the verbs that change something, those that may be a thing: `order_status` does not order."""
_NOUNS_READ = frozenset(
    "detail details info information list status history count summary report overview hours forecast names".split()
)
"""Words at the end of a tool's name that say that it gives something: `order_details` does not order."""
_THING_FIRST = re.compile(r"\W*(?:one|an?|the|all|details?|information|current)\b", re.IGNORECASE)
"""A description that begins with what the tool gives, as in "One order with its customer"."""
_GIVES_BACK = re.compile(
    r"\W*returns?\s+(?:the|an?|all|each|every|how|what|which|whether|true|one|some|its|their)\b"
    r"|\W*(?:adds? up|sums?(?: up)?)\b",
    re.IGNORECASE,
)
"""A docstring in Python's way, `Return the price of a product`: nothing is brought back."""
_ORDERED = re.compile(r"\W*([A-Za-z]{3,}) (?:an?|the|your|one) [a-z]", re.IGNORECASE)
_READS_TOO = frozenset(
    "explain analyze analyse validate verify translate identify detect predict recommend suggest rank sort filter "
    "display print parse decode encode format hash measure determine solve extract classify render locate discover "
    "obtain access monitor watch preview audit trace diff ping returns gets lists provides shows finds searches "
    "retrieves fetches describes calculates converts computes counts checks reads looks tells gives whether where "
    "from for with add about sum subtract multiply divide generate draw roll pick choose simulate ask answer".split()
)
_HEAD_WORDS = 4
_KOREAN_READS = re.compile(r"(조회|검색|확인|추적|계산|보여|알려|찾|읽|돌려|안내|비교|변환|출력|요약)\S*$")
_KOREAN_WRITES = re.compile(
    r"(신청|등록|삭제|취소|수정|변경|생성|추가|저장|전송|발송|예약|결제|배정|만들|지우|바꿉|보냅|작성|처리)"
)
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|then|ok|okay|hi|hello|hey|please|now)\b\W*)*"
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|had|should|may)\b",
    re.IGNORECASE,
)
_ORDERS_TO_READ = re.compile(
    r"^\W*(?:(?:please|now|can you|could you|would you|i want you to|i'd like you to)\b\W*)*"
    r"(?:show|list|find|get|tell|give me|read|search|count|compare|convert|look|display|print|describe|check|calculate|"
    r"summari[sz]e|explain|name|say|fetch|echo)\b",
    re.IGNORECASE,
)
_KOREAN_ASKS = re.compile(
    r"(?:[?？]|까요?|나요|인가요?|는지|어때요?|뭐야|누구야?|얼마야?|언제야?|어디야?|몇 \S+야?)[.!?？\s]*$"
)
_KOREAN_TO_READ = re.compile(
    r"(알려|보여|찾아|조회|검색|확인|계산|비교|설명|요약|읽어|출력|추천|말해|가르쳐|골라|변환)\s?(?:해|하여)?\s?(?:줘|주세요|주실|줄|봐|라|다오|달라)"
)
_KOREAN_TO_CHANGE = re.compile(
    r"(?:해|어|아|겨|려|워|줘|와|켜|꿔|내|쳐)\s?(?:줘|주세요|주십시오|주실래요|놔|둬|라)|하세요|하십시오|합시다"
)


def changes_something(tool: ToolDefinition) -> bool:
    """Tell whether a tool may change the world: by its annotations, else by the first verb it says of itself."""
    if tool.annotations.get("readOnlyHint") is True:
        return False
    if tool.annotations.get("destructiveHint") is True or tool.annotations.get("readOnlyHint") is False:
        return True
    return _says_change(tool.name, tool.description)


@lru_cache(maxsize=2048)
def _says_change(name: str, description: str) -> bool:
    named = latin_words(name)
    if named and named[0] in _WRITES - _ALSO_NOUNS:
        return True
    if named and named[-1] in _NOUNS_READ:
        return False
    if not {"return", "returns"} & set(named) and _GIVES_BACK.match(description):
        return False
    said = [*named, *re.findall(r"[a-z]+", description.lower())[:_HEAD_WORDS]]
    verb = next((word for word in said if word in _READS or word in _WRITES), "")
    if verb in _ALSO_NOUNS and _THING_FIRST.match(description):
        return False
    if verb in _WRITES and not _first_sentence_reads(description):
        return True
    ordered = _ORDERED.match(description)
    if not verb and ordered and ordered.group(1).lower() not in _READS_TOO:
        return True  # Nobody can list all verbs: one that does something to a thing is taken to change it.
    first = re.split(r"[.。\n]", description, maxsplit=1)[0]
    return not verb and bool(_KOREAN_WRITES.search(first)) and not _KOREAN_READS.search(first.strip())


def _first_sentence_reads(description: str) -> bool:
    """Tell whether a Korean description ends in a verb that reads, whatever the tool's English name says."""
    first = re.split(r"[.。\n]", description, maxsplit=1)[0].strip()
    return bool(_KOREAN_READS.search(first))


def asks_for_change(question: str) -> bool:
    """Tell whether a person wants something changed: an order, not a question, with a verb that changes."""
    if re.search(r"[가-힣]", question):
        if _KOREAN_ASKS.search(question) or _KOREAN_TO_READ.search(question):
            return False
        words = {*re.findall(r"[a-z]+", question.lower()), *in_english(question)}
        return bool(_KOREAN_TO_CHANGE.search(question)) or bool(words & _WRITES)
    if _ASKS.search(question):
        return False
    said = re.findall(r"[a-z]+", question.lower())
    if _ORDERS_TO_READ.search(question):
        return any(word == "and" and following in _WRITES for word, following in pairwise(said))
    return bool(set(said) & _WRITES)


def may_change(tool: ToolDefinition, question: str) -> bool:
    """Tell whether a question lets a tool run: one that reads always may, one that changes when a change is ordered.

    An order in the tool's own verb is one, whatever that verb is: `Acknowledge alarm 5`.
    """
    if not changes_something(tool) or asks_for_change(question):
        return True
    if _ASKS.search(question) or _ORDERS_TO_READ.search(question):
        return False
    ordered = {stem(word) for word in re.findall(r"[a-z]+", question.lower())}
    named = latin_words(tool.name)
    described = re.findall(r"[a-z]+", tool.description.lower())
    return bool(ordered & {stem(word) for word in [*named[:1], *described[:1]]})
