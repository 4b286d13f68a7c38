"""One request on its way to an endpoint that refuses it: what is changed, tried and, once proven, learnt (N1, N6).

A refusal of one tool costs that tool alone. The text may say which; a wrong word is found out, since only what made the
endpoint take the request is learnt. Where it does not say, ever shorter lists are tried: log2 of their number.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from naru.errors import ModelError
from naru.messages import ChatRequest, ToolDefinition
from naru.models.known import thinking
from naru.models.known.adapt import Learned, tool_key
from naru.models.known.pointed import pointed_at
from naru.models.transport.failures import GRAMMAR_REFUSED

ATTEMPTS = 5
"""Requests for one answer, at most, beside those that find a tool: each further one differs from all before."""
_MAX_POINTED = 3
"""Tools that are left out because the endpoint's words point at them; then it is not believed."""
_MAX_FOUND = 4
"""Tools of one request that are looked for without its words."""
_ABOUT_TOOLS = re.compile(r"tool|function|declaration|schema|grammar|parameters|propert", re.IGNORECASE)
_BESIDE_TOOLS = re.compile(r"\b(?:tools?|functions?)\b", re.IGNORECASE)
_ABOUT_FORM = re.compile(r"json|response.(?:format|mime)|structured", re.IGNORECASE)
_ABOUT_THINKING = re.compile(r"reasoning|effort|think", re.IGNORECASE)
_ABOUT_CHOICE = re.compile(r"tool.?choice", re.IGNORECASE)
_VAGUE = re.compile(r"invalid[ _]argument|invalid request|bad request", re.IGNORECASE)
_GRAMMAR_FORM = "llama.cpp"
logger = logging.getLogger(__name__)


class _Search:
    """The shortest list of leading tools that is refused: its last tool is one that the endpoint does not take."""

    def __init__(self, tools: Sequence[ToolDefinition], *, taken: int = 0, from_none: bool = False) -> None:
        self.tools = list(tools)
        self.taken = taken
        """So many leading ones are taken."""
        self.knows_none = taken > 0
        """Whether it is known that a request without tools would be taken: else they may not be the trouble."""
        self.refused = len(tools)
        self._from_none = from_none

    @property
    def count(self) -> int | None:
        """How many leading tools to try next; None when the tool is found."""
        if self._from_none and not self.knows_none:
            return 0
        return (self.taken + self.refused) // 2 if self.refused - self.taken > 1 else None

    @property
    def found(self) -> ToolDefinition:
        return self.tools[self.refused - 1]

    def note(self, count: int, *, is_taken: bool) -> None:
        if is_taken:
            self.taken, self.knows_none = max(self.taken, count), True
        else:
            self.refused = count


class Trial:
    """What to send next, and what an answer to it teaches."""

    def __init__(
        self, learned: Learned, request: ChatRequest, form: str = "openai", *, holds_answer: bool = False
    ) -> None:
        """Begin; `holds_answer` says that the request wants its answer in a form."""
        self._learned = learned
        self._request = learned.without_refused(request)
        self._form = form
        self._tries_form = False
        self._holds_answer = holds_answer
        self.says_form = learned.form_in_words and bool(request.tools)
        """The form of the answer is told in words: the endpoint takes none beside tools, or may not."""
        self._left = ATTEMPTS - 1
        self._out: dict[str, tuple[ToolDefinition, str]] = {}
        """Tools left out, by key, with the words of the refusal; the last one is proven when the request is taken."""
        self._proven: set[str] = set()
        self._pointed = 0
        self._search: _Search | None = None
        self._found = 0
        self._rest_is_refused = False
        """Whether the list without the first tool is known to be refused as well."""
        self._words = ""
        self._first: ModelError | None = None

    @property
    def form(self) -> str:
        """The form of tool schemas to send."""
        return (
            _GRAMMAR_FORM
            if self._tries_form
            else self._learned.schema_form or self._learned.profile.schema_form or self._form
        )

    @property
    def asked(self) -> ChatRequest:
        """The request to send: as it is known to be taken, or a part of its tools to find the refused one."""
        if (count := self._trying) is not None and self._search is not None:
            return _with_tools(self._request, self._search.tools[:count])
        return _with_tools(self._request, self._remaining) if self._out else self._request

    @property
    def _trying(self) -> int | None:
        return self._search.count if self._search is not None else None

    @property
    def _remaining(self) -> list[ToolDefinition]:
        return [tool for tool in self._request.tools if tool_key(tool) not in self._out]

    def accepted(self) -> bool:
        """Take in that the endpoint took what was sent; False when it was a try, and the answer is not wanted."""
        if self._search is not None and (count := self._trying) is not None:
            self._search.note(count, is_taken=True)
            if self._rest_is_refused and self._search.count is None:
                self._go_on()
            else:
                self._leave_out_found()
            return False
        if self._out:
            self._proven.add(next(reversed(self._out)))
            self._learn()
        if self._tries_form:
            self._learned.schema_form = _GRAMMAR_FORM
        self._learned.form_in_words |= self.says_form
        return True

    def refused(self, error: ModelError, sent: Mapping[str, str]) -> ModelError | None:
        """Take a refusal in; returns the error to raise when nothing more can be tried.

        Args:
            error: what the endpoint said.
            sent: the tools that it was given natively, in their order: the name that was sent, the tool's own.
        """
        self._first = self._first or error
        teaches = error.status in {400, 422} or GRAMMAR_REFUSED.search(error.message) is not None
        if self._search is not None:
            return None if teaches and self._searched() else self._given_up(error)
        effort = thinking.effort_asked(self._request)
        if teaches and effort and f"'{effort}'" in error.message and self._left_thinking_out(error):
            return None  # It is this word that is refused, not the field.
        if self._left > 0 and self._learned.learn(error, self.asked):
            self._left -= 1
            return None
        if teaches and (
            self._changed_form(error, sent)
            or self._left_out_pointed(error, sent)
            or self._said_form(error)
            or self._left_thinking_out(error)
            or self._left_choice_out(error)
            or self._started_search(error, sent)
        ):
            return None
        return self._given_up(error)

    def _said_form(self, error: ModelError) -> bool:
        """Tell the form of the answer in words, where tools beside it may be the trouble: no tool is blamed."""
        is_about = _BESIDE_TOOLS.search(error.message) and _ABOUT_FORM.search(error.message)
        self.says_form = not self.says_form and bool(is_about and self._request.tools and self._holds_answer)
        return self.says_form

    def _left_thinking_out(self, error: ModelError) -> bool:
        """Ask for less thinking, then for none, where the refusal speaks of it; others' requests may fare better."""
        effort = thinking.effort_asked(self._request)
        if not effort or not (_ABOUT_THINKING.search(error.message) or f"'{effort}'" in error.message):
            return False
        extra = thinking.without(self._request.extra)
        if nearest := thinking.NEAREST.get(effort):
            extra["reasoning_effort"] = nearest
        done = f"asked for as {nearest}" if nearest else "not passed on"
        said = f"thinking ({effort}): {done}, the endpoint refuses it here ({error.message[:200]})"
        self._request = replace(self._request, extra=extra, notes=(*self._request.notes, said))
        return True

    def _left_choice_out(self, error: ModelError) -> bool:
        """Leave it to the model whether it calls, where it cannot be made to: few can while they think."""
        if self._request.tool_choice in (None, "auto", "none") or not _ABOUT_CHOICE.search(error.message):
            return False
        said = f"tool_choice: not passed on, the endpoint refuses it here ({error.message[:200]})"
        self._request = replace(self._request, tool_choice=None, notes=(*self._request.notes, said))
        return True

    def _changed_form(self, error: ModelError, sent: Mapping[str, str]) -> bool:
        """Send what every grammar engine takes, where a grammar could not be made of the schemas."""
        if not sent or self.form == _GRAMMAR_FORM or not GRAMMAR_REFUSED.search(error.message):
            return False
        self._tries_form = True
        return True

    def _left_out_pointed(self, error: ModelError, sent: Mapping[str, str]) -> bool:
        names = list(sent)
        place = pointed_at(error.message, names)
        remaining = self._remaining
        if place is None or len(remaining) < 2 or self._pointed >= _MAX_POINTED or error.message == self._words:
            return False
        tool = next((tool for tool in remaining if tool.name == sent[names[place]]), None)
        if tool is None:
            return False
        self._pointed += 1
        self._words = error.message
        self._out[tool_key(tool)] = (tool, error.message)
        return True

    def _started_search(self, error: ModelError, sent: Mapping[str, str]) -> bool:
        is_clear = _ABOUT_TOOLS.search(error.message) is not None
        if not sent or len(self._request.tools) < 2 or not (is_clear or self._out or _VAGUE.search(error.message)):
            return False
        # Where words were wrong once, or are none, tools may not be the trouble at all: that is asked first.
        self._search = _Search(self._request.tools, from_none=bool(self._out) or not is_clear)
        self._out.clear()
        self._leave_out_found()
        return True

    def _searched(self) -> bool:
        """Take in a refusal while a tool is looked for; False when tools are not the trouble, or too many are."""
        search = self._search
        assert search is not None
        count = self._trying
        if count is not None:
            search.note(count, is_taken=False)
            if count == 0:
                return False
            self._leave_out_found()
            return True
        if search.knows_none:
            return self._go_on()
        # The first of all was found, and that it is left out does not help: are tools the trouble at all?
        self._search = _Search(self._request.tools, from_none=True)
        self._search.refused = 1
        self._rest_is_refused = True
        return True

    def _go_on(self) -> bool:
        """Look for the next tool: the one found is proven, and the rest is refused without it; False when too many."""
        search = self._search
        assert search is not None
        self._leave_out(search.found)
        self._proven.add(tool_key(search.found))
        self._learn()
        self._rest_is_refused = False
        remaining = self._remaining
        if self._found >= _MAX_FOUND or len(remaining) < 2:
            return False
        self._search = _Search(remaining, taken=search.taken)
        self._search.knows_none = True
        self._leave_out_found()
        return True

    def _leave_out_found(self) -> None:
        if self._search is not None and self._search.count is None:
            self._leave_out(self._search.found)

    def _leave_out(self, tool: ToolDefinition) -> None:
        if tool_key(tool) not in self._out:
            self._found += 1
            self._out[tool_key(tool)] = (tool, self._first.message if self._first else "")

    def _learn(self) -> None:
        for key in self._proven & self._out.keys() - self._learned.set_aside.keys():
            tool, said = self._out[key]
            self._learned.set_aside[key] = said
            logger.warning("tool %s is set aside for %s: %s", tool.name, self._request.model, said)

    def _given_up(self, error: ModelError) -> ModelError:
        """Return what to raise: the endpoint's first words, unless the trouble is now another."""
        return self._first if self._first is not None and error.status in {400, 422} else error


def _with_tools(request: ChatRequest, tools: Sequence[ToolDefinition]) -> ChatRequest:
    choice = request.tool_choice
    named = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    if not tools or (named is not None and all(tool.name != named for tool in tools)):
        choice = None
    return replace(request, tools=tools, tool_choice=choice)
