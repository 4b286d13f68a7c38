"""Leads a small model through one question: few tools, fresh rounds, one doubt at a time."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from naru.agent.context import trimmed
from naru.agent.execute import Outcome
from naru.agent.hooks import Near
from naru.agent.limits import canonical
from naru.agent.planner import Verdict
from naru.agent.selection import Ranked
from naru.agent.small.another import in_full, others
from naru.agent.small.checking import invented, is_data, is_no_answer, tidy
from naru.agent.small.grounding import ground
from naru.agent.small.offering import ALL, Offering
from naru.agent.small.parameters import leaves, shared_numbers
from naru.agent.small.prompts import answer_in, done_turn, final_turn, language_of, nothing_turn, translation
from naru.agent.small.reading import call_line, is_nothing, lines_of, told
from naru.agent.small.rows import nearest
from naru.agent.small.shown import NONE, menu, narrowed, shown
from naru.agent.small.sources import Sources
from naru.messages import ChatRequest, Message, ToolCall, ToolDefinition
from naru.models.asking.strategy import OVERRIDE

CALL_TOKENS = 300
ANSWER_TOKENS = 400
TALK_TOKENS = 1000
"""Where a small model that runs on and on is stopped."""
MAYBE = -0.05
"""How far a tool may lie behind talk for words to be doubted once: ask, with the names and "none" to pick from.

Of 102 questions 91 lie nearer, of 462 pairs of talk and tools 24."""
GUESSED = -0.15
"""The same for words with a value of no source: all questions lie nearer, of talk 92."""
FAR = 0.15
"""Closeness below which a call that holds nothing of what was said is none that anybody asked for."""
TALK = 0.25
"""Closeness of the question to talk from which such a call is refused."""
REFUSED_AT_MOST = 2
TELLING_LETTERS = 20
"""A shorter text says too little of its language."""

Way = Literal["menu", "free", "pick", "guided", "talk"]
"""How the next round is asked: which name; free; a call or "none"; a call with known ids; without tools."""


class SmallPlanner:
    """Leads a small model through one question. Every call is the model's own; see the package's docstring."""

    streams_early = False

    def __init__(
        self,
        request: ChatRequest,
        ranked: Sequence[Ranked],
        *,
        note: str = "",
        context_tokens: int = 8192,
        near: Near | None = None,
    ) -> None:
        self._request = request
        self._note = note
        self._context_tokens = context_tokens
        self._asked_at = max((at for at, turn in enumerate(request.messages) if turn.role == "user"), default=0)
        self._question = request.messages[self._asked_at].text if request.messages else ""
        self._real = _shown_names([one.tool for one in ranked])
        self._named = {tool.name: name for name, tool in self._real.items()}
        own = [replace(one, tool=replace(one.tool, name=self._named[one.tool.name])) for one in ranked]
        self._closeness = {one.tool.name: one.closeness for one in own}
        self._is_talk = any(one.talk > TALK for one in own)
        self._tools = {one.tool.name: one.tool for one in own}
        self._numbered = shared_numbers(list(self._tools.values()))
        self._sources = Sources(self._question, [_said(turn) for turn in request.messages[: self._asked_at]])
        self._offering = Offering(own, self._sources, self._numbered)
        self._earlier = [call for turn in request.messages[: self._asked_at] for call in turn.tool_calls]
        self._earlier = [one for one in self._earlier if one.name in self._named]
        self._spoken_of = self._tools[self._named[self._earlier[-1].name]] if self._earlier else None
        """The tool whose result is in view: a follow-up about another thing needs it again."""
        self._meant: set[str] = set()
        """What such a follow-up names by its form, or means of what the tool lists."""
        self._menu = menu([one.tool for one in own]) if len(own) > ALL and self._offering.is_untold else []
        self._offered = self._offering.first()
        self._way: Way = "menu" if self._menu else "free" if self._offered else "talk"
        self._near = near
        self._rows: dict[str, list[str]] = {}
        """Of each call, the rows of its result that lie nearest to the question."""
        self._outcomes: list[Outcome] = []
        self._refused = 0
        self._doubted = False
        self._has_guessed = False
        """Its own words named a value of no source, or a follow-up names another thing, and that is no talk: look."""
        self._over = False
        self._own = ""
        self._missing = ""

    @property
    def has_results(self) -> bool:
        """Tell whether any call ran."""
        return bool(self._ran)

    @property
    def has_words(self) -> bool:
        """Tell whether the model has said something that can stand as the answer."""
        return bool(self._own)

    @property
    def _found(self) -> list[Outcome]:
        return [one for one in self._outcomes if not is_nothing(one)]

    @property
    def _ran(self) -> list[Outcome]:
        return [one for one in self._outcomes if one.ran]

    def next_request(self) -> ChatRequest | None:
        """Ask the question anew, with the results so far in front and the few tools that may still help."""
        if self._over:
            return None
        if self._way == "talk" or not self._offered:
            return None if self._ran else self._ask(self._question, (), TALK_TOKENS)
        tools = [shown(tool) for tool in self._offered]
        said = self._with_results()
        if self._way == "free":
            return self._ask(said, tools, CALL_TOKENS)
        tools = self._menu if self._way == "menu" else []
        tools = tools or [narrowed(tool, self._sources, self._numbered, self._offering.used) for tool in self._offered]
        if self._way == "menu" or (self._way == "pick" and not self._has_guessed):
            tools = [*tools, NONE]
        asked = self._ask(said, tools, CALL_TOKENS)
        return replace(asked, tool_choice="required", extra={**asked.extra, OVERRIDE: "guided"})

    def _ask(
        self, said: str, tools: Sequence[ToolDefinition], most: int, instruction: str = "", warmth: float = 0.0
    ) -> ChatRequest:
        """Return a fresh round: what came before, then this, with the person's own settings where there are any.

        There is one system turn: the person's own, which holds in every round, then ours.
        """
        own = [turn.text for turn in self._request.messages if turn.role == "system"]
        system = "\n\n".join(
            filter(None, [*own, self._note, instruction or ("" if tools else answer_in(self._question))])
        )
        turns = [*([Message("system", system)] if system else []), *self._before(), Message("user", said)]
        return replace(
            self._request,
            messages=trimmed(turns, self._context_tokens, tools),
            tools=tuple(tools),
            temperature=warmth or self._request.temperature or 0.0,
            max_tokens=self._request.max_tokens or most,
        )

    def _before(self) -> list[Message]:
        """Return the conversation before the question as plain turns; results stand with the answer they led to."""
        turns: list[Message] = []
        for turn in self._request.messages[: self._asked_at]:
            if turn.role == "tool":
                turns.append(Message("user", turn.text))
            elif turn.role != "system" and turn.text:
                turns.append(Message(turn.role, turn.text))
        return turns

    def _with_results(self) -> str:
        said = "\n".join(filter(None, (self._question, self._missing)))
        if not self._found:
            return said
        return "\n\n".join([*map(told, self._found), said])

    def judge(self, call: ToolCall) -> Verdict:
        """Mend or refuse a call; refused ones are asked for once more under a grammar."""
        if call.name == NONE.name:
            self._over = True
            return Verdict(call, "No tool is needed.")
        name = self._resolved(call.name)
        if not name:
            return self._again(call, f"There is no tool {call.name}.", self._offered)
        if self._way == "menu":
            self._way, self._offered = "free", self._offering.prefer(name)
            return Verdict(call, f"{name} is shown now.")
        tool = self._tools[name]
        if self._way == "free":
            self._offering.chosen = name
        grounded = ground(replace(call, name=name), tool, self._sources, self._numbered)
        if grounded.refusal:
            fits = [one for one in self._offering.first() if not self._offering.lacks(one) and one.name != name]
            knows = [] if self._offering.lacks(tool) else [tool]
            return self._again(call, grounded.refusal, [*knows, *self._offering.leading_to(tool)] or fits)
        if not self._refused and (owners := self._offering.meant_for(replace(call, name=name))):
            return self._again(call, f"Nothing that {name} takes was asked about.", owners)
        if not self._is_asked_for(grounded.call):
            self._way = "talk"
            return Verdict(call, f"Nothing of what was asked is in this call of {name}.")
        made = replace(grounded.call, name=self._real[name].name)
        is_known = self._way == "pick" and self._offered == [self._spoken_of] and not self._is_fresh(grounded.call)
        if is_known or canonical(made) in {canonical(one.call) for one in self._ran}:
            self._over = True
            return Verdict(made, "This call has been made already.")
        return Verdict(made)

    def _again(self, call: ToolCall, why: str, offered: Sequence[ToolDefinition]) -> Verdict:
        """Refuse, and ask once more with what can be called now."""
        self._refused += 1
        own = self._resolved(call.name)
        own = "" if own in self._offering.changing else own
        allowed = [tool for tool in offered if self._offering.may_be_forced(tool) or tool.name == own]
        if self._refused > REFUSED_AT_MOST or not allowed:
            self._way, self._over = "talk", bool(self._ran)
        else:
            self._way, self._offered = "guided", list({tool.name: tool for tool in allowed}.values())
        return Verdict(call, why)

    def _is_asked_for(self, call: ToolCall) -> bool:
        """Tell whether a call has to do with what was said: no talk, a tool that lies near, or a value."""
        closeness = self._closeness[call.name]
        is_open = not self._is_talk or bool(self._ran) or closeness is None or closeness > FAR
        return is_open or any(map(self._sources.hold, leaves(call.arguments)))

    def _resolved(self, name: str) -> str:
        """Return the shown name that a model meant: small ones drop prefixes and add endings."""
        if name in self._tools:
            return name
        last = _bare(name)
        if last in self._tools:
            return last
        close = difflib.get_close_matches(last, [tool.name for tool in self._offered], n=1, cutoff=0.75)
        return close[0] if close else ""

    async def record(self, said: Message, outcomes: Sequence[Outcome]) -> None:
        """Take in what came of the calls, and decide what may come next."""
        for one in outcomes:
            self._outcomes.append(one)
            if one.ran:
                self._sources.add_result(one.result.text)
                if not is_nothing(one):
                    self._rows[one.call.id] = await nearest(self._sources.question, one.result.text, self._near)
                    self._offering.used |= {str(value) for value in leaves(one.call.arguments)}
        if not any(one.ran for one in outcomes):
            return
        last = next(one for one in reversed(outcomes) if one.ran)
        last = replace(last, call=replace(last.call, name=self._named[last.call.name]))
        tool, asked = self._tools[last.call.name], self._sources.question
        self._offering.others = await others(asked, tool, last.call.arguments, self._near, found=not is_nothing(last))
        self._offered = self._offering.after(last)
        self._way = "guided"
        self._over = not self._offered

    def accept_answer(self, text: str) -> bool:
        """Take words as the answer, unless a call is still wanted."""
        if self._way in ("menu", "pick", "guided"):
            # Words where only a call was asked for, from an endpoint that no grammar holds.
            self._over = True
            return bool(self._ran and self.judge_answer(text))
        is_nothing_said = is_no_answer(text, self._question)
        if not is_nothing_said and not self._ran:
            self._own = tidy(text)
        is_garbled = is_nothing_said and bool(text.strip())
        self._has_guessed = not self._is_talk and (is_garbled or self._guesses(text) or self._offering.is_of_another())
        is_doubtful = is_nothing_said or self._is_near() or self._guesses(text) or self._may_be_of_another
        if self._way == "free" and not self._doubted and is_doubtful:
            return False
        return not self._ran and not is_nothing_said

    @property
    def _may_be_of_another(self) -> bool:
        """Tell whether a question with a result in view may be about another thing than that."""
        tool = self._spoken_of
        return tool is not None and not self._ran and not self._is_talk and self._offering.may_be_forced(tool)

    def _is_fresh(self, call: ToolCall) -> bool:
        """Tell whether a call holds something that the question names, or means, and no turn before it held."""
        values = [one for one in leaves(call.arguments) if not any(text.holds(one) for text in self._sources.before)]
        return any(self._sources.question.holds(one) or str(one) in self._meant for one in values)

    def _is_near(self) -> bool:
        """Tell whether the question is likely one for a tool: near in meaning, or with a value that it takes."""
        margin = self._offering.margin
        given = [span for span in self._sources.question.spans if not span.isdigit()]
        is_near = margin is not None and margin > MAYBE
        return is_near or any(self._offering.fits(tool, given) for tool in self._offered)

    def _guesses(self, text: str) -> bool:
        """Tell whether words hold an id or number of no source, for a question that may be one for a tool."""
        margin = self._offering.margin
        return margin is not None and margin > GUESSED and bool(invented(text, self._sources))

    async def asks_again(self) -> bool:
        """Ask once more with the names and "none" to pick from, when words came where a call was likely."""
        if self._over or self._doubted or self._way != "free":
            return False
        readers = [tool for tool in self._offered if self._offering.may_be_forced(tool)]
        able = [tool for tool in readers if not self._offering.lacks(tool)]
        self._doubted, self._way, self._offered = True, "pick", self._offering.nearest() or able or readers
        if self._may_be_of_another and not self._has_guessed:
            self._has_guessed, self._offered = True, [tool for tool in [self._spoken_of] if tool]
            was, asked = self._earlier[-1].arguments, self._sources.question
            meant = await others(asked, self._offered[0], was, self._near, found=True)
            self._meant = {one for named in meant.values() for one in named}
        return bool(self._offered)

    def insist(self, text: str, missing: str) -> None:
        """Put what is missing with the question: each round is a fresh one."""
        self._missing = missing
        self._offered, self._way, self._over = self._offering.first(), "free", False

    def last_request(self, attempt: int) -> ChatRequest | None:
        """Put the results in front and the question last, with no tools; a second try is a little freer."""
        if attempt > 2 or (not self._ran and self._own):
            return None
        if attempt == 2 and self._own and self._is_foreign(self._own):
            instruction, said = translation(self._own, language_of(self._question))
        elif not self._ran:
            instruction, said = answer_in(self._question), self._question
        elif self._found and any(_bare(one.call.name) in self._offering.changing for one in self._found):
            instruction, said = done_turn(self._question, "\n\n".join(map(told, self._found)))
        elif self._found:
            # A single result needs no heading, which looks like a part of the answer, but says what a follow-up is of.
            told_on = [one for one in self._found if one.call.id not in self._offering.leads]
            shown = [one for one in self._ran if one is self._ran[-1] or one in told_on]
            is_alone = len(shown) == 1 and not self._before()
            results = [lines_of(one) if is_alone else told(one) for one in shown]
            rows = [row for one in shown for row in self._rows.get(one.call.id, ())]
            instruction, said = final_turn(self._in_full(), "\n\n".join([*results, *rows]), attempt)
        else:
            sought = [str(value) for value in leaves(self._ran[-1].call.arguments) if self._sources.hold(value)]
            instruction, said = nothing_turn(self._question, ", ".join(sought) or call_line(self._ran[-1].call))
        return self._ask(said, (), ANSWER_TOKENS, instruction, 0.0 if attempt == 1 else 0.4)

    def _in_full(self) -> str:
        """Return the question; where it is a follow-up about another thing, after what was asked of the first."""
        asked = [turn.text for turn in self._request.messages[: self._asked_at] if turn.role == "user"]
        now = self._ran[-1].call
        was = [one.arguments for one in self._earlier if one.name == now.name]
        return max((in_full(self._question, asked, one, now.arguments) for one in was), key=len, default=self._question)

    def judge_answer(self, text: str) -> str:
        """Return the answer without fences; empty when it must be asked for again."""
        answer = tidy(text)
        if is_no_answer(answer, self._question):
            if is_data(answer, self._sources.results):  # Perhaps it was asked for.
                self._own = self._own or answer
            return ""
        is_sound = not invented(answer, self._sources, shortest=2 if self._found or not self._ran else 1)
        if is_sound and not self._is_foreign(answer):
            return answer
        if is_sound or self._found or not self._ran:
            self._own = self._own or answer  # It may be worked out from what was found.
        return ""

    def _is_foreign(self, text: str) -> bool:
        """Tell whether a text is in another language than the question, as far as that can be told."""
        letters = sum(one.isalpha() for one in text)
        return letters >= TELLING_LETTERS and language_of(text) != language_of(self._question)

    def fallback_answer(self) -> str:
        """Give the model's own last words; the tools' data only when it gave none."""
        if self._own:
            return self._own
        return "\n\n".join(map(told, self._found or self._ran)) or "The model gave no answer."


def _said(turn: Message) -> str:
    calls = " ".join(str(value) for call in turn.tool_calls for value in leaves(call.arguments))
    return f"{turn.text} {calls}"


def _bare(name: str) -> str:
    return name.rsplit("__", 1)[-1]


def _shown_names(tools: Sequence[ToolDefinition]) -> dict[str, ToolDefinition]:
    """Show bare names where they are unique: a small model loses prefixes."""
    last = [_bare(tool.name) for tool in tools]
    return {(name if last.count(name) == 1 else tool.name): tool for name, tool in zip(last, tools, strict=True)}
