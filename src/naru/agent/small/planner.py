"""Leads a small model through one question: few tools, fresh rounds, one doubt at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from naru.agent.context import trimmed
from naru.agent.execute import Outcome
from naru.agent.hooks import Near
from naru.agent.language import is_foreign, language_of
from naru.agent.limits import canonical
from naru.agent.planner import Verdict
from naru.agent.recall import calls_in
from naru.agent.selection import MARKS, Ranked
from naru.agent.small.another import in_full, others
from naru.agent.small.checking import invented, is_data, is_no_answer, tidy
from naru.agent.small.grounding import ground
from naru.agent.small.offering import ALL, Offering
from naru.agent.small.prompts import MOST_OF_ALL, answer_in, done_turn, final_turn, nothing_turn, translation
from naru.agent.small.reading import call_line, is_nothing, lines_of, told
from naru.agent.small.rows import nearest, says_nothing
from naru.agent.small.shown import NONE, menu, narrowed, shown
from naru.agent.small.sources import Sources
from naru.agent.small.taking import for_another
from naru.messages import ChatRequest, Message, ToolCall, ToolDefinition
from naru.models.asking.strategy import OVERRIDE
from naru.tools.arguments.misspelt import meant
from naru.tools.lines import leaves
from naru.tools.names import own_name
from naru.tools.texts import Text, bare

LONGEST_FAILURE = 300  # Letters of what a tool said when it failed.
CALL_TOKENS, ANSWER_TOKENS, TALK_TOKENS = 300, 400, 1000  # Where a small model that runs on and on is stopped.
MAYBE, GUESSED = -0.05, -0.15
"""How far a tool may lie behind talk for words to be doubted once (of 102 questions 91 lie nearer, of 462 pairs of talk
and tools 24), and for words with a value of no source: all questions lie nearer, of talk 92."""
REFUSED_AT_MOST = 2
Way = Literal["menu", "free", "pick", "anew", "guided", "answer", "talk"]
"""What a round asks for: a name alone, which is no call; words or a call; a call or "none"; the call of the turn before
for another thing; a call; an answer that may tell an id; words, where nothing is to be called. Each of them ends in
talk: where no call is wanted, where one is made twice, and after `REFUSED_AT_MOST` that cannot run."""


class SmallPlanner:
    """Leads a small model through one question. Every call is the model's own; see the package's docstring."""

    streams_early = False

    def __init__(
        self, request: ChatRequest, ranked: Sequence[Ranked], *, note: str, context_tokens: int, near: Near | None
    ) -> None:
        self._request, self._note, self._context_tokens, self._near = request, note, context_tokens, near
        asked_at = max((at for at, turn in enumerate(request.messages) if turn.role == "user"), default=0)
        before = request.messages[:asked_at]
        self._question = request.messages[asked_at].text if request.messages else ""
        self._asked = [turn.text for turn in before if turn.role == "user"]
        self._language = language_of(self._question, tuple(self._asked))
        talked = [turn for turn in before if turn.role == "tool" or (turn.role != "system" and turn.text)]
        self._history = [Message("user" if turn.role == "tool" else turn.role, turn.text) for turn in talked]
        """The conversation before the question as plain turns; results stand with the answer that they led to."""
        names, bare = [one.tool.name for one in ranked], [own_name(one.tool.name) for one in ranked]
        self._shown_names = {name: one if bare.count(one) == 1 else name for name, one in zip(names, bare, strict=True)}
        """A bare name where it is unique: a small model loses prefixes."""
        self._real_names = {shown: real for real, shown in self._shown_names.items()}
        own = [replace(one, tool=replace(one.tool, name=self._shown_names[one.tool.name])) for one in ranked]
        self._tools = {one.tool.name: one.tool for one in own}
        said = [[turn.text, *leaves([call.arguments for call in turn.tool_calls])] for turn in before]
        self._sources = Sources(self._question, [" ".join(map(str, one)) for one in said])
        self._offering = Offering(own, self._sources, is_first=not self._asked)
        self._unsaid = "" if self._offering.is_talk else self._question  # A good night is an answer to a good night.
        self._earlier, latest = calls_in(before, self._shown_names)
        self._view = [one for one in latest if not (is_nothing(one) or self._offering.is_talk)]
        called = {one.call.name: self._tools[one.call.name] for one in self._view}
        self._in_view = list(filter(self._offering.may_be_forced, called.values()))  # For another thing, perhaps.
        self._kept: list[Outcome] = []  # What is in view, once the question has turned out to be of no other thing.
        self._full = self._question  # With what a follow-up leaves unsaid.
        self._menu = menu(list(self._tools.values())) if len(own) > ALL and self._offering.is_untold else []
        self._offered: Sequence[ToolDefinition] = self._offering.first()
        self._way: Way = "menu" if self._menu else "free" if self._offered else "talk"
        self._doubt: Way = "pick"  # How to ask once more after words: "guided" where they are surely no answer.
        self._meant: set[str] = set()  # What a follow-up names of another thing, or means of what is listed.
        self._rows: dict[str, list[str]] = {}  # What of each call's result lies nearest to the question.
        self._absent: set[str] = set()  # Calls whose words say that nothing is there.
        self._ran: list[Outcome] = []
        self._guesses: set[str] = set()  # Calls with a listed value in place of one that the question means.
        self._refused, self._told, self._words, self._missing = 0, 0, "", ""

    @property
    def has_results(self) -> bool:
        """Tell whether any call ran."""
        return bool(self._ran)

    @property
    def has_words(self) -> bool:
        """Tell whether the model has said something that can stand as the answer."""
        return bool(self._words)

    @property
    def _found(self) -> list[Outcome]:
        return [one for one in self._ran if not is_nothing(one)]

    def next_request(self) -> ChatRequest | None:
        """Ask the question anew, with the results so far in front and the few tools that may still help."""
        if self._way == "talk" or not self._offered:
            if self._found and self._told < len(self._ran) and self._offering.pointed_to(self._found[-1]):
                request, self._told = self.last_request(1), len(self._ran)
                self._go("answer", ())
                return request
            return None if self._ran or self._words or self._kept else self._ask(self._question, (), TALK_TOKENS)
        question = "\n".join(filter(None, (self._question, self._missing)))
        said = "\n\n".join([*map(told, [*self._kept, *self._found]), question])
        if self._way == "free":
            return self._ask(said, [shown(tool) for tool in self._offered], CALL_TOKENS)
        held = [narrowed(tool, self._sources, self._offering.numbered) for tool in self._offered]
        tools = self._menu if self._way == "menu" else held
        asked = self._ask(said, [*tools, NONE] if self._way in ("menu", "pick") else tools, CALL_TOKENS)
        return replace(asked, tool_choice="required", extra={**asked.extra, OVERRIDE: "guided"})

    def _ask(
        self, said: str, tools: Sequence[ToolDefinition], most: int, instruction: str = "", warmth: float = 0.0
    ) -> ChatRequest:
        """Return a fresh round: one system turn, the person's own and then ours; what came before; this."""
        own = [turn.text for turn in self._request.messages if turn.role == "system"]
        ours = instruction or ("" if tools else answer_in(self._language))
        system = "\n\n".join(filter(None, [*own, self._note, ours]))
        is_whole = instruction and (self._ran or self._kept) and (warmth or self._full != self._question)
        before = [] if is_whole else self._history  # It would be said once more, and of the other thing.
        turns = [*([Message("system", system)] if system else []), *before, Message("user", said)]
        return replace(
            self._request,
            messages=trimmed(turns, self._context_tokens, tools),
            tools=tuple(tools),
            temperature=warmth or self._request.temperature or 0.0,
            max_tokens=self._request.max_tokens or most,
        )

    def judge(self, call: ToolCall) -> Verdict:
        """Mend or refuse a call; refused ones are asked for once more under a grammar."""
        if call.name == NONE.name:
            self._go("talk")  # The model's words stand.
            return Verdict(call, "No tool is needed.")
        name = self._resolved(call.name)
        if not name:
            return self._again(call, f"There is no tool {call.name}.", self._offered)
        if self._way == "menu":
            self._go("free", self._offering.prefer(name))
            return Verdict(call, f"{name} is shown now.")
        tool, written = self._tools[name], replace(call, name=name)
        rather = self._offering.rather(written)
        if self._way == "free" and not rather:
            self._offering.chosen = name
        grounded = ground(written, tool, self._sources, self._offering.numbered)
        if grounded.refusal:
            return self._again(call, grounded.refusal, self._offering.instead_of(tool))
        if (owners := rather or (None if self._refused else self._offering.meant_for(grounded.call))) is not None:
            return self._again(call, f"Nothing that {name} takes was asked about.", owners)
        fuller = [] if self._refused else self._offering.fuller(grounded.call)
        if fuller or not self._offering.is_asked_for(grounded.call):
            self._refused += 1
            self._go("free" if fuller else "talk", [*fuller, tool])
            return Verdict(call, f"{name} leaves out what was said." if fuller else f"{name} has nothing of it.")
        made = replace(grounded.call, name=self._real_names[name])
        is_old = self._way == "anew" and not self._is_fresh(grounded.call)
        if is_old or canonical(grounded.call) in {canonical(one.call) for one in [*self._ran, *self._kept]}:
            left = [one for one in self._offered if self._way == "guided" and one.name != name]
            more = left if not self._ran else self._offering.elsewhere(self._ran[-1]) or left
            if is_old:
                self._kept = self._view
                near = [one for one in self._offering.nearest() if one.name in self._offering.reading]
                more = near if any(one not in self._in_view for one in near) else []
            self._go((self._doubt if is_old else "guided") if more else "talk", more or None)
            return Verdict(made, "This call has been made already.")
        return Verdict(made)

    def _go(self, way: Way, offered: Sequence[ToolDefinition] | None = None) -> None:
        """Move on to the next way of asking, with these tools where they are others."""
        self._way, self._offered = way, self._offered if offered is None else offered

    def _again(self, call: ToolCall, why: str, offered: Sequence[ToolDefinition]) -> Verdict:
        """Refuse, and ask once more with what can be called now."""
        self._refused += 1
        own = {self._resolved(call.name)} - self._offering.changing
        allowed = {tool.name: tool for tool in offered if self._offering.may_be_forced(tool) or tool.name in own}
        self._go("guided" if self._refused <= REFUSED_AT_MOST else "talk", list(allowed.values()))
        return Verdict(call, why)

    def _resolved(self, name: str) -> str:
        """Return the shown name that a model meant: small ones drop prefixes and add endings."""
        known = [one for one in (name, own_name(name)) if one in self._tools]
        return known[0] if known else meant(own_name(name), [tool.name for tool in self._offered], ())

    async def record(self, said: Message, outcomes: Sequence[Outcome]) -> None:
        """Take in what came of the calls, and decide what may come next."""
        shown_as = self._shown_names
        ran = [replace(one, call=replace(one.call, name=shown_as[one.call.name])) for one in outcomes if one.ran]
        for one in ran:
            self._ran.append(one)
            self._absent |= {one.call.id} if await says_nothing(one, self._near) else set()
            taken = leaves(one.call.arguments)
            if found := not is_nothing(one):
                self._full = await in_full(self._question, self._asked, self._earlier, self._ran, self._near)
                self._rows[one.call.id] = await nearest(Text(self._full), one.result.text, self._near, taken)
            self._sources.add_result(one.result.text, taken, found=found)
        if not ran:
            return
        self._words = ""  # Words from before a call are no answer from what it gave.
        tool, made, found = self._tools[ran[-1].call.name], [one.call for one in self._ran], not is_nothing(ran[-1])
        beside, is_guess = await others(self._sources.question, tool, made, self._near, found=found)
        self._guesses |= {ran[-1].call.id} if is_guess else set()
        self._go("guided", self._offering.after(ran[-1], beside))

    def accept_answer(self, text: str) -> bool:
        """Take words as the answer, unless a call is still wanted."""
        if self._way == "answer":
            self._offered = self._offering.pointed_to(self._found[-1], Text(text), alone=len(self._found) == 1)
            return not self._offered and tidy(text) == text.strip() and bool(self.judge_answer(text))
        if self._way not in ("free", "talk"):
            # Words where only a call was asked for, from an endpoint that no grammar holds.
            return bool(self._ran and self.judge_answer(text))
        is_nothing_said = is_no_answer(text, self._unsaid)
        if not is_nothing_said and not self._ran:
            self._words = tidy(text)
        guesses = self._offering.margin > GUESSED and bool(invented(text, self._sources))
        given = [span for span in self._sources.question.spans if not span.isdigit()]
        is_near = self._offering.margin > MAYBE or any(self._offering.fits(tool, given) for tool in self._offered)
        if self._way == "free" and (is_nothing_said or guesses or is_near or self._in_view):
            is_else = (is_nothing_said and bool(text.strip())) or self._offering.is_of_another()
            self._doubt = "guided" if (is_else or guesses) and not self._offering.is_talk else "pick"
            self._in_view = [] if is_else else self._in_view
            return False
        return not self._ran and not is_nothing_said

    def _is_fresh(self, call: ToolCall) -> bool:
        """Tell whether a call holds something that the question names, or means, and no turn before it held."""
        fresh = [one for one in leaves(call.arguments) if self._sources.is_new(one)]
        return any(self._sources.question.holds(one) or str(one) in self._meant for one in fresh)

    async def asks_again(self) -> bool:
        """Ask once more with the names and "none" to pick from, when words came where a call was likely."""
        if self._way == "answer" and self._offered:
            self._go("guided")
        elif self._way != "free":
            return False
        elif self._in_view:
            self._go("anew", self._in_view)
            for one in self._view:
                asked, taken = self._sources.question, leaves(one.call.arguments)
                self._rows[one.call.id] = await nearest(asked, one.result.text, self._near, taken)
                beside, _ = await others(asked, self._tools[one.call.name], [one.call], self._near, found=True)
                self._meant |= {each for named in beside.values() for each in named}
                held = for_another(self._tools[one.call.name], beside)
                self._offered = [held if each.name == held.name else each for each in self._offered]
        else:
            self._go(self._doubt, self._offering.nearest())
        return bool(self._offered)

    def insist(self, text: str, missing: str) -> None:
        """Put what is missing with the question: each round is a fresh one."""
        self._missing = missing
        self._go("free", self._offering.first())

    def last_request(self, attempt: int) -> ChatRequest | None:
        """Put the results in front and the question last, with no tools; a second try is a little freer."""
        attempt += self._way == "answer"
        if attempt > 2 or (not self._ran and self._words and not self._kept):
            return None
        if attempt == 2 and self._words and is_foreign(self._words, self._language):
            instruction, said = translation(self._words, self._language)
        elif not self._kept and (not self._ran or (self._offering.is_talk and not self._found)):
            instruction, said = answer_in(self._language), self._question
        elif not self._offering.is_to_know and any(one.call.name in self._offering.changing for one in self._found):
            instruction, said = done_turn(self._language, "\n\n".join(map(told, self._found)))
        elif self._kept or any(one.call.id not in self._absent for one in self._found):
            # A single result needs no heading, which looks like a part of the answer, but says what a follow-up is of.
            guesses = [one for one in self._found[:-1] if one.call.id in self._guesses]
            led_on = [one for one in self._ran[:-1] if is_nothing(one) or self._offering.is_lead(one)]
            kept = [*self._kept, *(one for one in self._ran if one not in [*led_on, *guesses])]
            is_alone = len(kept) == 1 and not self._history
            results = [lines_of(one) if is_alone else told(one) for one in kept]
            rows = [self._rows.get(one.call.id, []) for one in kept]
            if len({one.call.name for one in kept}) > 1:
                rows = rows[-1:]  # The others led to it.
            elif len(kept) > 1:
                pairs = zip(kept, rows, strict=True) if all(rows) else ()
                rows = [[f"{call_line(one.call)}: {', '.join(of)}"] for one, of in pairs]
            # Not in a draft: what that leaves untold leads on to a second call. Nor in another try.
            is_said = any(rows) and attempt == 1 and not any(map(self._offering.pointed_to, self._found[-1:]))
            results += ["\n".join([MOST_OF_ALL, *(row for of in rows for row in of)])] if is_said else []
            instruction, said = final_turn(self._full, "\n\n".join(results), attempt, self._language)
        else:
            sought = [str(value) for value in leaves(self._ran[-1].call.arguments) if self._sources.hold(value)]
            asked = [one for one in self._ran if any(map(self._sources.question.holds, leaves(one.call.arguments)))]
            failure = next((told(one)[:LONGEST_FAILURE] for one in asked if one.failed), "")
            wanted = ", ".join(sought) or call_line(self._ran[-1].call)
            instruction, said = nothing_turn(self._language, wanted, failure)
        return self._ask(said, (), ANSWER_TOKENS, instruction, 0.0 if attempt == 1 else 0.4)

    def judge_answer(self, text: str) -> str:
        """Return the answer without fences; empty when it must be asked for again."""
        answer = tidy(text).removeprefix(MOST_OF_ALL).strip()
        copied = {one for of in self._rows.values() for one in of} if MOST_OF_ALL in text else set()
        is_yes = self._found and self._question.strip().endswith(MARKS) and not answer.endswith(MARKS)  # A statement.
        if is_no_answer(answer, "" if is_yes else self._question) or set(answer.splitlines()) <= copied:
            may_stand = is_data(answer, self._sources.results)  # Perhaps it was asked for.
        else:
            is_open = self._found or not self._ran or self._offering.is_talk
            is_sound = not invented(answer, self._sources, shortest=2 if is_open else 1)
            is_said = bare(MOST_OF_ALL) in bare(answer) or bare(answer) in (bare(one.text) for one in self._history)
            if is_sound and not is_said and not is_foreign(answer, self._language):
                return answer
            may_stand = bool(is_sound or is_open)  # It may be worked out from what was found.
        self._words = self._words or (answer if may_stand else "")
        return ""

    def fallback_answer(self) -> str:
        """Give the model's own last words; the tools' data only when it gave none."""
        return self._words or "\n\n".join(map(told, self._found or self._ran)) or "The model gave no answer."
