"""The section `model`: which model answers, over which wire, and how much its key may be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from naru.config.section import SECTION

Wire = Literal["auto", "openai", "ollama", "gemini", "anthropic", "responses"]
ReasoningField = Literal[
    "", "reasoning_content", "reasoning", "reasoning_details", "thinking", "content", "parts", "none"
]


class ModelSection(BaseModel):
    """A group of settings; unknown keys are refused."""

    model_config = SECTION


class LimitSettings(ModelSection):
    """What one key may be asked for; 0 is no limit. Gemini's free tier, say: 15 requests a minute."""

    requests_per_minute: int = Field(0, ge=0)
    """Requests within any minute."""
    tokens_per_minute: int = Field(0, ge=0)
    """Tokens within any minute."""
    requests_per_day: int = Field(0, ge=0)
    """Requests within any 24 hours."""
    tokens_per_day: int = Field(0, ge=0)
    """Tokens within any 24 hours."""
    max_concurrent: int = Field(0, ge=0)
    """Requests under way at the same time."""
    redis_url: str = ""
    """`redis://host:6379/0` when several Naru processes share the key; empty counts in this process alone."""
    max_wait_seconds: float = Field(300.0, gt=0)
    """Longest wait in the queue; what would wait longer is refused at once, with its position and time."""
    max_waiting: int = Field(200, gt=0)
    """Most requests that wait."""


class EndpointSettings(ModelSection):
    """A further model endpoint."""

    name: str
    """Short name; `name/model` asks for a model there."""
    base_url: str
    """Its base URL."""
    api_key: SecretStr = SecretStr("")
    """Its key."""
    api: Wire = "auto"
    """Its wire; `auto` tells Ollama by its port 11434, Gemini and Anthropic by their hosts."""
    models: list[str] = []
    """Models it serves, `*` allowed; empty asks it."""
    headers: dict[str, str] = {}
    """Further headers of every request."""
    limits: LimitSettings = LimitSettings()
    """What its key may be asked for."""


class ModelSettings(ModelSection):
    """The model behind the faces."""

    model: str = ""
    """`qwen2.5-coder-0.5b`, `qwen2.5-coder-1.5b`, a path to a GGUF file, or the endpoint's name for it."""
    base_url: str = ""
    """Base URL of any OpenAI-compatible endpoint, such as `http://127.0.0.1:1234/v1`; empty runs the local engine."""
    api_key: SecretStr = SecretStr("")
    """Key for that endpoint."""
    api: Wire = "auto"
    """Wire of that endpoint; `auto` tells Ollama by its port 11434, Gemini and Anthropic by their hosts."""
    strategy: Literal["", "native", "prompted", "guided"] = ""
    """How tools are offered; empty takes what `naru probe` found, else what is known of the model's family."""
    schema_form: Literal["", "openai", "openai-strict", "ollama", "llama.cpp"] = ""
    """Form of tool schemas on endpoints of OpenAI's wire; empty goes by the engine that the endpoint says it is."""
    limits: LimitSettings = LimitSettings()
    """What that endpoint's key may be asked for."""
    endpoints: list[EndpointSettings] = []
    """Further endpoints; a request goes to the one that serves its model."""
    fallbacks: list[str] = []
    """Models to ask next, in order, when the one asked for is away, refused or over its limit: `model`, as a request
    would name it, or `endpoint/model`. Only before the first word of an answer; the answer says whose it is."""
    context_tokens: int = 0
    """Size of the models' context; 0 takes what the endpoint says, and 8192 for the local engine and for Ollama."""
    reasoning: ReasoningField = ""
    """Field in which a model's reasoning goes back to it; empty goes by its family and by what the endpoint sends."""
    threads: int = 0
    """Threads of the local engine; 0 takes the number of cores."""
    cache_dir: Path = Path("~/.cache/naru")
    """Where joined model files are kept."""
