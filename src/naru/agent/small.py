"""Rounds for models that cannot manage by themselves: few tools, fresh rounds, grounded arguments (UPLIFT.md).

Each round is one question with the results so far in front. A tool that failed is set aside for this turn; a call that
ran is not made again; the search is over when nothing in the question is left that a tool speaks of.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from naru.agent.answers import fault, tidy
from naru.agent.asked import asked_lines, asked_values, holds_asked
from naru.agent.changes import changes_something, may_change
from naru.agent.execute import Outcome
from naru.agent.fitness import leaves_no_choice
from naru.agent.follow import first_of_pair, second_of_pair
from naru.agent.grounding import Grounded, fill, ground
from naru.agent.limits import canonical
from naru.agent.offering import Offering
from naru.agent.parameters import choices, claims, kind_of, named_choices, properties, required, things
from naru.agent.planner import Verdict
from naru.agent.prompts import final_turn, is_korean, language_line, nothing_found
from naru.agent.reading import call_line, facts, incomplete, is_sentence, reading, ready, said_of_failure
from naru.agent.searching import as_said, core_words, found_nothing, narrower, only_word
from naru.agent.selection import index_of
from naru.agent.shown import narrowed, shown
from naru.agent.sources import Sources
from naru.messages import ChatRequest, Message, ToolCall, ToolDefinition
from naru.models.strategy import OVERRIDE

CALL_TOKENS = 300
ANSWER_TOKENS = 400
TALK_TOKENS = 1000
"""Where a small model that runs on and on is stopped."""
SURE_AT_MOST = 4
"""Calls of a run that are made without asking."""
_NOT_FOUND = re.compile(
    r"not found|no such|there is no|does(?: not|n't) exist|unknown|invalid|\bno \w+ |\bnobody\b|"
    r"not (?:covered|supported)|없",
    re.IGNORECASE,
)


class SmallPlanner:
    """Leads a small model through one question."""

    streams_early = False

    def __init__(
        self, request: ChatRequest, tools: Sequence[ToolDefinition], *, note: str = "", makes_sure_calls: bool = True
    ) -> None:
        self._request = request
        self._note = note
        self._makes_sure_calls = makes_sure_calls
        self._question = next((turn.text for turn in reversed(request.messages) if turn.role == "user"), "")
        self._by_shown = _shown_names(tools)
        named = [replace(tool, name=name) for name, tool in self._by_shown.items()]
        self._sources = Sources(self._question, subjects=index_of(named).subjects(self._question))
        self._sources.spoken = [f"{tool.description} {tool.input_schema}" for tool in named]
        self._sources.things = things(named)
        self._sources.claim(claims(named))
        self._offering = Offering(self._question, named, self._sources)
        self._outcomes: list[Outcome] = []
        self._refusals = 0
        self._forcing = False
        self._only_talk = False

    @property
    def has_results(self) -> bool:
        """Tell whether any call ran."""
        return any(one.ran for one in self._outcomes)

    @property
    def _temperature(self) -> float:
        """The person's own; else none, since small models stray."""
        return self._request.temperature or 0.0

    @property
    def _found(self) -> list[Outcome]:
        return [one for one in self._outcomes if one.ran and not one.failed and not found_nothing(one)]

    def next_request(self) -> ChatRequest | None:
        """Ask the question anew, with the results so far in front and the few tools that may still help."""
        if self._only_talk or self._refusals >= 2 or self._search_is_over():
            return None
        offered = self._offering.now()
        if not offered:
            return None if self._outcomes else self._talk()
        tools: tuple[ToolDefinition, ...] = tuple(shown(one.tool) for one in offered)
        request = replace(
            self._request,
            messages=(*self._before(), Message("user", self._with_results())),
            tools=tools,
            temperature=self._temperature,
            max_tokens=self._request.max_tokens or CALL_TOKENS,
        )
        return self._forced(request) if self._forcing else request

    def _talk(self) -> ChatRequest:
        """Ask without tools, for a question that no tool speaks of."""
        most = self._request.max_tokens or TALK_TOKENS
        return replace(self._request, tools=(), temperature=self._temperature, max_tokens=most)

    def _forced(self, request: ChatRequest) -> ChatRequest | None:
        """Ask for a call and nothing else, with the values that are known as the only choices; never for a change."""
        tools = [
            narrowed(tool, self._sources, self._offering.used(tool.name))
            for tool in request.tools
            if not changes_something(tool)
        ]
        if not tools:
            return None
        return replace(request, tools=tools, tool_choice="required", extra={**request.extra, OVERRIDE: "guided"})

    def _search_is_over(self) -> bool:
        if len(self._outcomes) == 1 and not self._offering.led and self.ready_answer():
            return True  # What was asked to be listed has been listed.
        if self._found or self._offering.has_untried_fit():
            return False
        return any(self._does_not_exist(one) for one in self._outcomes)

    def _before(self) -> tuple[Message, ...]:
        """The conversation before the question, as plain turns."""
        last = max((at for at, turn in enumerate(self._request.messages) if turn.role == "user"), default=0)
        return tuple(
            turn for turn in self._request.messages[:last] if turn.role in ("system", "user", "assistant") and turn.text
        )

    def _with_results(self) -> str:
        if not self._found:
            return self._question
        results = "\n\n".join(f"{call_line(one.call)}:\n{reading(one)}" for one in self._found)
        return f"{results}\n\n{self._question}"

    def _does_not_exist(self, one: Outcome) -> bool:
        """Tell whether a value that the person gave was looked up and is not there: then say so."""
        if not one.failed or not one.ran:
            return False
        given = [str(value) for value in one.call.arguments.values() if isinstance(value, str | int)]
        asked = self._sources.asked
        named = [value for value in given if len(value) > 1 and asked.holds(value)]
        return any(value in one.shown for value in named) or bool(named and _NOT_FOUND.search(one.shown))

    def judge(self, call: ToolCall) -> Verdict:
        """Ground the arguments; refuse what was invented, what nothing asks for and what has run already."""
        name = self._resolved(call.name)
        tool = self._by_shown.get(name)
        if tool is None:
            return Verdict(call, f"There is no tool {call.name}.")
        if not may_change(tool, self._question):
            return Verdict(call, f"Nobody asked for a change, and {name} makes one.")
        if not self._offering.bears_out(name):
            return Verdict(call, f"The question does not speak of what {name} does.")
        grounded: Grounded = ground(call, tool, self._sources, self._offering.used(name))
        if grounded.refusal:
            return Verdict(call, grounded.refusal)
        made = replace(grounded.call, name=tool.name)
        if canonical(made) in {canonical(one.call) for one in self._outcomes if one.ran}:
            # It repeats what has run: take the call that is still open, such as the other id of a comparison.
            evident = self.evident_call()
            if evident is not None:
                return Verdict(replace(evident, id=call.id, name=self._by_shown[evident.name].name))
        return Verdict(made)

    def _resolved(self, name: str) -> str:
        """Return the offered name that a model meant: small ones drop prefixes and add endings."""
        if name in self._by_shown:
            return name
        bare = _bare(name)
        offered = [one.tool.name for one in self._offering.now()]
        return next(iter(difflib.get_close_matches(bare, offered, 1, 0.75)), name)

    def record(self, said: Message, outcomes: Sequence[Outcome]) -> None:
        """Keep what was found; set aside what failed."""
        names = {tool.name: name for name, tool in self._by_shown.items()}
        for one in map(as_said, outcomes):
            self._outcomes.append(one)
            name = names.get(one.call.name, one.call.name)
            if not one.ran:
                self._refusals += 1
                self._forcing = self._offering.after_refusal = True
                continue
            self._refusals, self._forcing, self._offering.after_refusal = 0, False, False
            self._sources.add(one.shown, name)
            self._offering.note(name, one, nothing=found_nothing(one))
        if self._refusals and not self._offering.speaks_clearly():
            self._only_talk = True

    def accept_answer(self, text: str) -> bool:
        """Take text without a call as the answer only where no tool has anything to say."""
        if not self._outcomes and not self._offering.now():
            return bool(text.strip())
        self._refusals += 1
        return False

    def asks_again(self) -> bool:
        """Ask once more for a call where the question is clearly for a tool and the model wrote words."""
        if self._forcing or self._refusals > 1 or not self._offering.speaks_clearly():
            return False
        self._forcing = True
        return True

    def insist(self, text: str, missing: str) -> None:
        """Put what is missing with the question: each round is a fresh one."""
        self._question = f"{self._question}\n{missing}"

    def sure_call(self) -> ToolCall | None:
        """Make the call that is the only one to fit, with values that can be told from other words."""
        is_open = self._refusals or self._forcing or len(self._outcomes) >= SURE_AT_MOST
        if not self._makes_sure_calls or is_open or not self._offering.has_clear_best():
            return None
        ranked = self._offering.now()[0]
        tool = self._by_shown[ranked.tool.name]
        if changes_something(tool):
            return None
        again = self._again(tool)
        if again is None and not leaves_no_choice(tool, self._sources, self._offering.used(ranked.tool.name)):
            return None
        arguments = again if again is not None else self._evident_arguments(ranked.tool.name, tool)
        if arguments is None:
            return None
        verdict = self.judge(ToolCall(f"call_sure_{len(self._outcomes)}", ranked.tool.name, arguments))
        is_new = canonical(verdict.call) not in {canonical(one.call) for one in self._outcomes}
        return replace(verdict.call, name=ranked.tool.name) if is_new and not verdict.refusal else None

    def evident_call(self) -> ToolCall | None:
        """Make the call that the best tool leaves no doubt about; only one that reads."""
        for ranked in self._offering.now()[:1]:
            tool = self._by_shown[ranked.tool.name]
            if changes_something(tool) or not self._offering.speaks_clearly():
                return None
            again = self._again(tool)
            if again is not None:
                return ToolCall("call_evident", ranked.tool.name, again)
            arguments = self._evident_arguments(ranked.tool.name, tool)
            if arguments is not None:
                return ToolCall("call_evident", ranked.tool.name, arguments)
        return None

    def _evident_arguments(self, name: str, tool: ToolDefinition) -> dict[str, Any] | None:
        """Return the arguments that the question leaves no doubt about; no value serves twice."""
        known, needed = properties(tool), required(tool)
        used = set(self._offering.used(name))
        arguments = self._named_options(known, needed)
        for one in needed:
            value = self._evident(one, tool, frozenset(used))
            if value is None or (kind_of(one, known.get(one, {})) == "number" and str(value) in used):
                return None
            used.add(str(value))
            arguments[one] = value
        wordy = [one for one, schema in known.items() if kind_of(one, schema) in ("search", "text", "object")]
        about = self._sources.about()
        if needed or not wordy or not about:
            return arguments
        if len(wordy) == 1 and len(about) == 1 and kind_of(wordy[0], known[wordy[0]]) != "object":
            return {wordy[0]: about[0]}
        if self._sources.names() or self._sources.quoted() or self._offering.leads(name):
            return None  # One of its optional parameters is meant; which one is for the model to say.
        return arguments

    def _named_options(self, known: dict[str, Any], needed: list[str]) -> dict[str, Any]:
        """Return the optional choices that the question names: `closed` issues, `high` priority."""
        options = {one: schema for one, schema in known.items() if one not in needed}
        named = {
            one: named_choices(choices(schema), self._question)
            for one, schema in options.items()
            if kind_of(one, schema) == "enum"
        }
        return {one: found[0] for one, found in named.items() if len(found) == 1}

    def _again(self, tool: ToolDefinition) -> dict[str, Any] | None:
        """Return new arguments for a tool that has run: the other of two, or a search by fewer words."""
        made = [one for one in self._outcomes if one.call.name == tool.name and one.ran]
        if made and found_nothing(made[-1]):
            if is_sentence(made[-1].result.text):
                return None
            call = narrower(made, tool, self._sources.asked)
            return call.arguments if call is not None else None
        return second_of_pair(self._question, tool, made)

    def _evident(self, name: str, tool: ToolDefinition, used: frozenset[str]) -> Any:
        schema = properties(tool).get(name, {})
        if kind_of(name, schema) == "object":
            return {} if not schema.get("required") else None  # What the question names is put in when it is grounded.
        if kind_of(name, schema) in ("search", "text") and len(required(tool)) == 1:
            word = only_word(tool, self._sources.asked) or first_of_pair(self._question, self._sources.names())
            if word and word not in used:
                return word
        if kind_of(name, schema) == "search" and not self._sources.quoted():
            about = self._sources.about() if self._offering.led else []
            return about[0] if about else core_words(self._question, tool, self._sources) or None
        return fill(name, schema, self._sources, used)

    def ready_answer(self) -> str:
        """Return the answer that needs no model: what was asked to be listed or shown, when one call gave just that."""
        ran = [one for one in self._outcomes if one.ran]
        if self._found and found_nothing(ran[-1]) and self._follows_a_result(ran[-1]):
            return self._nothing(ran[-1])
        last = self._found[-1].call.name if self._found else ""
        changed = any(tool.name == last and changes_something(tool) for tool in self._by_shown.values())
        return ready(self._question, self._found, changed=changed, about=self._sources.about())

    def _nothing(self, one: Outcome) -> str:
        """Say that a call found nothing, in the tool's own words where it has some."""
        said = one.result.text.strip()
        return said if is_sentence(said) else nothing_found(self._question, call_line(one.call))

    def _follows_a_result(self, one: Outcome) -> bool:
        """Tell whether a call was made with a value that only a result held."""
        return any(not self._sources.asked.holds(value) for value in one.call.arguments.values())

    def last_request(self, attempt: int) -> ChatRequest | None:
        """Put the results in front and the question last, with no tools; a second try is a little freer."""
        if attempt > 2 or (any(one.ran for one in self._outcomes) and not self._found):
            return None
        instruction = f"You are a helpful assistant. {language_line(self._question)} {self._note}".strip()
        said = self._question
        if self._found:
            instruction, said = final_turn(self._question, facts(self._found), attempt)
        system = Message("system", instruction)
        return replace(
            self._request,
            messages=(system, *(turn for turn in self._before() if turn.role != "system"), Message("user", said)),
            tools=(),
            temperature=self._temperature if attempt == 1 else 0.4,
            max_tokens=self._request.max_tokens or ANSWER_TOKENS,
        )

    def judge_answer(self, text: str) -> str:
        """Return the answer without fences; empty when it must be asked for again."""
        answer = tidy(text)
        found = [reading(one) for one in self._found]
        if fault(answer, self._question, self._sources, found):
            return ""
        if incomplete(self._question, answer, self._found):
            return ""
        return answer if holds_asked(answer, asked_values(self._question, self._found), self._question) else ""

    def fallback_answer(self) -> str:
        """Give the results themselves, or the tools' own message when nothing was found."""
        if self._found:
            return asked_lines(self._question, self._found) or facts(self._found)
        ran = [one for one in self._outcomes if one.ran]
        failures = [one for one in ran if one.failed]
        if failures:
            return said_of_failure(failures[0])
        if ran:
            return self._nothing(ran[0] if is_sentence(ran[0].result.text) else ran[-1])
        if is_korean(self._question):
            return "질문에 맞는 도구를 찾지 못했습니다."
        return "No tool fits this question."


def _bare(name: str) -> str:
    return name.rsplit("__", 1)[-1]


def _shown_names(tools: Sequence[ToolDefinition]) -> dict[str, ToolDefinition]:
    """Show bare names where they are unique: a small model loses prefixes."""
    bare = [_bare(tool.name) for tool in tools]
    return {(name if bare.count(name) == 1 else tool.name): tool for name, tool in zip(bare, tools, strict=True)}
