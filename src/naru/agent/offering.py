"""Which tools a small model is shown now, and how clearly the question speaks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from naru.agent.asked import asked_values, asks_behind
from naru.agent.changes import changes_something, may_change
from naru.agent.execute import Outcome
from naru.agent.fitness import can_be_filled, fit, implied, takes_given_id, values_suit, values_tell
from naru.agent.follow import means, open_words, second_of_pair, takes_new_value
from naru.agent.parameters import TYPED, candidates, kind_of, lists, points, properties, required, takes_words
from naru.agent.reading import is_sentence
from naru.agent.searching import narrower, searches, wants_search
from naru.agent.selection import Ranked, index_of, stem, terms
from naru.agent.sources import Sources
from naru.agent.talk import asks_to_talk
from naru.messages import ToolDefinition

OFFERED = 3
"""Tools shown at once: three did better than eight, as long as the right one is among them."""
_DOINGS = frozenset(
    stem(word)
    for word in "count convert calculate compare check create write update delete send add remove open close change "
    "read compute difference".split()
)
"""Verbs that tools of every kind have in their names."""
_IMPLIED = 0.4
"""Weight of what values mean without saying it, beside the words themselves."""
_STANDS_OUT = 0.6
"""Part of the best tool's relevance that the next may have where the best is to be plain."""
_OF_NOW = frozenset(
    "now current currently today present still yet already work works working worked belong belongs exist exists have "
    "지금 현재 오늘 아직 이미".split()
)
"""Words that no further call would answer: of now, and verbs that only join a thing to what is asked of it."""
_LACKING_COUNTS = 6
"""Relevance that a tool loses for the id that it lacks, and another gains for the value that it takes."""
_SEARCHES = 2
"""Further searches after one that found nothing."""
_GENERIC = frozenset(
    stem(word)
    for word in "get list find search show read look name tell give make take do set run use all any new detail info "
    "information data item first last text word value number result record id go day date today daily current time "
    "content name list".split()
)
"""Terms in which tools of every kind and questions of every kind meet: no evidence that one is for the other."""


class Offering:
    """The tools of a run, ranked for its question; knows what has been made of them."""

    def __init__(self, question: str, tools: Sequence[ToolDefinition], sources: Sources) -> None:
        self._question = question
        self._sources = sources
        self._index = index_of(tools)
        self._by_name = {tool.name: tool for tool in tools}
        meant = {one.tool.name: one.score * _IMPLIED for one in self._index.rank(implied(sources))}
        ranked = [replace(one, score=one.score + meant[one.tool.name]) for one in self._index.rank(question)]
        ranked = [
            replace(one, score=one.score * fit(one.tool, sources.asked)) if one.score > 0 else one for one in ranked
        ]
        self._ranked = sorted(ranked, key=lambda one: -one.score)
        self._is_talk = asks_to_talk(question, self._index)
        self._made: dict[str, list[Outcome]] = {}
        self._set_aside: set[str] = set()
        self._empty: dict[str, Outcome] = {}
        self._led_to: set[str] = set()
        self.after_refusal = False
        """The last call was refused, for a value that nobody gave."""

    def note(self, name: str, outcome: Outcome, *, nothing: bool) -> None:
        """Take in a call that ran."""
        self._made.setdefault(name, []).append(outcome)
        self._empty.pop(name, None)
        if outcome.failed:
            self._set_aside.add(name)
        elif nothing:
            self._empty[name] = outcome
        else:
            # What failed for want of a value may be filled now; what failed twice stays aside.
            self._set_aside = {one for one in self._set_aside if len(self._made[one]) > 1}

    @property
    def led(self) -> bool:
        """Tell whether a tool was shown for the id that it gives to another."""
        return bool(self._led_to)

    def used(self, name: str) -> frozenset[str]:
        """Return the values that a tool has run with."""
        return frozenset(str(value) for one in self._made.get(name, ()) for value in one.call.arguments.values())

    def now(self) -> list[Ranked]:
        """Return the few tools that may help now, best first."""
        if self._is_talk:
            return []
        able = [one for one in self._ranked if self._is_allowed(one.tool)]
        helping = [one for one in able if self._has_new_work(one)] if self._made else self._first(able)
        if not helping and self._empty.keys() == self._made.keys() - self._set_aside:
            # What was searched is not there: another tool may know it.
            left = [one for one in able if one.tool.name not in self._made and self._may_take(one.tool)]
            helping = self._first(left, filled=True) or self._searches(left, asked_for=bool(self._empty))
        if not helping:
            return []
        helping = self._pair_first(helping)
        best = helping[0].score
        offered = [one for one in helping[:OFFERED] if one.score >= best * 0.35]
        # One whose every value stands in the question is always among them.
        sure = next((one for one in helping if one.score > 0 and values_suit(one.tool, self._sources)), None)
        if sure is not None and sure not in offered:
            offered = [*offered[: OFFERED - 1], sure]
        return offered

    def _pair_first(self, helping: list[Ranked]) -> list[Ranked]:
        """Put first the tool that has run with one of two things that are asked about."""
        for one in helping:
            made = self._made.get(one.tool.name, [])
            if made and one is not helping[0] and second_of_pair(self._question, one.tool, made) is not None:
                first = replace(one, score=helping[0].score / _STANDS_OUT + 1)
                return [first, *(other for other in helping if other is not one)]
        return helping

    def _first(self, able: list[Ranked], *, filled: bool = False) -> list[Ranked]:
        """Return what may be called before anything was found."""
        helping = [one for one in able if one.score > 0]
        telling = [one for one in able if values_tell(one.tool, self._sources)]
        if helping and telling and self._sources.asked.ids() and not takes_given_id(helping[0].tool, self._sources):
            # An id stands in the question, and what shares words with it cannot take that.
            best = helping[0].score
            rest = [one for one in helping if one not in telling]
            helping = [*(replace(one, score=max(one.score, best)) for one in telling), *rest]
        helping = helping or telling
        helping = helping or self._searches(able)
        helping = self._with_provider(helping, able)
        # An id was invented: only tools that can be filled are left, such as the one that gives such ids.
        if not filled and not self.after_refusal:
            return helping
        can = [one for one in helping if not self._lacks(one.tool)]
        return can if filled else can or helping

    def has_untried_fit(self) -> bool:
        """Tell whether a tool for which the question holds every value has not run yet."""
        untried = [one.tool for one in self.now() if one.tool.name not in self._made]
        return any(values_suit(tool, self._sources) or self._may_know(tool) for tool in untried)

    def _may_know(self, tool: ToolDefinition) -> bool:
        """Tell whether a tool searches by words, when what one tool did not know has a name."""
        return bool(self._sources.about()) and takes_words(tool) and searches(tool)

    def speaks_clearly(self) -> bool:
        """Tell whether the question is plainly for the best tool: by two words, a word of its name, or its values."""
        offered = self.now()
        if not offered or self._made:
            return bool(offered)
        meanings = means(self._question, self._index)
        leads = self.leads(offered[0].tool.name)
        return any(self._is_spoken_of(one, meanings, leads=leads) for one in offered)

    def leads(self, name: str) -> bool:
        """Tell whether a tool is shown first since it gives, by a name in the question, the id that another lacks."""
        offered = self.now()
        if not offered or offered[0].tool.name != name:
            return False
        first = offered[0].tool
        is_giver = self._takes_name(first, any_words=True) or lists(first)
        return self.led and not self._lacks(first) and is_giver

    def _is_spoken_of(self, ranked: Ranked, meanings: dict[str, set[str]], *, leads: bool = False) -> bool:
        """`leads`: another tool gives what this one lacks, by a name that the question holds."""
        tool = ranked.tool
        if values_tell(tool, self._sources) or self._searches([ranked]):
            return True
        if leads and self.leads(tool.name):
            return True
        if not leads and not can_be_filled(tool, self._sources):
            return False
        telling = set(ranked.reasons) - _GENERIC
        words = {word for word, meant in meanings.items() if meant & telling}
        named = set(terms(tool.name)) & telling
        if len(words - _DOINGS) >= 2 or named - _DOINGS:
            return True
        # A verb alone, such as `convert`, is plain only with a value for it.
        return bool(words) and (values_suit(tool, self._sources) or self._takes_name(tool) or self._has_value(tool))

    def bears_out(self, name: str) -> bool:
        """Tell whether a call of this tool has to do with the question: a model calls for small talk too.

        A tool that takes nothing needs the question to speak of it plainly; else one word that is not every tool's.
        """
        if self._made or self.leads(name):
            return True
        ranked = next((one for one in self._ranked if one.tool.name == name), None)
        if ranked is None:
            return False
        meanings = means(self._question, self._index)
        if self._is_spoken_of(ranked, meanings):
            return True
        return bool(required(ranked.tool)) and bool(set(ranked.reasons) - _GENERIC)

    def _has_value(self, tool: ToolDefinition) -> bool:
        known = properties(tool)
        return any(
            kind_of(name, known[name]) in TYPED and candidates(name, known[name], self._sources)
            for name in required(tool)
            if name in known
        )

    def has_clear_best(self) -> bool:
        """Tell whether one tool stands out, of which the question plainly speaks."""
        offered = self.now()
        if not offered or not self.speaks_clearly():
            return False
        if self.led and not self._made and values_suit(offered[0].tool, self._sources):
            return True  # It takes the value of the question, and gives the id that another one lacks.
        return all(one.score < offered[0].score * _STANDS_OUT for one in offered[1:])

    def _takes_name(self, tool: ToolDefinition, *, any_words: bool = False) -> bool:
        """Tell whether a tool wants words alone, and the question has some in quotes or a name in it.

        `any_words`: what no tool speaks of will do, without quotes or capitals.
        """
        about = self._sources.about() if any_words else self._sources.quoted() or self._sources.names()
        return bool(about) and takes_words(tool)

    def _is_allowed(self, tool: ToolDefinition) -> bool:
        is_open = tool.name not in self._set_aside or self._may_retry(tool)
        return is_open and may_change(tool, self._question)

    def _may_take(self, tool: ToolDefinition) -> bool:
        """Tell whether a tool can be asked for what another one did not know."""
        return not self._sources.about() or self._takes_name(tool, any_words=True) or not takes_words(tool)

    def _may_retry(self, tool: ToolDefinition) -> bool:
        """Tell whether a tool that failed, with a name for its id perhaps, can be called with an id found since."""
        known = {*self._sources.asked.ids(), *self._sources.asked.numbers(), *self.used(tool.name)}
        is_first = len(self._made.get(tool.name, ())) == 1
        return is_first and takes_new_value(tool, self._sources, known, most=1)

    def _with_provider(self, helping: list[Ranked], able: list[Ranked]) -> list[Ranked]:
        """Put first the tool that gives the id which the best one needs and nobody gave (UPLIFT: chain)."""
        if not helping:
            return []
        lacking = next((one for one in helping[:OFFERED] if self._lacks(one.tool)), None)
        if lacking is None or not set(lacking.reasons) - _GENERIC:
            return helping
        wanted = " ".join(
            f"{name} {properties(lacking.tool)[name].get('description', '')}" for name in self._lacks(lacking.tool)
        )
        order = [one.tool.name for one in self._index.rank(f"{wanted} {self._question}")]
        givers = self._givers(able, set(terms(" ".join(self._lacks(lacking.tool)))) - _GENERIC)
        givers.sort(
            key=lambda one: (
                not values_suit(one.tool, self._sources),
                not takes_words(one.tool),
                order.index(one.tool.name),
            )
        )
        if any(one.tool.name == helping[0].tool.name for one in givers) and not values_suit(
            helping[0].tool, self._sources
        ):
            self._led_to.add(lacking.tool.name)  # The best one is a giver itself.
            return helping
        if not givers or not self._needs_giver(helping[0], lacking, givers[0]):
            return helping
        self._led_to.add(lacking.tool.name)
        first = replace(givers[0], score=max(helping[0].score, givers[0].score) * 1.01)
        return [first, *(one for one in helping if one.tool.name != first.tool.name)]

    def _needs_giver(self, best: Ranked, lacking: Ranked, giver: Ranked) -> bool:
        """Tell whether the question is for the tool that lacks an id, rather than for the best one that lacks none."""
        if self._lacks(best.tool):
            return True
        if values_suit(best.tool, self._sources):
            return values_suit(giver.tool, self._sources) and best.score <= lacking.score * _LACKING_COUNTS
        named = bool(self._sources.quoted() or self._sources.names())
        return (named and not takes_words(best.tool)) or best.score <= lacking.score * 2

    def _searches(self, able: list[Ranked], *, asked_for: bool = False) -> list[Ranked]:
        """Return what searches by words, where a person wants something found by its name."""
        wanted = asked_for or wants_search(self._question)
        if not wanted or not (self._sources.quoted() or self._sources.names()):
            return []
        return [one for one in able if takes_words(one.tool) and searches(one.tool) and not changes_something(one.tool)]

    def _givers(self, able: list[Ranked], nouns: set[str]) -> list[Ranked]:
        """Return the tools that could give an id: those that search by a name in the question, else those that list."""
        reading = [
            one
            for one in able
            if not self._lacks(one.tool) and not changes_something(one.tool) and can_be_filled(one.tool, self._sources)
        ]
        about = bool(self._sources.about())
        searching = [one for one in reading if (about and takes_words(one.tool)) or _is_filled_by_values(one.tool)]
        listing = [one for one in reading if about and not required(one.tool) and lists(one.tool)]
        # Of the kind that the id is of, such as `account` for `account_id`, if any is.
        of_kind = [
            one
            for one in [*searching, *listing]
            if values_suit(one.tool, self._sources) or nouns & set(terms(f"{one.tool.name} {one.tool.description}"))
        ]
        return of_kind or searching or listing

    def _lacks(self, tool: ToolDefinition) -> list[str]:
        """Return the ids that a tool needs and neither question nor results hold."""
        known = properties(tool)
        return [
            name
            for name in required(tool)
            if name in known and points(name, known[name]) and not candidates(name, known[name], self._sources)
        ]

    def _has_new_work(self, ranked: Ranked) -> bool:
        """After a result: is there a value not looked up with this tool, or a word of the question still open?"""
        tool, made = ranked.tool, self._made.get(ranked.tool.name, [])
        if made and not made[-1].failed:
            if tool.name in self._empty and is_sentence(made[-1].result.text):
                return False  # It says of a thing that it does not know it: less of its name would be another thing.
            if tool.name in self._empty:
                return len(made) <= _SEARCHES and narrower(made, tool, self._sources.asked) is not None
            return self._other_id(tool) or second_of_pair(self._question, tool, made) is not None
        if self._lacks(tool):
            return False
        answered = [name for name in self._made if name not in self._set_aside and name not in self._empty]
        if not answered:
            return ranked.score > 0
        return self._goes_on(ranked, answered)

    def _goes_on(self, ranked: Ranked, answered: list[str]) -> bool:
        """Tell whether a tool may say what the tools that answered did not."""
        tool, found = ranked.tool, [one for name in answered for one in self._made[name]]
        still_open = open_words(self._question, self._index, [self._by_name[name] for name in answered], found)
        still_open -= _OF_NOW
        meanings = means(self._question, self._index)
        spoken = {word for word, meant in meanings.items() if meant & set(ranked.reasons) - _GENERIC}
        in_question = {*self._sources.asked.ids(), *self._sources.asked.numbers()}
        if spoken & still_open:
            return True
        if tool.name in self._led_to and still_open and takes_new_value(tool, self._sources, in_question):
            return True
        if asks_behind(self._question, found):
            return takes_new_value(tool, self._sources, in_question)
        if not still_open or asked_values(self._question, found):
            return False
        return bool(spoken) and takes_new_value(tool, self._sources, in_question, most=1)

    def _other_id(self, tool: ToolDefinition) -> bool:
        """Tell whether the question holds an id of the tool's kind that it has not run with, beside one that it has."""
        used, known = self.used(tool.name), properties(tool)
        asked = self._sources.asked
        for name, schema in known.items():
            if kind_of(name, schema) == "id" or (kind_of(name, schema) == "number" and name in required(tool)):
                values = [str(one) for one in candidates(name, schema, asked)]
                if any(one in used for one in values) and any(one not in used for one in values):
                    return kind_of(name, schema) == "id"
        return False


def _is_filled_by_values(tool: ToolDefinition) -> bool:
    """Tell whether all that a tool requires is told by its shape; that there is a value has been looked at before."""
    known = properties(tool)
    kinds = {kind_of(name, known[name]) for name in required(tool) if name in known}
    return bool(kinds) and kinds <= TYPED
