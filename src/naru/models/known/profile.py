"""Facts about a model family, as rows: what to send it and what to expect of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Strategy = Literal["native", "prompted", "guided"]
"""How tools are offered: the endpoint's own `tools`; a prompt; a prompt and a grammar that allows only valid calls."""
ReasoningField = Literal[
    "", "reasoning_content", "reasoning", "reasoning_details", "thinking", "content", "parts", "none"
]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a model family. Facts, not branches."""

    family: str = "unknown"
    native_tools: bool = True
    """The endpoint's template takes `tools`; what comes back is read from the text all the same."""
    system_role: bool = True
    late_system: bool = True
    """A system message may stand anywhere, not only first."""
    alternation: bool = False
    """User and assistant must take turns, user first (Gemma, R12)."""
    tool_role: bool = True
    """Calls and results of the history may be sent as such; else they become model and user turns."""
    dialect: str = ""
    """Name of the dialect that the family writes by itself: the parser's hint."""
    teach: str = "fenced-json"
    """Row of `teaching.TEACHINGS` that a prompt teaches when tools are prompted."""
    parallel_calls: bool = True
    guided: Literal["", "json_schema", "grammar"] = ""
    """What the engine can be guided by; empty when it cannot."""
    context_tokens: int = 0
    """Of the setting, else as the endpoint says, else of the family; 0 is not known, and nothing is left out."""
    strategy: Strategy = "native"
    small: bool = False
    """Needs help: few tools, fresh rounds, grounded arguments."""
    tool_budget: int = 0
    """Tools that the model can be shown at once; 0 is no limit (H13)."""
    max_tokens_field: str = "max_tokens"
    """OpenAI's newer models want `max_completion_tokens`."""
    empty_content: Literal["null", "empty"] = "null"
    """What an assistant turn says that holds calls alone; providers differ."""
    reasoning: ReasoningField = ""
    """Field of an assistant's turn in which its reasoning goes back; empty sends none until the endpoint sends some.

    `content` is between its tags, `parts` Mistral's content in parts, `none` never: the endpoint refuses it.
    """
    reasoning_needed: bool = False
    """The endpoint refuses a history whose calls lack their reasoning: a blank stands for what a client has dropped."""
    thinks_in_levels: bool = False
    """Ollama takes a level of thinking for it (`low`, `medium`, `high`); for others a yes or a no."""
    adapts_thinking: bool = False
    """It takes no budget of thoughts, but how hard it shall try (newer models behind Anthropic's API)."""
    images: Literal["user", "tool", "none"] = "user"
    """Where pictures of tool results stand: in a user's turn after the results, in the tool's own, nowhere."""
    sees: bool | None = None
    """Whether it takes pictures, as its endpoint says or has shown; None is not known."""
    schema_form: str = ""
    """Of the setting, else of the engine that the endpoint says it is; empty: the wire's own."""
    refused_parameters: frozenset[str] = frozenset()
    """Fields that the endpoint has refused by name."""

    @property
    def takes_thoughts(self) -> bool:
        """The endpoint has sent thoughts that nobody sealed, or is known to, and takes them back."""
        return self.reasoning not in ("", "none")
