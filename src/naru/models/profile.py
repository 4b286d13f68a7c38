"""Facts about a model family, as rows: what to send it and what to expect of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Strategy = Literal["native", "prompted", "guided"]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a model family. Facts, not branches."""

    family: str = "unknown"
    native_tools: bool = True
    """The endpoint's template takes `tools`; what comes back is read from the text all the same."""
    system_role: bool = True
    alternation: bool = False
    """User and assistant must take turns (Gemma, R12)."""
    tool_role: bool = True
    dialect: str = ""
    """Name of the dialect that the family writes best, for prompts and as the parser's hint."""
    parallel_calls: bool = True
    guided: Literal["", "json_schema", "grammar"] = ""
    context_tokens: int = 8192
    strategy: Strategy = "native"
    small: bool = False
    """Needs the help of UPLIFT.md: few tools, fresh rounds, grounded arguments."""
