"""What an endpoint's refusal teaches of a model: what to send otherwise from now on (N1); see `trial`."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from naru.errors import ModelError
from naru.messages import CARRIED, ChatRequest, ImagePart, MediaPart, ToolDefinition
from naru.models.known.profile import Profile, ReasoningField
from naru.models.known.thinking import effort_asked
from naru.models.transport.failures import may_mean_roles

_REFUSED_PARAMETER = re.compile(
    r"""(?:unsupported|unrecognized|unknown|unexpected|extra|invalid|not\ permitted|not\ allowed)[^'"`]{0,60}"""
    r"""(?:parameter|argument|field|keyword|inputs?|property|name)s?(?:[^'"`]{0,30}['"`]|\ supplied:\ )(\w+)"""
    r"""|['"`](\w+)['"`][^'"`]{0,20}(?:is\ (?:not\ (?:supported|permitted|allowed|a\ valid)|unsupported)|:?\s*extra)"""
    r"""|['"`](\w+)['"`]\ cannot\ both\ be\ specified"""
    r"""|unsupported\ value:\ ['"`](\w+)['"`]\ does\ not\ support"""
    r"""|\b(\w+)['"`]?\ is\ deprecated"""
    r"""|"(\w+)"\],"msg":"extra\ inputs""",
    re.IGNORECASE | re.VERBOSE,
)
_SENT_BY_US = frozenset(
    {
        *(
            "stream",
            "stream_options",
            "max_tokens",
            "temperature",
            "stop",
            "tool_choice",
            "response_format",
            "grammar",
            "user",
            "top_p",
            "parallel_tool_calls",
        ),
        *("reasoning_effort", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"),
    }
)
"""Also by faces whose clients said it in other words, or always say it: the answer matters more to them."""
_REFUSED_WORDS = {
    "strict": re.compile(r"""(?:[.'"`]|loc\b[^.]{0,80})strict\b['"`]?|\bstrict (?:mode )?is not""", re.IGNORECASE),
    "detail": re.compile(r"""image_url['"`]?[^a-z]{1,5}detail\b|['"`]detail['"`]""", re.IGNORECASE),
}
"""How an endpoint names what stands inside a tool or a message."""
_REASONING = re.compile(r"""\breasoning_(?:content|details)\b|['"`]reasoning['"`]""", re.IGNORECASE)
_REFUSED_NULL = re.compile(
    r"\bcontent\b[^\n]{0,80}(?:\bnull\b|\bnone\b|valid string|expected (?:a )?string|be a string|is required)",
    re.IGNORECASE,
)
_REFUSED_ID = re.compile(r"(?:\b|_)id\b[^\n]{0,120}(?:length|too long|pattern|must be a)", re.IGNORECASE)
_NEEDS_TOOLS = re.compile(r"must define tools|\btoolconfig\b|expects the [^ ]?tools\b", re.IGNORECASE)
"""Anthropic's words, Bedrock's, LiteLLM's before it asks either."""
_REFUSED_LAST_TURN = re.compile(r"\bprefill|must end with an? user (?:message|turn)", re.IGNORECASE)
"""Anthropic's words of its newer models, and llama.cpp's of models that think."""
_MUST_BE = re.compile(r"\bmust\b|\bmissing\b|\brequired?\b", re.IGNORECASE)
_IMAGES = re.compile(
    r"image|vision|multi-?modal|mmproj|content.{0,40}(?:must be a string|should be a valid string|expected string)"
    r"|unexpected role .user. after role .tool.",
    re.IGNORECASE,
)
_NEXT_IMAGES: dict[str, Literal["user", "tool", "none"]] = {"tool": "user", "user": "tool"}
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Learned:
    """What is known of one model on one endpoint: its profile, mended by what the endpoint refused."""

    profile: Profile
    set_aside: dict[str, str] = field(default_factory=dict)
    """Tool → why the endpoint does not take it; such a tool costs the others nothing."""
    ask_again_at: float = 0.0
    """When the endpoint may be asked (again) what it says of the model, on the monotonic clock."""
    said_tokens: int = 0
    """The size of its context, as the endpoint said it."""
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    schema_form: str = ""
    """The form of tool schemas that the endpoint was found to take; empty: the wire's own."""
    calls_need_tools: bool = False
    """The endpoint takes calls of a history only where tools are offered: else they are told as words."""
    short_ids: bool = False
    """The endpoint refuses ids of calls that are not its own."""
    ends_with_user: bool = False
    """The endpoint goes on with no words of the model's own: the last turn has to be a person's."""
    form_in_words: bool = False
    """The endpoint was found to take a form of the answer only where no tools are offered."""
    tried_images: set[str] = field(default_factory=set)
    """Places for the pictures of results that were refused."""
    takes_system: bool = False
    """It has answered a request with a system turn."""
    on_trial: Profile | None = None
    """The profile before a change that the endpoint did not clearly ask for; it is kept when it helps."""

    def without_refused(self, request: ChatRequest) -> ChatRequest:
        """Return the request without the tools that this endpoint has refused before."""
        if not self.set_aside:
            return request
        return replace(request, tools=[tool for tool in request.tools if tool_key(tool) not in self.set_aside])

    def saw_reasoning(self, name: str) -> None:
        """Note the field in which the endpoint sent its reasoning: there it wants it back."""
        known = self.profile.reasoning
        if name and known not in (name, "none"):
            self.profile = replace(self.profile, reasoning=cast("ReasoningField", name))

    def succeeded(self, request: ChatRequest) -> None:
        """Note that the endpoint has taken a request."""
        self.on_trial = None
        if not self.takes_system and self.profile.system_role:
            self.takes_system = _has_system(request)

    def learn(self, error: ModelError, request: ChatRequest) -> bool:
        """Take a refusal in; True when the same request may fare better now."""
        before = self.profile
        if self.on_trial is not None:  # It did not help.
            self.profile, self.on_trial = self.on_trial, None
            return False
        if error.code == "tools_unsupported" and request.tools and self.profile.native_tools:
            self.profile = replace(before, native_tools=False, tool_role=False, strategy="prompted")
        elif error.code == "system_unsupported" and before.system_role:
            self.profile = replace(before, system_role=False)
        elif error.code == "alternation_required":
            # Some templates say the same of a system turn in front.
            has_tried = before.alternation and not before.tool_role
            alternating = replace(before, alternation=True, tool_role=False, late_system=False)
            self.profile = replace(before, system_role=False) if has_tried else alternating
        elif (
            self._refused_reasoning(error, request)
            or self._refused_images(error, request)
            or self._refused_budget(error, request)
            or self._refused_null(error, request)
        ):
            pass
        elif (
            self._needs_tools(error, request)
            or self._refused_ids(error, request)
            or self._refused_last_turn(error, request)
            or self._refused_detail(error, request)
            or self._refused_parameter(error)
        ):
            return True
        elif before.system_role and not self.takes_system and may_mean_roles(error) and _has_system(request):
            self.on_trial, self.profile = before, replace(before, system_role=False)
        if self.profile != before:
            logger.warning(
                "model %s: %s; going on with %s", request.model, error.code, _difference(before, self.profile)
            )
        return self.profile != before

    def _refused_reasoning(self, error: ModelError, request: ChatRequest) -> bool:
        """Send reasoning where it is asked for, and not where it is refused."""
        profile = self.profile
        if error.status not in {400, 422} or not _REASONING.search(error.message):
            return False
        if not any(turn.role == "assistant" for turn in request.messages):
            return False
        if _MUST_BE.search(error.message) and not profile.reasoning_needed:
            wanted: ReasoningField = "reasoning_content" if profile.reasoning in ("", "none") else profile.reasoning
            self.profile = replace(profile, reasoning=wanted, reasoning_needed=True)
        elif profile.reasoning != "none" and any(turn.reasoning for turn in request.messages):
            self.profile = replace(profile, reasoning="none")
        return self.profile != profile

    def _refused_null(self, error: ModelError, request: ChatRequest) -> bool:
        """Say nothing beside calls as an empty text, where null is refused; providers differ."""
        says_null = any(turn.tool_calls and not turn.content for turn in request.messages)
        if error.status not in {400, 422} or not says_null or self.profile.empty_content == "empty":
            return False
        if not _REFUSED_NULL.search(error.message):
            return False
        self.profile = replace(self.profile, empty_content="empty")
        return True

    def _refused_ids(self, error: ModelError, request: ChatRequest) -> bool:
        """Send ids of calls that every endpoint takes, where it says how they must be."""
        if error.status not in {400, 422} or self.short_ids or not any(turn.tool_calls for turn in request.messages):
            return False
        self.short_ids = _REFUSED_ID.search(error.message) is not None
        return self.short_ids

    def _refused_last_turn(self, error: ModelError, request: ChatRequest) -> bool:
        """Ask in a person's turn to go on with the model's own last words, where they cannot be the end."""
        is_own = bool(request.messages) and request.messages[-1].role == "assistant"
        if error.status not in {400, 422} or self.ends_with_user or not is_own:
            return False
        self.ends_with_user = _REFUSED_LAST_TURN.search(error.message) is not None
        return self.ends_with_user

    def _needs_tools(self, error: ModelError, request: ChatRequest) -> bool:
        """Tell calls in words where they are refused without tools: in a run's last turn, or for who offers none."""
        has_calls = any(turn.tool_calls or turn.role == "tool" for turn in request.messages)
        if error.status not in {400, 422} or request.tools or not has_calls or self.calls_need_tools:
            return False
        self.calls_need_tools = _NEEDS_TOOLS.search(error.message) is not None
        return self.calls_need_tools

    def _refused_budget(self, error: ModelError, request: ChatRequest) -> bool:
        """Ask for thoughts in the other way, where the endpoint points to it."""
        is_asked = effort_asked(request) not in ("", "none") and not self.profile.adapts_thinking
        if error.status not in {400, 422} or not is_asked or "adaptive" not in error.message:
            return False
        self.profile = replace(self.profile, adapts_thinking=True)
        return True

    def _refused_images(self, error: ModelError, request: ChatRequest) -> bool:
        """Try the next place for the pictures of tool results; a client's own stand where it put them."""
        place = self.profile.images
        if place == "none" or not _IMAGES.search(error.message) or not _has_result_images(request):
            return False
        self.tried_images.add(place)
        following = _NEXT_IMAGES[place]
        self.profile = replace(self.profile, images="none" if following in self.tried_images else following)
        return True

    def _refused_detail(self, error: ModelError, request: ChatRequest) -> bool:
        """Leave out a word inside a tool or a message rather than the whole of it."""
        if error.status not in {400, 422}:
            return False
        held = {"strict": any(tool.strict for tool in request.tools), "detail": _has_detail(request)}
        held |= dict.fromkeys(_carried(request), True)
        for name, is_sent in held.items():
            words = _REFUSED_WORDS.get(name) or re.compile(rf"\b{name}\b")
            if is_sent and name not in self.profile.refused_parameters and words.search(error.message):
                self.profile = replace(self.profile, refused_parameters=self.profile.refused_parameters | {name})
                logger.warning("model %s does not take %s: %s", request.model, name, error.message)
                return True
        return False

    def _refused_parameter(self, error: ModelError) -> bool:
        match = _REFUSED_PARAMETER.search(error.message) if error.status in {400, 422} else None
        name = match[match.lastindex or 0] if match else ""
        if error.status == 400 and error.param == "stream":  # Whatever the reason: an account that is not verified.
            name = "stream"
        if name not in _SENT_BY_US or name in self.profile.refused_parameters:
            return False
        if name == "max_tokens":
            self.profile = replace(self.profile, max_tokens_field="max_completion_tokens")
        self.profile = replace(self.profile, refused_parameters=self.profile.refused_parameters | {name})
        return True


def _has_detail(request: ChatRequest) -> bool:
    return any(
        isinstance(part, ImagePart) and part.detail
        for message in request.messages
        if not isinstance(message.content, str)
        for part in message.content
    )


def _has_system(request: ChatRequest) -> bool:
    return any(turn.role == "system" for turn in request.messages)


def _carried(request: ChatRequest) -> frozenset[str]:
    turns = [turn for turn in request.messages if turn.role == "assistant"]
    names = {name for turn in turns for name in turn.carried}
    return CARRIED & (names | {name for turn in turns for call in turn.tool_calls for name in call.carried})


def _has_result_images(request: ChatRequest) -> bool:
    return any(
        isinstance(part, MediaPart)
        for turn in request.messages
        if turn.role == "tool" and not isinstance(turn.content, str)
        for part in turn.content
    )


def tool_key(tool: ToolDefinition) -> str:
    """Return what tells a tool from one of its name with another schema."""
    return f"{tool.name} {tool.input_schema}"


def _difference(before: Profile, after: Profile) -> str:
    names = (
        *("native_tools", "system_role", "alternation", "tool_role", "reasoning", "reasoning_needed", "images"),
        *("adapts_thinking", "empty_content"),
    )
    return ", ".join(
        f"{name}={getattr(after, name)}" for name in names if getattr(after, name) != getattr(before, name)
    )
