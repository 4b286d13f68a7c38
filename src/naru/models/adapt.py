"""What an endpoint's refusal teaches of a model: what to send otherwise from now on (N1, LESSONS 13); see `trial`."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field, replace

from naru.errors import ModelError
from naru.messages import ChatRequest, ImagePart, ToolDefinition
from naru.models.profile import Profile

_REFUSED_PARAMETER = re.compile(
    r"""(?:unsupported|unrecognized|unknown|unexpected|extra|invalid|not\ permitted|not\ allowed)[^'"`]{0,60}"""
    r"""(?:parameter|argument|field|keyword|inputs?|property)s?[^'"`]{0,30}['"`](\w+)['"`]"""
    r"""|['"`](\w+)['"`][^'"`]{0,20}(?:is\ not\ (?:supported|permitted|allowed|a\ valid)|:?\s*extra\ inputs)""",
    re.IGNORECASE | re.VERBOSE,
)
_SENT_BY_US = frozenset(
    {"stream_options", "max_tokens", "temperature", "stop", "tool_choice", "response_format", "grammar"}
)
_REFUSED_WORDS = {
    "strict": re.compile(r"""(?:[.'"`]|loc\b[^.]*)strict\b['"`]?|\bstrict (?:mode )?is not""", re.IGNORECASE),
    "detail": re.compile(r"""image_url['"`]?[^a-z]{1,5}detail\b|['"`]detail['"`]""", re.IGNORECASE),
}
"""How an endpoint names what stands inside a tool or a message."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Learned:
    """What is known of one model on one endpoint: its profile, mended by what the endpoint refused."""

    profile: Profile
    set_aside: dict[str, str] = field(default_factory=dict)
    """Tool → why the endpoint does not take it; such a tool costs the others nothing."""
    schema_form: str = ""
    """The form of tool schemas that the endpoint was found to take; empty: the wire's own."""

    def without_refused(self, request: ChatRequest) -> ChatRequest:
        """Return the request without the tools that this endpoint has refused before."""
        if not self.set_aside:
            return request
        return replace(request, tools=[tool for tool in request.tools if tool_key(tool) not in self.set_aside])

    def learn(self, error: ModelError, request: ChatRequest) -> bool:
        """Take a refusal in; True when the same request may fare better now."""
        before = self.profile
        if error.code == "tools_unsupported" and request.tools and self.profile.native_tools:
            self.profile = replace(before, native_tools=False, tool_role=False, strategy="prompted")
        elif error.code == "system_unsupported" and before.system_role:
            self.profile = replace(before, system_role=False)
        elif error.code == "alternation_required" and not (before.alternation and not before.tool_role):
            self.profile = replace(before, alternation=True, tool_role=False, late_system=False)
        elif error.status in {400, 422}:
            return self._refused_detail(error, request) or self._refused_parameter(error)
        if self.profile != before:
            _log.warning("model %s: %s; going on with %s", request.model, error.code, _difference(before, self.profile))
        return self.profile != before

    def _refused_detail(self, error: ModelError, request: ChatRequest) -> bool:
        """Leave out a word inside a tool or a message rather than the whole of it."""
        held = {"strict": any(tool.strict for tool in request.tools), "detail": _has_detail(request)}
        for name, is_sent in held.items():
            if is_sent and name not in self.profile.refused_parameters and _REFUSED_WORDS[name].search(error.message):
                self.profile = replace(self.profile, refused_parameters=self.profile.refused_parameters | {name})
                _log.warning("model %s does not take %s: %s", request.model, name, error.message)
                return True
        return False

    def _refused_parameter(self, error: ModelError) -> bool:
        match = _REFUSED_PARAMETER.search(error.message)
        name = (match[1] or match[2]) if match else ""
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


def tool_key(tool: ToolDefinition) -> str:
    """Return what tells a tool from one of its name with another schema."""
    return f"{tool.name} {tool.input_schema}"


def _difference(before: Profile, after: Profile) -> str:
    names = ("native_tools", "system_role", "alternation", "tool_role")
    return ", ".join(
        f"{name}={getattr(after, name)}" for name in names if getattr(after, name) != getattr(before, name)
    )
