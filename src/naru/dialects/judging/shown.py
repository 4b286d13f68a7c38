"""Judges whether a call was made or only shown, by what stands around it: the one rule that every form asks.

A model that reports what it read, explains a dialect or warns of an injection writes calls that must not run. First
structure tells, which needs no language: quotation marks and brackets of any script, comments, quoted lines, the
middle of a sentence, a question, a text before and after a form with which models end their turns, and what the
tools have returned. Each fact has a weight; a call whose facts add up to `LIMIT` was shown. What the words mean is
asked where nothing else can tell (`wording.py`, docs/decisions/0162). The weights were chosen by `bench/dialects.py
--only shown`.
"""

from __future__ import annotations

import unicodedata

from naru.dialects.judging.layout import (
    COLONS,
    PREFIX,
    QUOTES,
    SENTENCE_ENDS,
    asks,
    fields_above,
    first_line,
    has_words,
    is_caption,
    is_contained,
    is_item,
    is_label,
    is_numbered,
    is_open,
    is_short_line,
    is_side_of_change,
    is_stamped,
    is_thought,
    label_at,
    last_line,
    opens_quotation,
    over_items,
    over_labels,
    over_thought,
    over_turn,
    prose_of,
    says_something,
    writes_value,
)
from naru.dialects.judging.matter import has_value_of, is_about, is_placeholder, is_value_of, names_key
from naru.dialects.judging.meaning import means_making
from naru.dialects.judging.wording import (
    denies_running,
    last_sentence,
    means_doing,
    means_showing_politely,
    speaks_of_doing,
    speaks_of_showing,
    speaks_of_waiting,
)
from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from naru.dialects.events import ParsedCall

LOOK_AHEAD = 200
"""How many characters after a call are looked at."""
DOUBTFUL = 0.5
"""From this doubt on a call is not announced before it is judged."""
LIMIT = 1.0
"""The doubt that makes a call a shown one."""

WEIGHTS = {
    "read in a tool's result": 1.0,
    "opened quotation": 1.0,
    "quoted line": 1.0,
    "inside of a comment or quotation": 1.0,
    "question before": 1.0,
    "pointed at": 1.0,
    "comment closed": 1.0,
    "sentence begun": 0.4,
    "list item": 0.4,
    "line open": 1.0,
    "numbered": 0.35,
    "marker named before": 1.0,
    "introduced": 0.35,
    "field of a form": 0.65,
    "caption": 0.65,
    "set apart by a blank": 0.65,
    "heading": 0.35,
    "sentence goes on": 0.6,
    "line goes on": 0.65,
    "list goes on": 0.65,
    "side of a change": 0.65,
    "sentence opened": 0.4,
    "text around": 1.0,
    "text after": 1.0,
    "question after": 0.35,
    "another was shown": 0.65,
    "made before": 0.65,
    "line of a log": 1.0,
    "placeholder": 0.5,
    "spoken of": 1.0,
}
"""What each fact speaks against a call's having been made."""

_CODE = frozenset({"pythonic", "list", "fenced"})
"""Forms of models that are asked for code: they explain what they wrote. With all others a turn ends."""
_UNMARKED = frozenset({"json", "list", "pythonic", "fenced", "name-json", "phi4-mini", "hyperclovax"})
_PYTHON = frozenset({"pythonic", "list"})
_GOES_ON = ",;:，、" + SENTENCE_ENDS
_POINTERS = ("^", "↑", "⬆", "☝")
_REMARKS = ("#", "//", "←", "<-", "—")
"""What a remark begins with that stands on a call's own line after it."""
_FENCE_BEGUN = lazy_pattern(r"\s*(?<!`)```[\w+\-]{0,20}\Z")
_HEADING = lazy_pattern(r"(?:\A|\n)#{1,6} [^\n]*\Z")
_NO_WORDS = lazy_pattern(r"<[|/｜]|(?:\A|\n)\s*(?:[-*•]|\d{1,2}[.)]) [{\[<`]|\n\s*[{\[<`]")


class Before:
    """What stands before a call, as facts.

    Args:
        text: all of it that is looked at.
        prose: what of it comes after the last call that was only shown.

    A call that is an item of a list is judged by what stands over the list.
    """

    __slots__ = (
        "doubt", "facts", "is_item", "is_set_apart", "is_turn", "last_line", "prose",
        "same_line", "some", "text", "whole",
    )  # fmt: skip

    def __init__(self, text: str, prose: str) -> None:
        self.whole = text
        text = over_turn(text)
        self.is_turn = len(text) < len(self.whole)
        """Whether a token of a turn stands right before the call: it is part of no form that could be shown."""
        listed = over_items(text)
        self.is_item = len(listed) < len(text)
        if has_words(listed):
            text, prose = listed, over_items(prose)
        lead = over_thought(text)
        text, prose = lead, prose[: max(0, len(prose) - len(text) + len(lead))]
        line = text[text.rfind("\n") + 1 :]
        self.text = text
        self.prose = prose
        self.last_line = last_line(text)
        self.some = has_words(text)
        self.same_line = bool(line.strip())
        """Whether text of the call's own line stands before it."""
        self.is_set_apart = self.same_line and text[-1] == " " and text.rstrip().endswith((*COLONS,))
        """Whether a blank stands between the call and the colon before it."""
        self.facts = (*_facts_of_line(line), *_facts_before(text, line, prose)) if text.strip() else ()
        if self.is_turn:
            self.facts = tuple(fact for fact in self.facts if fact != "introduced")
        self.doubt = sum(WEIGHTS[fact] for fact in self.facts)

    def is_doubtful(self, *, by_meaning: bool) -> bool:
        """Tell whether a call should not be announced before it is judged."""
        return self.doubt >= DOUBTFUL or (
            self.some
            # What it is about is not known yet.
            and speaks_of_showing(
                self.text, is_over=True, is_turn=self.is_turn, by_meaning=by_meaning, of_its_matter=False
            )
        )


def _facts_of_line(line: str) -> Iterator[str]:
    """Yield what the beginning of a call's own line tells."""
    prefix = PREFIX.match(line)
    if prefix is not None and prefix[1]:
        yield "quoted line"
    elif prefix is not None and (line[prefix.end() :].strip() or not prefix[2][0].isdigit()):
        yield "list item"
    if is_stamped(line):
        yield "line of a log"


def _facts_before(text: str, line: str, prose: str) -> Iterator[str]:
    bare = _FENCE_BEGUN.sub("", text.rstrip())
    last = bare[-1:]
    thinks = is_thought(last_line(bare))
    if opens_quotation(text):
        yield "opened quotation"
    if is_contained(text):
        yield "inside of a comment or quotation"
    if _HEADING.search(bare):
        yield "question before" if asks(bare) else "heading"
    elif last in COLONS or (not line and _is_over_an_exhibit(text, prose)):
        yield "introduced"
        if last in COLONS and is_caption(last_line(bare)) and not speaks_of_doing(text):
            yield "caption"
        elif (fields := fields_above(bare)) and not any(map(is_thought, fields.split("\n"))):
            yield "field of a form"
    elif last not in SENTENCE_ENDS:
        if line.strip():
            yield "sentence begun"
        elif last.isalnum() and is_open(last_line(bare)) and not thinks:
            yield "numbered" if is_numbered(last_line(bare)) else "line open"
    elif not line and asks(bare) and bare[-2:-1].isalnum() and not thinks:
        yield "question before"


def _is_over_an_exhibit(text: str, prose: str) -> bool:
    """Tell whether a text ends in a label, or since a call that was only shown has a line of a few words at most.

    What came of ReAct's action, and the thought after it, go on with the course of which the action is a step.
    """
    if is_label(last_line(text)):
        return True
    goes_on = prose.lstrip().startswith("Observation:") and is_thought(last_line(prose))
    return len(prose) < len(text) and (goes_on or is_short_line(prose) or not prose.strip())


def _facts_after(before: Before, gap: str, text: str, calls: Sequence[ParsedCall], *, leads_on: bool) -> Iterator[str]:
    """Yield what the text after calls, of which there is some, tells; `leads_on` says that more calls may follow it."""
    if text.startswith("-->"):
        yield "comment closed"
    if text.startswith(_POINTERS if "\n" in gap else (*_POINTERS, *_REMARKS)):
        yield "pointed at"
    if _sentence_goes_on(gap, text, leads_on=leads_on and before.same_line):
        yield "sentence goes on"
        if not before.some and gap and not is_about(calls, text):
            yield "sentence opened"
    said = prose_of(text)
    answers = _answers(before.last_line, text) or (leads_on and _answers(before.last_line, last_line(said)))
    if not answers and not says_something(said):
        return
    if before.some:
        yield from _facts_around(before, said, calls, answers=answers)
    elif "\n" in gap and (denies_running(text) or _is_remark(calls, gap, text)):
        yield "text after"
    if asks(text):
        yield "question after"


def _facts_around(before: Before, said: str, calls: Sequence[ParsedCall], *, answers: bool) -> Iterator[str]:
    """Yield what text before calls and after them tells; `answers` says that both are labels of the same kind."""
    dialect = calls[0].dialect
    if is_value_of(calls, before.last_line):
        return  # who exhibits calls names them otherwise
    if "numbered" in before.facts:
        yield "line open"  # no title, which stands over its call alone
    told = f"{before.last_line} {first_line(said)}" if answers else f"{before.prose} {said}"
    if before.same_line:
        if dialect not in _PYTHON or (answers and not is_about(calls, told)):
            yield "line goes on"
    elif denies_running(said) or (
        not (dialect in _CODE and is_about(calls, told))
        and not speaks_of_doing(before.text)
        and not speaks_of_waiting(said)
        and not _announces_all(before)
    ):
        yield "text around"


def _goes_on_to_do(before: Before, text: str) -> bool:
    """Tell whether the sentence before calls speaks of doing and means it, as does the text after them."""
    said = prose_of(text)
    return not denies_running(said) and not label_at(said) and means_making(said) and means_doing(before.text)


def _is_unexplained(before: Before, said: str, calls: Sequence[ParsedCall]) -> bool:
    """Tell whether text after code neither speaks of the code nor leads on to more."""
    return (
        calls[0].dialect in _CODE
        and not before.same_line
        and not over_labels(before.text)
        and says_something(said)
        and said.rstrip()[-1] not in COLONS
        and not is_about(calls, said)
        and not any(names_key(call, said) for call in calls)
    )


def _speaks_of_its_result(text: str) -> bool:
    return not asks(text) and (speaks_of_doing(text) or speaks_of_waiting(text))


def _is_remark(calls: Sequence[ParsedCall], gap: str, text: str) -> bool:
    """Tell whether text after the calls that begin a reply speaks neither of their matter nor of their result."""
    return _may_show(calls, gap, text) and not is_about(calls, prose_of(text)) and not _speaks_of_its_result(text)


def _may_show(calls: Sequence[ParsedCall], gap: str, text: str) -> bool:
    """Tell whether text after the calls that begin a reply may be about calls that were shown.

    Who makes several one right after the other goes on as if they had run; exhibits come one at a time. After Python
    only a remark tells anything, a short paragraph at the margin: models that are asked for code write on.
    """
    said = text.rstrip()
    if asks(said) and "\n" not in said:
        return True
    if len(calls) > 1 or calls[0].dialect not in _PYTHON:
        return len(calls) == 1
    is_remark = gap.endswith("\n") and said[0].isalnum() and said[-1] not in COLONS and len(text) < LOOK_AHEAD
    return is_remark and not names_key(calls[0], said) and not writes_value(said)


def _answers(line: str, text: str) -> bool:
    """Tell whether a line before calls and the text after them begin with a label each, or with the same word."""
    if label_at(line):
        return bool(label_at(text))
    after = first_line(text)
    if not (is_short_line(line) and is_short_line(after) and has_words(after)):
        return False
    return line.split()[0] == after.split()[0] or (not line.isascii() and line[:2] == after[:2])


def _sentence_goes_on(gap: str, text: str, *, leads_on: bool) -> bool:
    first = text[0]
    letter = unicodedata.category(first)
    if not gap and (first in QUOTES or (letter in ("Pe", "Pf") and first not in "}]")):
        return True
    if "\n" in gap:
        return first.islower() and (leads_on or says_something(first_line(text)))
    if first in _GOES_ON:
        return True
    return (first.islower() or letter == "Lo") and says_something(text.split("\n", 1)[0])


def facts(
    before: Before, opener: str, gap: str, after: str, calls: Sequence[ParsedCall], *, by_meaning: bool
) -> list[str]:
    """Return what speaks against calls' having been made.

    Args:
        before: what stands before the first of them.
        opener: the marker that announced it; empty where none did.
        gap: the white space after the last of them.
        after: the text after that, as much of it as is looked at; empty where nothing comes.
        calls: the calls.
        by_meaning: whether a sentence before them is asked for its meaning.
    """
    found = list(before.facts)
    if "field of a form" in found and has_value_of(calls, fields_above(before.text)):
        found.remove("field of a form")  # a plan's
    if opener and before.some and _is_named(opener, before.text):
        found.append("marker named before")
    stop = _NO_WORDS.search(after)
    text = after[: stop.start()] if stop is not None else after
    lists = before.is_item and (is_item(after) or calls[0].dialect in _UNMARKED)
    if lists and not _announces(before, by_meaning=by_meaning):
        found.append("list goes on")
    if text:
        leads_on = stop is not None or len(prose_of(text)) < len(text)
        found += _facts_after(before, gap, text, calls, leads_on=leads_on)
        if by_meaning and "text around" in found and _goes_on_to_do(before, text):
            found.remove("text around")
    lead = over_labels(before.text)
    if (
        before.some
        and (not text or _is_unexplained(before, prose_of(text), calls))
        and not _announces_all(before)
        and speaks_of_showing(
            lead if has_words(lead) else before.text,
            is_over=calls[0].dialect not in _UNMARKED,
            is_turn=before.is_turn,
            of_code=not text and calls[0].dialect in _PYTHON and (len(calls) > 1 or has_value_of(calls, before.text)),
            by_meaning=by_meaning,
            of_its_matter="heading" in before.facts
            or ("numbered" not in before.facts and is_about(calls, before.text)),
        )
    ) or (text and by_meaning and means_showing_politely(before.text)):
        found.append("spoken of")
    if is_side_of_change(before.whole, after):
        found.append("side of a change")
    if before.is_set_apart and calls[0].dialect not in _UNMARKED and not is_value_of(calls, before.last_line):
        found.append("set apart by a blank")
    if before.some and any(is_placeholder(call) for call in calls):
        found.append("placeholder")
    return found


def _announces(before: Before, *, by_meaning: bool) -> bool:
    """Tell whether what stands over a list says that its items are done."""
    return before.some and (speaks_of_doing(before.text) or (by_meaning and means_making(last_sentence(before.text))))


def _announces_all(before: Before) -> bool:
    """Tell whether what stands over a list of labels, each over a call, says that its items are done."""
    lead = over_labels(before.text)
    return has_words(lead) and speaks_of_doing(lead)


def _is_named(marker: str, text: str) -> bool:
    """Tell whether a marker stands in the middle of a line of words, where it announced nothing."""
    at = text.find(marker)
    return at > 0 and text[at - 1] == " " and text[:at].rstrip(" ")[-1:].isalnum()


def doubt_of(found: Sequence[str]) -> float:
    """Return how much facts speak against a call."""
    return sum(WEIGHTS[fact] for fact in found)


NOTHING_BEFORE = Before("", "")
