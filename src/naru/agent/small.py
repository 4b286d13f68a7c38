"""Rounds for models that cannot manage by themselves: few tools, fresh rounds, grounded arguments (UPLIFT.md).

Each round is one question with the results so far in front. A tool that failed is set aside for this turn; a call that
ran is not made again; the search is over when nothing in the question is left that a tool speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from naru.agent.answers import fault, tidy
from naru.agent.execute import Outcome
from naru.agent.fitness import fit, implied
from naru.agent.glossary import in_english
from naru.agent.grounding import Grounded, candidates, fill, ground, is_identifier, properties, required
from naru.agent.limits import canonical
from naru.agent.planner import Verdict
from naru.agent.prompts import final_turn, is_korean, language_line
from naru.agent.rendering import readable, records, row_line
from naru.agent.selection import Ranked, ToolIndex, terms
from naru.agent.sources import Sources
from naru.messages import ChatRequest, Message, ToolCall, ToolDefinition

CALL_TOKENS = 300
ANSWER_TOKENS = 500
"""Where a small model that runs on and on is stopped."""
LISTED = 6
"""A list of so many rows is given as it is: a small model tires or invents before its end."""
SHOWN_CHARACTERS = 80
"""A text of so many characters that a person asked to see is given as it is."""
_SHOW = re.compile(
    r"\b(find|search|show|read|display|open|print|get|list|look up)\b|찾아|보여|검색|읽어|조회|출력", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(how|when|who|why|what|which|where|many|much|count|summari[sz]e|explain|compare|difference)\b"
    r"|몇|언제|누구|왜|무엇|뭐|어느|어떤|얼마|어디|요약|설명|비교|차이",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"\bhow (many|much)\b|\bcount\b|\bnumber of\b|몇|개수|얼마", re.IGNORECASE)
_NOT_FOUND = re.compile(r"not found|no such|there is no|does not exist|unknown|\bno \w+ |없", re.IGNORECASE)
_SNAKE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
OFFERED = 3
"""Tools shown at once: three did better than eight, as long as the right one is among them."""
_WRITES = frozenset(
    "create write add insert update edit modify set delete remove move rename send post book schedule cancel submit "
    "approve reject assign upload import drop clear reset start stop restart run execute buy pay order save make "
    "register reserve transfer refund put patch append close open enable disable grant revoke".split()
)
_READS = frozenset(
    "get list read search find query look lookup show fetch describe count check view retrieve calculate compute "
    "convert compare summarize browse inspect current is has what tell".split()
)


def changes_something(tool: ToolDefinition) -> bool:
    """Tell whether a tool may change the world: by its annotations, else by the first verb it says of itself."""
    if tool.annotations.get("readOnlyHint") is True:
        return False
    if tool.annotations.get("destructiveHint") is True or tool.annotations.get("readOnlyHint") is False:
        return True
    said = re.findall(r"[a-z]+", f"{_SNAKE.sub('_', _bare(tool.name))} {tool.description[:60]}".lower())
    verb = next((word for word in said if word in _READS or word in _WRITES), "")
    return verb in _WRITES


def _asks_for_change(question: str) -> bool:
    """Tell whether a question has a verb that changes something, in English or Korean."""
    words = {*re.findall(r"[a-z]+", question.lower()), *in_english(question)}
    return bool(words & _WRITES)


def _bare(name: str) -> str:
    return name.rsplit("__", 1)[-1]


class SmallPlanner:
    """Leads a small model through one question."""

    streams_early = False

    def __init__(self, request: ChatRequest, tools: Sequence[ToolDefinition]) -> None:
        self._request = request
        self._question = next((turn.text for turn in reversed(request.messages) if turn.role == "user"), "")
        self._by_shown = _shown_names(tools)
        self._index = ToolIndex([replace(tool, name=shown) for shown, tool in self._by_shown.items()])
        self._stems = {term: stem for word, stem in in_english(self._question).items() for term in terms(word)}
        self._sources = Sources(self._question)
        self._asked = f"{self._question} {implied(self._sources)}"
        self._outcomes: list[Outcome] = []
        self._set_aside: set[str] = set()
        self._refusals = 0
        self._used: dict[str, set[str]] = {}

    @property
    def has_results(self) -> bool:
        """Tell whether any call ran."""
        return any(one.ran for one in self._outcomes)

    @property
    def _found(self) -> list[Outcome]:
        return [one for one in self._outcomes if one.ran and not one.failed]

    def next_request(self) -> ChatRequest | None:
        """Ask the question anew, with the results so far in front and the few tools that may still help."""
        if self._refusals >= 2 or (not self._found and any(self._does_not_exist(one) for one in self._outcomes)):
            return None
        offered = self._offered()
        if not offered:
            return None if self._outcomes else replace(self._request, tools=())
        return replace(
            self._request,
            messages=(*self._before(), Message("user", self._with_results())),
            tools=tuple(ranked.tool for ranked in offered),
            temperature=self._request.temperature or 0.0,
            max_tokens=self._request.max_tokens or CALL_TOKENS,
        )

    def _before(self) -> tuple[Message, ...]:
        """The conversation before the question, as plain turns."""
        last = max((at for at, turn in enumerate(self._request.messages) if turn.role == "user"), default=0)
        return tuple(
            turn for turn in self._request.messages[:last] if turn.role in ("system", "user", "assistant") and turn.text
        )

    def _with_results(self) -> str:
        if not self._found:
            return self._question
        return f"{self._results()}\n\n{self._question}"

    def _results(self) -> str:
        return "\n\n".join(f"{_call_line(one.call)}:\n{_reading(one)}" for one in self._found)

    def _facts(self) -> str:
        """The results alone: the calls' own words mislead a small model in the last turn."""
        return "\n\n".join(_reading(one) for one in self._found)

    def _offered(self) -> list[Ranked]:
        ranked = [one for one in self._ranked() if self._may_help(one)]
        if not ranked:
            return []
        best = ranked[0].score
        return [one for one in ranked[:OFFERED] if one.score >= best * 0.35]

    def _ranked(self) -> list[Ranked]:
        """Rank by words, and by whether the question holds what a tool's parameters take."""
        found = [replace(one, score=one.score * fit(one.tool, self._sources)) for one in self._index.rank(self._asked)]
        return sorted(found, key=lambda one: -one.score)

    def _may_help(self, ranked: Ranked) -> bool:
        tool = ranked.tool
        if ranked.score <= 0 or tool.name in self._set_aside:
            return False
        if changes_something(tool) and not _asks_for_change(self._question):
            return False
        if not self._outcomes:
            return True
        return self._has_new_work(tool, ranked)

    def _has_new_work(self, tool: ToolDefinition, ranked: Ranked) -> bool:
        """After a result: is there an id not looked up with this tool, or a word of the question not yet served?"""
        used = self._used.get(tool.name)
        if used is not None:
            ids = [name for name, schema in properties(tool).items() if is_identifier(name, schema)]
            asked = self._sources.ids(results_too=False)
            return bool(ids) and any(one not in used for one in asked) and bool(used & set(asked))
        if not self._can_be_filled(tool):
            return False
        answered = self._used.keys() - self._set_aside
        served = {self._origin(term) for name in answered for term in self._reasons(name)}
        return bool({self._origin(term) for term in ranked.reasons} - served)

    def _does_not_exist(self, one: Outcome) -> bool:
        """Tell whether an id that the person gave, of the right shape, was looked up and not found: then say so."""
        tool = next((tool for tool in self._by_shown.values() if tool.name == one.call.name), None)
        if tool is None or not one.failed or not _NOT_FOUND.search(one.shown):
            return False
        asked = set(self._sources.ids(results_too=False))
        known = properties(tool)
        return any(
            str(value) in asked and name in known and is_identifier(name, known[name])
            for name, value in one.call.arguments.items()
        )

    def _can_be_filled(self, tool: ToolDefinition) -> bool:
        """Tell whether question and results hold an id for each parameter that needs one."""
        known = properties(tool)
        return all(
            candidates(name, known[name], self._sources)
            for name in required(tool)
            if name in known and is_identifier(name, known[name])
        )

    def _origin(self, term: str) -> str:
        """Return the word of the question that a term stands for."""
        return self._stems.get(term, term)

    def _reasons(self, name: str) -> tuple[str, ...]:
        return next((one.reasons for one in self._index.rank(self._asked) if one.tool.name == name), ())

    def judge(self, call: ToolCall) -> Verdict:
        """Ground the arguments; refuse what was invented and what has run already."""
        tool = self._by_shown.get(call.name)
        if tool is None:
            return Verdict(call, f"There is no tool {call.name}.")
        used = frozenset(self._used.get(call.name, ()))
        grounded: Grounded = ground(call, tool, self._sources, used)
        if grounded.refusal:
            return Verdict(call, grounded.refusal)
        made = replace(grounded.call, name=tool.name)
        if canonical(made) in {canonical(one.call) for one in self._outcomes if one.ran}:
            # It repeats what has run: take the call that is still open, such as the other id of a comparison.
            evident = self.evident_call()
            if evident is not None:
                return Verdict(replace(evident, id=call.id, name=self._by_shown[evident.name].name))
        return Verdict(made)

    def record(self, text: str, outcomes: Sequence[Outcome]) -> None:
        """Keep what was found; set aside what failed."""
        shown = {tool.name: name for name, tool in self._by_shown.items()}
        for one in outcomes:
            self._outcomes.append(one)
            name = shown.get(one.call.name, one.call.name)
            if not one.ran:
                self._refusals += 1
                continue
            self._refusals = 0
            self._sources.add(one.shown)
            self._used.setdefault(name, set()).update(str(value) for value in one.call.arguments.values())
            if one.failed:
                self._set_aside.add(name)

    def accept_answer(self, text: str) -> bool:
        """Take text without a call as the answer only where no tool has anything to say."""
        if not self._outcomes and not self._offered():
            return bool(text.strip())
        self._refusals += 1
        return False

    def insist(self, text: str, missing: str) -> None:
        """Put what is missing with the question: each round is a fresh one."""
        self._question = f"{self._question}\n{missing}"

    def evident_call(self) -> ToolCall | None:
        """Make the call that the best tool leaves no doubt about; only one that reads."""
        for ranked in self._offered()[:1]:
            tool = self._by_shown[ranked.tool.name]
            if changes_something(tool):
                return None
            used = frozenset(self._used.get(ranked.tool.name, ()))
            known = properties(tool)
            arguments = {name: fill(name, known.get(name, {}), self._sources, used) for name in required(tool)}
            if all(value is not None for value in arguments.values()):
                return ToolCall("call_evident", ranked.tool.name, arguments)
        return None

    def ready_answer(self) -> str:
        """Return the answer that needs no model: what was asked to be listed or shown, when one call gave just that."""
        if len(self._found) != 1:
            return ""
        found = self._found[0]
        if _is_listing(found) and not _COUNTS.search(self._question):
            return _reading(found)
        rows = records(found.result)
        if len(rows) >= LISTED and not self._sources.ids(results_too=False):
            return "\n".join(f"- {row_line(row)}" for row in rows)
        reading = _reading(found)
        if _SHOW.search(self._question) and len(reading) >= SHOWN_CHARACTERS and not _ASKS.search(self._question):
            return reading
        return ""

    def last_request(self, attempt: int) -> ChatRequest | None:
        """Put the results in front and the question last, with no tools; a second try is a little freer."""
        if attempt > 2 or (self._outcomes and not self._found):
            return None
        instruction = f"You are a helpful assistant. {language_line(self._question)}"
        said = self._question
        if self._found:
            instruction, said = final_turn(self._question, self._facts(), attempt)
        system = Message("system", instruction)
        return replace(
            self._request,
            messages=(system, *(turn for turn in self._before() if turn.role != "system"), Message("user", said)),
            tools=(),
            temperature=0.0 if attempt == 1 else 0.4,
            max_tokens=self._request.max_tokens or ANSWER_TOKENS,
        )

    def judge_answer(self, text: str) -> str:
        """Return the answer without fences; empty when it must be asked for again."""
        answer = tidy(text)
        found = [_reading(one) for one in self._found]
        return "" if fault(answer, self._question, self._sources, found) else answer

    def fallback_answer(self) -> str:
        """Give the results themselves, or the tools' own message when nothing was found."""
        if self._found:
            return "\n\n".join(_reading(one) for one in self._found)
        ran = [one for one in self._outcomes if one.ran]
        if ran:
            return ran[0].shown.removeprefix("Error: ")
        if is_korean(self._question):
            return "질문에 맞는 도구를 찾지 못했습니다."
        return "No tool fits this question."


def _is_listing(found: Outcome) -> bool:
    """Tell whether a tool that lists gave several short lines."""
    if not re.search(r"(^|_)list(_|$|ed)", _SNAKE.sub("_", _bare(found.call.name))):
        return False
    lines = [line for line in _reading(found).splitlines() if line.strip()]
    return 2 <= len(lines) <= 200 and max(map(len, lines)) <= 120


def _shown_names(tools: Sequence[ToolDefinition]) -> dict[str, ToolDefinition]:
    """Show bare names where they are unique: a small model loses prefixes."""
    bare = [_bare(tool.name) for tool in tools]
    return {(name if bare.count(name) == 1 else tool.name): tool for name, tool in zip(bare, tools, strict=True)}


def _reading(one: Outcome) -> str:
    """What a model or person reads of a result: lines rather than JSON, unless it had to be cut."""
    return readable(one.result) if one.shown == one.result.text.strip() else one.shown


def _call_line(call: ToolCall) -> str:
    given = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    return f"{_bare(call.name)}({given})"
