"""Settings: defaults < naru.yaml < environment < flags; the one place that reads the environment.

Every setting is documented by its docstring; `docs/reference/settings.md` is generated from here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, YamlConfigSettingsSource


class Section(BaseModel):
    """A group of settings; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ServerSettings(Section):
    """Where Naru listens."""

    host: str = "127.0.0.1"
    """Address to bind; anything beyond loopback switches authentication on (SECURITY S-01)."""
    port: int = Field(20006, ge=0, le=65535)
    """Port to bind; 0 takes a free one."""


class ModelSettings(Section):
    """The model behind the faces."""

    model: str = ""
    """`qwen2.5-coder-0.5b`, `qwen2.5-coder-1.5b`, a path to a GGUF file, or the endpoint's name for it."""
    base_url: str = ""
    """Base URL of any OpenAI-compatible endpoint, such as `http://127.0.0.1:11434/v1`; empty runs the local engine."""
    api_key: SecretStr = SecretStr("")
    """Key for that endpoint."""
    context_tokens: int = 8192
    """Context size of the local engine."""
    threads: int = 0
    """Threads of the local engine; 0 takes the number of cores."""
    cache_dir: Path = Path("~/.cache/naru")
    """Where joined model files are kept."""


class HubSettings(Section):
    """The MCP servers and how they are kept connected."""

    store: str = ""
    """`memory:`, `file:mcp.json`, `sqlite:PATH` or `postgresql://…`; empty takes SQLite in the data folder."""
    data_dir: Path = Path("~/.local/share/naru")
    """Where the SQLite store, keys, pins and runs are kept."""
    demo: bool = False
    """Register the HR server with its demo data."""


class AgentSettings(Section):
    """Limits of the agent loop (SECURITY S-55)."""

    max_iterations: int = Field(5, ge=1, le=25)
    """Rounds of the loop before the last turn without tools (R10)."""
    tool_timeout_seconds: float = Field(30.0, gt=0)
    """Deadline of one tool call (R9)."""
    model_timeout_seconds: float = Field(120.0, gt=0)
    """Deadline of one model call (R9)."""


class Settings(BaseSettings):
    """All settings. Environment: `NARU_SERVER__PORT=20006`; file: `naru.yaml` with the same names."""

    model_config = SettingsConfigDict(
        env_prefix="NARU_", env_nested_delimiter="__", extra="ignore", use_attribute_docstrings=True
    )

    server: ServerSettings = ServerSettings()
    model: ModelSettings = ModelSettings()
    hub: HubSettings = HubSettings()
    agent: AgentSettings = AgentSettings()
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Least severe log lines that are written."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: flags, environment, naru.yaml."""
        return (init_settings, env_settings, YamlConfigSettingsSource(settings_cls))
