"""Which tools a small model is shown in a round: the nearest, and what leads to them, by facts of their schemas.

A tool that needs an id nobody gave is led up to by one that can be called now and speaks of that id; a value that a
result gave leads on to a tool that takes it and lies nearer to the question than the one that ran.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.selection import Ranked, index_of, plain_name
from naru.agent.small.parameters import Parameter, leaves, parameters
from naru.agent.small.reading import decoded, is_nothing
from naru.agent.small.shown import known_values
from naru.agent.small.sources import TELLING_NUMBER, Sources, bare, digits
from naru.messages import ToolCall, ToolDefinition

AT_ONCE = 3
"""Tools that a small model chooses from well (UPLIFT)."""
ALL = 4
"""So many are always shown, all of them."""
LEADS = 2
"""Tools that may lead up to one that lacks an id."""
SPOKEN_OF = 0.25
"""Share of the words of the tool that speaks most of an id from which another speaks of it too."""
FITS = 0.12
"""What a tool gains for a value of the question that it takes by its schema (102 questions in ten languages)."""
LACKS = 0.05
"""What it loses for an id that it needs and nobody gave."""
LEAD = 0.1
"""So far ahead the nearest tool was the right one in 47 of 47 questions, by .06 in 54 of 56."""
TELLING_CHOICE = 2
"""Letters above which a listed value that stands in the question says something."""
TELLING_NAME = 3
"""Letters from which the beginning of a key says which parameter is meant: `film` for `film_id`."""
MAY_CHANGE = 0.17
"""How far to changing a tool that says nothing of itself must point to count so (75 of 122 such, 16 of 156 others)."""
READS = 0.05
"""Up to here such a tool counts as reading (94 of those 156, 2 of the 122); between the two nobody can tell."""


def reads(tool: ToolDefinition) -> bool | None:
    """Tell whether a tool says that it only reads, or that it changes something; None where it does not say."""
    return False if tool.annotations.get("destructiveHint") is True else tool.annotations.get("readOnlyHint")


class Offering:
    """The tools of one run, nearest first, and what became of them."""

    def __init__(self, ranked: Sequence[Ranked], sources: Sources, numbered: frozenset[str]) -> None:
        self._sources = sources
        self._numbered = numbered
        self._standing = {one.tool.name: self._stands(one) for one in ranked}
        self._ranked = sorted(ranked, key=lambda one: -self._standing[one.tool.name])
        self._of = {one.tool.name: one for one in ranked}
        self._set_aside: set[str] = set()
        self._led_from: ToolDefinition | None = None
        self._has_led = False
        self._tried: set[str] = set()
        self.chosen = ""
        """The tool that the model called of itself, for want of whose id others are asked."""
        self.changing: frozenset[str] = frozenset(
            one.tool.name
            for one in ranked
            if reads(one.tool) is False or (reads(one.tool) is None and one.ordered > MAY_CHANGE)
        )

    def _stands(self, one: Ranked) -> float:
        """Return how near a tool stands to the question: in meaning, and by the values that its schema takes."""
        names = [name for name in self._sources.question.names if name not in self.used]
        fits = self.fits(one.tool, self._sources.subject) + bool(names and _lone_text(one.tool))
        return one.score + FITS * fits - LACKS * len(self.lacks(one.tool))

    @property
    def is_untold(self) -> bool:
        """Tell whether nothing says which tool is near: no meaning, no word that is shared, no value that one takes."""
        return all(one.closeness is None and self._standing[one.tool.name] <= 0 for one in self._ranked)

    def fits(self, tool: ToolDefinition, given: Sequence[str]) -> int:
        """Count the parameters that take a value of the question: a listed one, an id of their shape, a number."""
        asked = self._sources.question
        found = 0
        for one in parameters(tool):
            if one.is_choice:
                listed = [value for value in one.schema.get("enum") or () if isinstance(value, str)]
                found += any(len(value) > TELLING_CHOICE and asked.holds(value) for value in listed)
            else:
                found += any(self._is_for(one, value) for value in given)
        return found

    def is_of_another(self) -> bool:
        """Tell whether a follow-up holds an id or a listed value that a tool takes and nobody has spoken of."""
        asked, before = self._sources.question, self._sources.before
        taken = [one for ranked in self._ranked for one in parameters(ranked.tool)]
        listed = [str(value) for one in taken for value in one.schema.get("enum") or () if asked.holds(value)]
        given = [span for span in asked.spans if any(one.takes_id and one.fits(span) for one in taken)]
        fresh = [value for value in (*listed, *given) if not any(text.holds(value) for text in before)]
        return bool(before) and any(len(value) > TELLING_CHOICE for value in fresh)

    @property
    def margin(self) -> float | None:
        """How much nearer to the question the nearest tool lies than talk does; None where nothing measures it."""
        first = self._ranked[0] if self._ranked else None
        if first is None or first.closeness is None:
            return None
        return first.closeness + FITS * self.fits(first.tool, self._sources.question.spans) - first.talk

    def nearest(self) -> list[ToolDefinition]:
        """Return the tools that lie about as near as the nearest and can be called now, or what leads up to it."""
        able = [one.tool for one in self._ranked if self.may_be_forced(one.tool) and not self.lacks(one.tool)]
        if not able or self.margin is None:
            return []
        first = self._ranked[0].tool
        leads = self.leading_to(first) if self.lacks(first) else []
        near = leads or [tool for tool in able if self._is_about_as_near(tool, first)] or able[:1]
        return self._in_order(near[:AT_ONCE])

    def _is_about_as_near(self, tool: ToolDefinition, other: ToolDefinition) -> bool:
        return self._standing[tool.name] > self._standing[other.name] - LEAD

    def may_be_forced(self, tool: ToolDefinition) -> bool:
        """Tell whether a call of this tool may be asked for: it reads, or nothing lies nearer to the question.

        Nor may one that needs a number which nobody gave.
        """
        ranked = self._of[tool.name]
        if tool.name in self.changing or (ranked.closeness is None and not reads(tool) and len(self._ranked) > ALL):
            return False
        is_harmless = reads(tool) or ranked.ordered <= READS or ranked is self._ranked[0] or tool.name == self.chosen
        counts = [one for one in parameters(tool) if one.required and one.kind in ("integer", "number")]
        return is_harmless and (not counts or bool(self._sources.spans()))

    def lacks(self, tool: ToolDefinition) -> list[Parameter]:
        """Return the ids that a tool needs and no source holds."""
        return [
            one
            for one in parameters(tool)
            if self._is_open(one)
            and not known_values(one, self._sources, self._numbered)
            and not self._has_number_of(one)
        ]

    def _has_number_of(self, one: Parameter) -> bool:
        """Tell whether the question gives an id without its letters: `88123` for `ORD-88123`."""
        return one.takes_id and any(len(s) >= TELLING_NUMBER and s.isdigit() for s in self._sources.subject)

    def _is_open(self, one: Parameter) -> bool:
        return one.required and (one.takes_id or (one.kind == "integer" and one.name in self._numbered))

    def first(self, most: int = AT_ONCE) -> list[ToolDefinition]:
        """Return what to show for the question: the nearest that can be called, and what leads to the very nearest."""
        left = [one.tool for one in self._ranked if one.tool.name not in self._set_aside]
        if len(left) <= ALL:
            return self._in_order(left)
        ready = [tool for tool in left if not self.lacks(tool)]
        chosen = [tool for tool in left[:most] if tool in ready] or left[:1]
        if self.lacks(left[0]):
            chosen = [*self.leading_to(left[0]), *chosen]
        chosen += [tool for tool in ready if tool not in chosen]
        return self._in_order(list(dict.fromkeys(tool.name for tool in chosen))[:most])

    def prefer(self, name: str) -> list[ToolDefinition]:
        """Take a tool for the nearest, since the model picked it; return what to show."""
        self._ranked.sort(key=lambda one: one.tool.name != name)
        return self.first()

    def _in_order(self, tools: Sequence[ToolDefinition | str]) -> list[ToolDefinition]:
        """Return tools nearest first, which is what a small model takes; where all are shown, by name: one prompt."""
        names = {one if isinstance(one, str) else one.name for one in tools}
        found = [one.tool for one in self._ranked if one.tool.name in names]
        return found if len(self._ranked) > ALL else sorted(found, key=lambda tool: tool.name)

    def leading_to(self, tool: ToolDefinition) -> list[ToolDefinition]:
        """Return tools that can be called now and speak of the ids that this one needs."""
        open_ones = [one for one in parameters(tool) if one.required and not one.is_choice]
        wanted = " ".join(f"{plain_name(one.name)} {one.schema.get('description', '')}" for one in open_ones)
        others = [
            one.tool
            for one in self._ranked
            if one.tool.name != tool.name
            and one.tool.server == tool.server
            and one.tool.name not in self._set_aside
            and self.may_be_forced(one.tool)
            and not self.lacks(one.tool)
            and not {p.name for p in parameters(one.tool)} & {p.name for p in open_ones}
        ]
        self._led_from = tool
        spoken = index_of(others).rank(f"{wanted} {plain_name(tool.name)}") if others else []
        return [one.tool for one in spoken if one.score > spoken[0].score * SPOKEN_OF][:LEADS]

    def after(self, last: Outcome) -> list[ToolDefinition]:
        """Return the tools to go on with after a call; none when the search is over."""
        tool = self._of[last.call.name].tool
        self._tried |= {bare(str(value)) for value in leaves(last.call.arguments)}
        again = self._again(tool)
        if is_nothing(last):
            if tool.name in self.changing or again:
                return again
            if (wider := _without_options(tool, last)) is not None:
                return [wider]
            self._set_aside.add(tool.name)
            if ids := self._sources.subject:
                if not (taking := self._taking(ids)):
                    return self._trying(ids, last)
                # The nearest tool has said that there is none: others of the same parameter say other things of it.
                told = {one.name for one in parameters(tool)} if tool is self._ranked[0].tool else set()
                left = [one for one in taking if one.name not in self._set_aside and self.may_be_forced(one)]
                left = [one for one in left if not told & {each.name for each in parameters(one)}]
                return self._in_order(left[:AT_ONCE])
            if self._has_led:
                return []
            self._has_led, self.chosen = True, tool.name
            others = [one.tool for one in self._ranked if one.tool.name not in self._set_aside]
            others = [one for one in others if self.may_be_forced(one) and not self.lacks(one)]
            leads = self.leading_to(tool)[:1]
            return [*leads, *self._in_order([one for one in others[: AT_ONCE - 1] if one not in leads])]
        able = [one.tool for one in self._ranked if one.tool is not tool and self.may_be_forced(one.tool)]
        takes = [one for one in able if self._takes_from(one, last)]
        is_lead = self._is_lead(last, takes)
        self.leads |= {last.call.id} if is_lead else set()
        led = self._led_from
        if led and (led.name not in self.changing or led.name == self.chosen) and self._takes_from(led, last):
            self._led_from = None
            near = [led, *(one for one in takes if self._is_about_as_near(one, led))]
            return [_fed(one, last) for one in self._in_order(near[:AT_ONCE])]
        stands = {one.tool.name: self._stands(one) for one in self._ranked}
        follow = [one for one in takes if stands[one.name] > stands[tool.name]] or (takes if is_lead else [])
        return [*(_fed(one, last) for one in self._in_order(follow[:AT_ONCE])), *again]

    def _trying(self, ids: Sequence[str], last: Outcome) -> list[ToolDefinition]:
        """Return the tools that need one text of no told shape, held to ids that were not found: once."""
        given = {str(value) for value in leaves(last.call.arguments)}
        left = [one.tool for one in self._ranked if len(self._set_aside) < AT_ONCE and self.may_be_forced(one.tool)]
        again = [tool for tool in left if tool.name not in self._set_aside or not given.issuperset(ids)]
        return [_held_to(tool, text.name, ids) for tool in again if (text := _lone_text(tool))][:AT_ONCE]

    def _taking(self, ids: Sequence[str]) -> list[ToolDefinition]:
        """Return the tools that an id which was not found is one for, by its shape: it was looked up in another."""
        every = [one.tool for one in self._ranked]
        return [tool for tool in every if any(self._is_for(one, value) for one in parameters(tool) for value in ids)]

    def meant_for(self, call: ToolCall) -> list[ToolDefinition]:
        """Return the tools to ask for once more, where values of the question are for others than the called one.

        A call that holds nothing of what was said, and a number that was made up, is left out of them.
        """
        tool = self._of[call.name].tool
        asked, values = self._sources.question, list(leaves(call.arguments))
        given = [(one, str(call.arguments.get(one.name, ""))) for one in parameters(tool) if one.takes_id]
        ids = [value for one, value in given if not one.fits(value) and value in self._sources.spans()]
        is_made_up = False
        if not any(map(self._sources.hold, values)):
            is_made_up = not self._sources.spans() and any(len(digits(str(value))) > 1 for value in values)
            shortest = 99 if any(isinstance(value, int | float) for value in values) else TELLING_NUMBER
            ids += [span for span in asked.spans if not span.isdigit() or len(span) >= shortest]
        takes = self._taking(ids)
        if is_made_up and asked.names:
            takes += [one.tool for one in self._ranked if _lone_text(one.tool)]
        others = [one for one in takes if one is not tool and self.may_be_forced(one)][:AT_ONCE]
        return [*others, *([tool] if others and not is_made_up else [])]

    def _is_for(self, one: Parameter, value: str) -> bool:
        return one.fits(value) if one.takes_id else one.required and one.kind == "integer" and value.isdigit()

    def _takes_from(self, tool: ToolDefinition, last: Outcome) -> bool:
        """Tell whether a tool takes a value that a result gave and the call did not."""
        return any(_meets(one, *entry) for one in parameters(tool) if one.required for entry in _fresh(last))

    def _is_lead(self, last: Outcome, takes: Sequence[ToolDefinition]) -> bool:
        """Tell whether a result gives nothing but ids that other tools take: then it is no answer yet."""
        sought = [bare(str(value)) for value in leaves(last.call.arguments)]
        told = [entry for entry in _fresh(last) if not any(one and one in bare(str(entry[1])) for one in sought)]
        needed = [one for tool in takes for one in parameters(tool) if one.required]
        return bool(needed) and all(any(_meets(one, *entry) for one in needed) for entry in told)

    def _again(self, tool: ToolDefinition) -> list[ToolDefinition]:
        """Return the tool that ran, held to what else the question names of the kind that it took."""
        if not self.may_be_forced(tool):
            return []
        again = tool
        for one in parameters(tool):
            named = self.others.get(one.name, ())
            left = [each for each in named if not any(value in bare(each) for value in self._tried)]
            # Endings stick to the words of scripts without capitals: those the model writes itself.
            is_told = one.is_choice or any(each.isascii() for each in left)
            again = _held_to(again, one.name, left) if left and is_told else replace(again) if left else again
        return [again] if again is not tool else []

    others: Mapping[str, Sequence[str]] = MappingProxyType({})
    """What the question names beside the values of the last call, by parameter."""
    leads: frozenset[str] = frozenset()
    """Ids of calls whose results only led on to the next."""
    used: frozenset[str] = frozenset()
    """Values that calls of this run have taken."""


def _lone_text(tool: ToolDefinition) -> Parameter | None:
    """Return the one parameter that a tool needs, where it takes a text of no told form, such as a name."""
    needed = [one for one in parameters(tool) if one.required]
    return needed[0] if len(needed) == 1 and needed[0].is_plain_text else None


def _without_options(tool: ToolDefinition, last: Outcome) -> ToolDefinition | None:
    """Return a tool without the optional parameters with which it found nothing, so that it may be asked wider."""
    given = {one.name for one in parameters(tool) if not one.required} & last.call.arguments.keys()
    if not given or last.failed:
        return None
    kept = {name: one for name, one in tool.input_schema["properties"].items() if name not in given}
    return replace(tool, input_schema={**tool.input_schema, "properties": kept})


def _held_to(tool: ToolDefinition, name: str, values: Sequence[str]) -> ToolDefinition:
    """Return a tool whose parameter can only be one of these."""
    properties = tool.input_schema["properties"]
    kept = {**properties, name: {**properties[name], "enum": list(values)}}
    return replace(tool, input_schema={**tool.input_schema, "properties": kept})


def _fed(tool: ToolDefinition, last: Outcome) -> ToolDefinition:
    """Return a tool that follows on a result; the one text that it needs can only be a value of that."""
    text = _lone_text(tool)
    values = [str(value) for key, value in _fresh(last) if text and _meets(text, key, value)]
    return _held_to(tool, text.name, values) if text and values else tool


def _fresh(last: Outcome) -> list[tuple[str, Any]]:
    """Return what a result gave and the call did not, by key; a count of its rows tells nothing that they do not."""
    found = decoded(last.result.text.strip())
    given = {bare(str(value)) for value in leaves(last.call.arguments)}
    inner = found.values() if isinstance(found, dict) else ()
    given |= {str(len(one)) for one in inner if isinstance(one, list)}
    return [(key, value) for key, value in _entries(found) if bare(str(value)) not in given]


def _entries(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _entries(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner)  # A bare value in a list has no key of its own.
    elif isinstance(value, str | int) and not isinstance(value, bool) and str(value):
        yield key, value


def _meets(one: Parameter, key: str, value: Any) -> bool:
    """Tell whether a value of a result is one for a parameter: by its key, or by the id's shape."""
    if one.is_choice or (isinstance(value, int) and one.kind == "string"):
        return False
    if one.takes_id:
        return isinstance(value, str) and one.fits(value) and any(letter.isdigit() for letter in value)
    name, other = bare(one.name), bare(key)
    if other:
        shorter, longer = sorted((name, other), key=len)
        return name == other or (len(shorter) >= TELLING_NAME and longer.startswith(shorter))
    is_id = isinstance(value, str) and value[-1:].isdigit() and value[:1].isalpha() and " " not in value
    return is_id and one.kind == "string"
