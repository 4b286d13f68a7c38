"""Another thing of the kind that a call took, which the question names too: by form, by what is listed, by meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product, takewhile

from naru.agent.execute import Outcome
from naru.agent.hooks import Near
from naru.agent.small.parameters import Parameter, form_of, parameters
from naru.messages import ToolCall, ToolDefinition
from naru.tools.lines import leaves
from naru.tools.texts import TOKEN, Text, bare, digits, found_in, spans

ALIKE, SAME = 0.4, 0.7  # How near a name lies to others of its kind (cities), and to itself in another language.
MEANS = 0.6  # How near a word lies to the listed value that it means (at .55 `시까지`, "until when", means Sunday).
TELLING = 2  # Latin letters above which a value may stand with an ending.
AHEAD = 0.15  # How much more a word means another listed value than one that was taken by guess.
JOINS = 0.78  # How near what joins two things lies to "and" or "or": 25 of 34 in eleven languages, of 80 others one.
BRIEF = ("And that one?", "And in Lisbon?", "And hers?", "And AB-12?", "And for children?", "And the second one?")
WHOLE = (
    "When does it leave from Oslo?", "How much does AB-12 cost?", "Who is the owner of the second one?",
    "Is it open for children?", "In which room is she?", "How many are left there?",
)  # fmt: skip
IS_BRIEF = 0.05  # How much nearer to those, added up, what only names another thing lies (31 of 32, 3 of 19 others).
LONGEST, MOST = 3, 12  # Words without capitals that may be a name; words, and listed values, that are compared.


async def others(
    question: Text, tool: ToolDefinition, made: Sequence[ToolCall], near: Near | None, *, found: bool
) -> tuple[dict[str, list[str]], bool]:
    """Return by parameter what a question names beside the values of the calls made; and whether the last one guessed.

    Where that found nothing, what means the same is another thing as well, and so is what only other tools took.
    """
    counted = [one for one in made if found or one.name == made[-1].name]
    taken = {bare(str(value)) for call in counted for value in leaves(call.arguments)} - {""}
    beside: dict[str, list[str]] = {}
    is_guess = False
    for one in parameters(tool):
        value = str(made[-1].arguments.get(one.name, ""))
        named: list[str] = []
        if value and one.is_choice:
            named, is_guess = await _listed(one, value, question, near)
        elif value:
            is_one = one.fits if one.takes_id else lambda each, value=value: form_of(each) == form_of(value)
            named = [each for each in question.spans if spans(value) and is_one(each)]
            most = SAME if found else 2.0
            if one.is_plain_text and near and not named:
                named = await _joined(value, question, near) or await _alike(value, question, near, most)
        if named := [each for each in named if not any(_is_of(each, other) for other in taken)]:
            beside[one.name] = named
    return beside, is_guess


def _is_of(named: str, value: str) -> bool:
    """Tell whether a word is a value, perhaps with an ending, or begins it; an id that goes on is another one."""
    is_telling = len(value) > TELLING or not value.isascii()  # The `c` of a unit begins many a name.
    begins = bare(named).startswith(value) or value.startswith(bare(named))
    return bare(named) == value or (is_telling and begins and not digits(named))


async def in_full(
    question: str, asked: Sequence[str], made: Sequence[ToolCall], now: Sequence[Outcome], near: Near | None
) -> str:
    """Return a follow-up that only names another thing after what was asked before, put to that thing."""
    pairs = [(was.arguments, one.call.arguments) for was, one in product(made, now) if was.name == one.call.name]
    values = {str(was[name]): str(call[name]) for was, call in pairs for name in was.keys() & call.keys()}
    told = [question]
    for earlier in reversed(asked if any(old != new for old, new in values.items()) else ()):
        degrees = await near(told[0], [*BRIEF, *WHOLE]) if near else [len(told) == 1]
        if told[0] in asked or sum(degrees[: len(BRIEF)]) < sum(degrees[len(BRIEF) :]) + IS_BRIEF:
            break
        put = earlier
        for old, new in values.items():
            if old and (place := found_in(put, re.escape(old))):
                put = f"{put[: place.start()]}{new}{put[place.end() :]}"
        told.insert(0, put)
    return " ".join(dict.fromkeys(told))


async def _listed(one: Parameter, value: str, question: Text, near: Near | None) -> tuple[list[str], bool]:
    """Return the listed values that a question means; and whether the word nearest to the given one means another."""
    listed = [str(each) for each in one.schema.get("enum") or ()][:MOST]
    every = {each: await _nearness(each, question, near) for each in listed}
    best = {word: max((every[each][word], each) for each in listed) for word in next(iter(every.values()), ())}
    held = [each for each in listed if question.holds(each)]  # Where one stands there, others would too.
    meant = {each for degree, each in best.values() if degree > (SAME if held else MEANS)}
    degree, most = max(((own, best[word][0]) for word, own in every.get(value, {}).items()), default=(1.0, 0.0))
    named = [each for each in listed if each in meant or each in held]
    # What a word means more is ahead by that alone where the given one is meant by it too: Friday for "Samstag".
    is_guess = most > max(MEANS, degree + AHEAD * (degree < MEANS)) and not question.holds(value)
    return named, is_guess


async def _joined(value: str, question: Text, near: Near) -> list[str]:
    """Return what stands beside a value in a question, joined to it by what means "and" or "or" in some language."""
    sides = list(_sides(value, question.text))
    degrees = [await near(pole, [joint for joint, _ in sides]) for pole in ("and", "or")] if sides else []
    runs: list[str] = next((runs for (_, runs), *every in zip(sides, *degrees, strict=False) if max(every) > JOINS), [])
    # Names are joined to names; who writes no capitals, or has none, names things without them.
    return [one for one in runs if one in question.names] or (runs if value.lower() in question.text else [])


def _sides(value: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """Give what may join a value to what stands beside it: a word, or the end of one where particles stick to words."""
    place = found_in(text, re.escape(value))
    for way, side in ((1, text[place.end() :]), (-1, text[: place.start()][::-1])) if place else ():
        beside = list(takewhile(lambda one: one[0].isalnum(), TOKEN.findall(side)))[: LONGEST + 1]
        first = "".join(beside[:1])
        for end in (len(first), *((1, 2) if first.upper() == first.lower() else ())):
            words = [one for one in (first[end:], *beside[1:]) if one][:LONGEST]
            if first[:end] and words:
                yield first[:end][::way], [" ".join(words[: more + 1])[::way] for more in range(len(words))]


async def _alike(value: str, question: Text, near: Near | None, most: float) -> list[str]:
    """Return the names of a question that are of a value's kind; any of its words, where no capitals tell names."""
    nearness = await _nearness(value, question, near)
    named = [word for word, is_name in question.words.items() if is_name or word.upper() == word.lower()]
    return [word for word in named if ALIKE < nearness.get(word, 0.0) < most]


async def _nearness(value: str, question: Text, near: Near | None) -> dict[str, float]:
    """Return how near each word lies to a value, with its endings or without; nothing where nothing can tell."""
    forms = [(word, form) for word in list(question.words)[:MOST] for form in _forms(word)]
    degrees = await near(value, [form for _, form in forms]) if near and forms else []
    found: dict[str, float] = {}
    for (word, _), degree in zip(forms, degrees, strict=False):
        found[word] = max(found.get(word, degree), degree)
    return found


def _forms(word: str) -> Iterator[str]:
    """Return a name and its parts, or a word and what it is without an ending that sticks to it in its script."""
    yield from dict.fromkeys([word, *word.split()])
    if word.upper() == word.lower():
        yield from (word[:-end] for end in (1, 2) if len(word) - end > 1)
