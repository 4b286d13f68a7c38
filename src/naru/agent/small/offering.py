"""Which tools a small model is shown in a round: the nearest, and what leads to them, by facts of their schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.selection import Ranked, index_of
from naru.agent.small import taking
from naru.agent.small.parameters import Parameter, known_values, needed, parameters, shared_numbers
from naru.agent.small.reading import is_nothing
from naru.agent.small.sources import Sources
from naru.messages import ToolCall, ToolDefinition
from naru.tools.lines import decoded, leaves
from naru.tools.names import plain_name
from naru.tools.texts import TELLING_NUMBER, Text, bare, digits, numbers

AT_ONCE, ALL, LEADS = 3, 4, 2
"""Tools that a small model chooses from well; that are always all shown; that may lead up to one that lacks an id."""
SPOKEN_OF = 0.25  # Share of the words of the tool that speaks most of an id from which another speaks of it too.
FITS, LACKS = 0.12, 0.05
"""What a tool gains for a value of the question that it takes by its schema (102 questions in ten languages), and loses
for an id that it needs and nobody gave."""
LEAD = 0.1  # So far ahead the nearest tool was the right one in 47 of 47 questions, by .06 in 54 of 56.
TELLS = 0.3  # What a tool loses, for a question, of how far it points to changing (first: 235 of 301, without 227).
OFF = -0.08  # A tool so far behind talk that none is needed (54 of 90 questions of general knowledge, 1 of 309 others).
FAR = 0.15  # Closeness below which a call that holds nothing of what was said is none that anybody asked for.


class Offering:
    """The tools of one run, nearest first, and what became of them."""

    def __init__(self, ranked: Sequence[Ranked], sources: Sources, *, is_first: bool = True) -> None:
        self._sources = sources
        self.numbered = shared_numbers([one.tool for one in ranked])
        self._of = {one.tool.name: one for one in ranked}
        texts = [taking.texts(one.tool) for one in ranked]
        self._has_search = any(len(some) == 1 and not some[0].is_named_id for some in texts)  # For names.
        self._standing = {name: self._stands(one) for name, one in self._of.items()}
        nearest_first = sorted(ranked, key=lambda one: -self._standing[one.tool.name])
        self._tools = [one.tool for one in nearest_first]
        self._in_vain: list[str] = []  # Tools that found nothing, without their options too.
        self._wanted: ToolDefinition | None = None
        self.chosen = ""  # The tool that the model called of itself, for want of whose id others are asked.
        self.changing = frozenset(one.tool.name for one in ranked if one.changes)
        surely = [one for one in ranked if one.changes is False and one.closeness is not None]
        self.reading = frozenset(one.tool.name for one in surely)  # What is asked for beside what is in view.
        self.is_talk = any(one.is_talk for one in ranked) or (is_first and -1.0 < self.margin < OFF)
        self.is_to_know = any(one.is_to_know for one in ranked)

    def _stands(self, one: Ranked) -> float:
        """Return how near a tool stands to the question: in meaning, and by the values that its schema takes."""
        names = [name for name in self._sources.question.names if name not in self._sources.used]
        fits = self.fits(one.tool, self._sources.subject) + bool(names and len(taking.texts(one.tool)) == 1)
        return one.score + FITS * fits - LACKS * len(self.lacks(one.tool)) - TELLS * (one.doubt + one.idle)

    @property
    def is_untold(self) -> bool:
        """Tell whether nothing says which tool is near: no meaning, no word that is shared, no value that one takes."""
        return all(one.closeness is None and self._standing[name] <= 0 for name, one in self._of.items())

    @property
    def margin(self) -> float:
        """How much nearer to the question the nearest tool lies than talk does; -1 where nothing measures it."""
        first, asked = self._of[self._tools[0].name], self._sources.question
        fits = self.fits(first.tool, asked.spans) + bool(asked.names and len(taking.texts(first.tool)) == 1)
        return -1.0 if first.closeness is None else first.closeness + FITS * fits - first.talk

    def is_asked_for(self, call: ToolCall) -> bool:
        """Tell whether a call has to do with what was said: no talk, a tool that lies near, or a value."""
        of, asked, values = self._of[call.name], self._sources.question, leaves(call.arguments)
        # Of talk the message itself says nothing, nor does a word of it that is no name.
        words = {asked.text.lower(), *(one.lower() for one, is_name in asked.words.items() if not is_name)}
        said = [one for one in values if self._sources.hold(one) and not (of.is_talk and str(one).lower() in words)]
        is_near = of.closeness is None or of.closeness > max(FAR, of.talk - LEAD) or self.fits(of.tool, ()) > 0
        return is_near or bool(said or self._sources.results) or not (self.is_talk and (values or of.is_talk))

    def fits(self, tool: ToolDefinition, given: Sequence[str]) -> int:
        """Count the parameters that take a value of the question: a listed one, an id of their shape, a number."""
        holds = self._sources.question.holds
        return sum(any(map(holds, one.listed)) or any(map(one.takes, given)) for one in parameters(tool))

    def is_of_another(self) -> bool:
        """Tell whether a follow-up holds an id or a listed value that a tool takes and nobody has spoken of."""
        asked = self._sources.question
        taken = [one for tool in self._tools for one in parameters(tool)]
        given = [value for one in taken for value in one.listed if asked.holds(value)]
        given += [span for span in asked.spans if any(one.takes_id and one.fits(span) for one in taken)]
        return bool(self._sources.before) and any(map(self._sources.is_new, given))

    def may_be_forced(self, tool: ToolDefinition) -> bool:
        """Tell whether a call may be asked for: it reads, or lies nearest; and it needs no number that nobody gave."""
        ranked = self._of[tool.name]
        is_unsaid = ranked.closeness is None and not ranked.says_reading
        if ranked.changes or (is_unsaid and len(self._tools) > ALL):
            return False
        # What takes a value of the question could have been called before something was looked up, and was not.
        is_ready = self.fits(tool, self._sources.subject) > 0 or ranked.is_to_know
        is_nearest = ranked.tool is self._tools[0] and not (self._sources.results and is_ready)
        is_harmless = ranked.changes is False or is_nearest or tool.name == self.chosen
        counts = any(one.kind in ("integer", "number") for one in needed(tool))
        return is_harmless and (not counts or bool(self._sources.spans()))

    def lacks(self, tool: ToolDefinition) -> list[Parameter]:
        """Return the ids that a tool needs and no source holds; `88123` may be `ORD-88123` without its letters."""
        has_number = any(len(span) >= TELLING_NUMBER and span.isdigit() for span in self._sources.subject)
        counted = [one for one in needed(tool) if one.kind == "integer" and one.name in self.numbered]
        is_unsaid = not self._sources.spans() and (self._has_search or not self._sources.question.names)
        ids = [one for one in needed(tool) if one in counted or (one.takes_id and not has_number)]
        ids += [one for one in needed(tool) if is_unsaid and one.is_plain_text and one.is_named_id]
        return [one for one in ids if not known_values(one, self._sources, self.numbered)]

    def first(self) -> list[ToolDefinition]:
        """Return what to show for the question: the nearest that can be called, and what leads to the very nearest."""
        left = [tool for tool in self._tools if tool.name not in self._in_vain]
        if len(left) <= ALL:
            return self._in_order(left, ALL)
        is_all_said = len(needed(left[0])) <= self.fits(left[0], self._sources.subject)
        if is_all_said and self.is_to_know and left[0].name in self.reading:  # Those far behind are for something else.
            left = self._surest([one for one in left if self._is_about_as_near(one, left[0])])
        ready = [tool for tool in left if not self.lacks(tool)]
        leads = self._lead_up_to(left[0]) if self.lacks(left[0]) else []
        return self._in_order([*leads, *([tool for tool in left[:AT_ONCE] if tool in ready] or left[:1]), *ready])

    def prefer(self, name: str) -> list[ToolDefinition]:
        """Take a tool for the nearest, since the model picked it; return what to show."""
        self._tools.sort(key=lambda tool: tool.name != name)
        return self.first()

    def nearest(self) -> list[ToolDefinition]:
        """Return what to ask for: tools about as near as the nearest that can be called now, or what leads up to it."""
        first, able = self._tools[0], self._able()
        if not able or self._of[first.name].closeness is None:
            readers = [tool for tool in self.first() if self.may_be_forced(tool)]
            return [tool for tool in readers if tool in able] or readers
        leads = self._lead_up_to(first) if self.lacks(first) else []
        return self._in_order(leads or [one for one in able if self._is_about_as_near(one, first)] or able[:1])

    def instead_of(self, refused: ToolDefinition) -> list[ToolDefinition]:
        """Return what to ask for when a call holds a value of nowhere: the tool again, or what leads up to its id."""
        leads = self._lead_up_to(refused)
        is_known = all(known_values(one, self._sources, self.numbered) for one in needed(refused) if one.takes_id)
        is_open = self.lacks(refused) or (leads and not is_known)
        others = [tool for tool in self.first() if not self.lacks(tool) and tool.name != refused.name]
        return [*([] if is_open else [refused]), *leads] or others

    def _is_about_as_near(self, tool: ToolDefinition, other: ToolDefinition) -> bool:
        return self._standing[tool.name] > self._standing[other.name] - LEAD

    def _surest(self, tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
        """Return the nearest of some tools, and of the others, for a question, what surely changes nothing."""
        return [*tools[:1], *(one for one in tools[1:] if not self._of[one.name].doubt)]

    def _in_order(self, tools: Sequence[ToolDefinition], most: int = AT_ONCE) -> list[ToolDefinition]:
        """Return tools nearest first, which is what a small model takes; where all are shown, by name: one prompt."""
        names = list(dict.fromkeys(one.name for one in tools))[:most]
        found = [tool for tool in self._tools if tool.name in names]
        return found if len(self._tools) > ALL else sorted(found, key=lambda tool: tool.name)

    def _lead_up_to(self, tool: ToolDefinition) -> list[ToolDefinition]:
        """Take a tool for what is wanted; return tools that can be called now and speak of the ids that it needs."""
        self._wanted = tool
        open_ones = [one for one in needed(tool) if not one.is_choice]
        wanted = " ".join(f"{plain_name(one.name)} {one.schema.get('description', '')}" for one in open_ones)
        open_names = {one.name for one in open_ones}
        able = [one for one in self._able() if one.server == tool.server and one is not tool]
        others = [one for one in able if not open_names & {each.name for each in parameters(one)}]
        spoken = index_of(others).rank(f"{wanted} {plain_name(tool.name)}") if others else []
        return [one.tool for one in spoken if one.score > spoken[0].score * SPOKEN_OF][:LEADS]

    def _left(self) -> list[ToolDefinition]:
        """Return the tools that may be asked for and have not been asked in vain."""
        return [tool for tool in self._tools if tool.name not in self._in_vain and self.may_be_forced(tool)]

    def _able(self) -> list[ToolDefinition]:
        """Return those of them that lack no id."""
        return [tool for tool in self._left() if not self.lacks(tool)]

    def after(self, last: Outcome, beside: Mapping[str, Sequence[str]]) -> list[ToolDefinition]:
        """Return the tools to go on with, if any; `beside` is what the question names and no call took."""
        tool = self._of[last.call.name].tool
        again = [taking.for_another(tool, beside)] if beside and self.may_be_forced(tool) else []
        if is_nothing(last):
            # One that lay farther than another was the wrong tool, and words of no capitals are hardly names of more.
            is_wide = taking.wider(tool, last, self._sources.question) is None
            is_told = tool is self._tools[0] and again != [tool] and is_wide
            return again if again and is_told else self.elsewhere(last) or again
        wanted, given, takes = self._wanted, taking.fresh(last), self._taking_from(last, taking.fresh(last))
        if wanted and (wanted.name not in self.changing or wanted.name == self.chosen) and taking.taken(wanted, given):
            self._wanted, again = None, []
            follow = [wanted, *(one for one in takes if self._is_about_as_near(one, wanted))]
        else:
            # What it found may have moved the tools: their standing is told anew.
            nearer = [one for one in takes if self._stands(self._of[one.name]) > self._stands(self._of[tool.name])]
            follow = nearer or (takes if wanted or self.is_lead(last) else [])
        return [*(taking.fed(one, given) for one in self._in_order(follow)), *again]

    def elsewhere(self, last: Outcome) -> list[ToolDefinition]:
        """Return what to ask where a call found nothing: the tool without options, those for its id, else the next."""
        tool = self._of[last.call.name].tool
        if tool.name in self.changing or not is_nothing(last) or self.is_talk:
            return []
        ids, taken = self._sources.subject, set(map(str, leaves(last.call.arguments)))
        near = [one for one in self._able() if self._is_about_as_near(one, tool)]
        if last.failed and taken >= {*ids, *self._sources.question.names} != set() and near in ([], [tool]):
            return []  # It took all that was named, and says why it gave nothing.
        if (broader := taking.wider(tool, last, self._sources.question, ids)) is not None:
            return [broader]
        if not ids or taken.intersection(ids):
            self._in_vain.append(tool.name)
        if len(self._in_vain) > (AT_ONCE - 1 if ids else 1):
            return []
        if any(taking.takes_any(one, ids) for one in self._tools):
            # The nearest tool has said that there is none: others of the same parameter say other things of it.
            told = {one.name for one in parameters(tool)} if tool is self._tools[0] else set()
            left = self._surest([one for one in self._left() if taking.takes_any(one, ids)])
            found = decoded(last.result.text.strip())
            if [] in (found, *(found.values() if isinstance(found, dict) else ())):  # None of a kind: it may be there.
                told = set() if any(self._is_about_as_near(one, tool) for one in left) else told
            return self._in_order([one for one in left if not told & {each.name for each in parameters(one)}])
        if ids:
            held = [*self._sources.question.names, *ids]
            alone = [one for one in self._left() if len(taking.texts(one)) == 1]
            alone = [one for one in alone if one in near] or alone
            return [taking.held_to(one, needed(one)[0].name, held) for one in alone[:AT_ONCE]]
        leads = [one for one in self._lead_up_to(self._wanted or tool) if self._standing[one.name] >= 0][:1]
        near = [one for one in self._able() if self._is_about_as_near(one, self._tools[0])]
        return leads or self._in_order(near[: AT_ONCE - 1])

    def rather(self, call: ToolCall) -> list[ToolDefinition]:
        """Return what reads, where a change was called for a mere question.

        Where nobody can tell what the called tool does, what reads must be about as near and the call hold what nobody
        said: `convert(50, "USD", "EUR")` of "How much is 50 USD in EUR?" is what was asked for.
        """
        of, values = self._of[call.name], leaves(call.arguments)
        able = [one for one in self._able() if self._of[one.name].changes is False]
        near = [one for one in able if self._is_about_as_near(one, of.tool)] or (able[:AT_ONCE] if of.changes else [])
        is_said = bool(values) and all(map(self._sources.hold, values))
        return near if self.is_to_know and (of.changes or (of.changes is None and not is_said)) else []

    def fuller(self, call: ToolCall) -> list[ToolDefinition]:
        """Return what changes something and needs all that was named, where a change leaves a part of it out."""
        named = {*self._sources.question.spans, *self._sources.question.names}
        taken = Text(" ".join(str(one) for one in leaves(call.arguments)))
        if call.name not in self.changing or all(map(taken.holds, named)):
            return []
        able = [one for one in self._tools if one.name in self.changing and len(needed(one)) >= len(named)]
        return [one for one in able if one.name != call.name and self._is_about_as_near(one, self._of[call.name].tool)]

    def meant_for(self, call: ToolCall) -> list[ToolDefinition] | None:
        """Return the tools to ask for once more, where values of the question are for others; None if none are.

        Such are an id in a wrong place, or cut to a number (`RSV-2202`), and, for a call that holds nothing of what was
        said, all ids of the question, or words, where there is no id and the call made up a number.
        """
        tool, asked, known = self._of[call.name].tool, self._sources.question, self._sources.spans()
        able = [one for one in self._tools if one is not tool and self.may_be_forced(one)]
        given = [(one, str(call.arguments.get(one.name, ""))) for one in parameters(tool) if one.takes_id]
        ids, values = [value for one, value in given if not one.fits(value) and value in known], leaves(call.arguments)
        cut = {str(one) for one in values if type(one) is int and one > 9} - {*known}
        ids += [span for span in asked.spans if not span.isdigit() and digits(span) in cut]
        if not any(self._sources.hold(value) or numbers(str(value)) & asked.numbers for value in values):
            is_id = asked.names or any(isinstance(one, str) and one.isdigit() for one in values)
            if is_id and not known and any(len(digits(str(value))) > 1 for value in values):
                takes = {one.name: of for one in able if 0 < (of := len(taking.texts(one))) <= max(1, len(asked.names))}
                others = [one for one in able if takes.get(one.name) == max(takes.values(), default=0)]
                return [one for one in others if one in self._left()][:AT_ONCE] if others else None
            # A number of the call may be what a bare one of the question was made into.
            has_number = any(type(value) in (int, float) for value in values)
            ids += [span for span in asked.spans if not (span.isdigit() and (has_number or len(span) < TELLING_NUMBER))]
            if has_number and not (ids or given or self._is_about_as_near(tool, self._tools[0])):
                return self.nearest() or None
        others = self._surest([one for one in able if taking.takes_any(one, ids)])
        # A bare number may be a quantity; letters make it the id of something else.
        own = [tool] if given or taking.takes_any(tool, ids) or all(map(str.isdigit, ids)) else []
        return [*[one for one in others if one in self._left()][:AT_ONCE], *own] if others else None

    def _taking_from(self, last: Outcome, given: Sequence[tuple[str, Any]]) -> list[ToolDefinition]:
        """Return the other tools that take a value which a result gave, or are named after its key."""
        able = [one for one in self._tools if one.name != last.call.name and self.may_be_forced(one)]
        return [one for one in able if taking.taken(one, given) or taking.named_for(one, given)]

    def pointed_to(self, last: Outcome, answer: Text | None = None, *, alone: bool = False) -> list[ToolDefinition]:
        """Return the tools that read what a result, or an answer from it, tells by no more than its id.

        An answer that tells nothing of the only result is none from it: then what all of it leads to may be.
        """
        asked, most = self._sources.question, self._of[last.call.name].closeness or 0.0
        found = [one for one in taking.fresh(last) if not asked.holds(one[1])]
        given = [one for one in found if answer is None or answer.holds(one[1])]
        told = [value for _, value in found if answer is None or numbers(str(value)) & answer.numbers]
        if alone and not (given or told):
            return [taking.fed(one, found) for one in self._in_order(self._taking_from(last, found))]
        follow = self._taking_from(last, given)
        if answer is not None and not all(self._taking_from(last, [each]) for each in given):
            # It tells other things as well: perhaps those were asked for.
            follow = [one for one in follow if (self._of[one.name].closeness or 0.0) > most - LEAD]
        return [taking.fed(one, given) for one in self._in_order(follow)]

    def is_lead(self, last: Outcome) -> bool:
        """Tell whether a result gives nothing but ids that other tools take: then it is no answer yet."""
        sought = [bare(str(value)) for value in leaves(last.call.arguments)]
        told = [entry for entry in taking.fresh(last) if not any(one and one in bare(str(entry[1])) for one in sought)]
        open_ones = [one for tool in self._taking_from(last, taking.fresh(last)) for one in needed(tool)]
        return bool(open_ones) and all(any(taking.meets(one, *entry) for one in open_ones) for entry in told)
