"""What is stored about an MCP server (H1), with pydantic at this edge only."""

from __future__ import annotations

import re
import time
import uuid
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""What a server may be called (SECURITY S-23)."""


def now_ms() -> int:
    """Return the wall clock in epoch milliseconds, the unit of every stored time (H9)."""
    return int(time.time() * 1000)


class TransportType(StrEnum):
    """How a server is reached (H2)."""

    STDIO = "STDIO"
    SSE = "SSE"
    HTTP = "HTTP"


class ServerRecord(BaseModel):
    """One registered MCP server (H1); camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    id: str = Field(default_factory=lambda: str(uuid.uuid4()))
    name: str
    description: str | None = None
    transport_type: TransportType | None = None
    """None: undeclared; Streamable HTTP is tried first, then SSE."""
    config: dict[str, Any] = Field(default_factory=dict)
    """`command`, `args`, `env`, `cwd` for STDIO; `url`, `headers` for SSE and HTTP; unknown keys are kept."""
    version: str | None = None
    auto_connect: bool = True
    created_at: int = Field(default_factory=now_ms)
    updated_at: int = Field(default_factory=now_ms)

    @field_validator("name")
    @classmethod
    def _name_is_plain(cls, value: str) -> str:
        if not SERVER_NAME.fullmatch(value):
            raise ValueError(
                f"server name {value!r} is not allowed: "
                "use 1 to 64 letters, digits, '_', '.', '-', starting with a letter or digit"
            )
        return value

    @model_validator(mode="after")
    def _config_fits_transport(self) -> ServerRecord:
        needed = "command" if self.transport_type is TransportType.STDIO else "url"
        if not isinstance(self.config.get(needed), str) or not self.config[needed].strip():
            raise ValueError(
                f"server {self.name!r}: config.{needed} is required for {self.transport_type or 'a URL'} transport"
            )
        return self


class ServerStatus(StrEnum):
    """The state of a server's connection (H3)."""

    PENDING = "PENDING"
    CONNECTING = "CONNECTING"
    CONNECTED = "CONNECTED"
    DISCONNECTED = "DISCONNECTED"
    FAILED = "FAILED"
    DISABLED = "DISABLED"
    NEEDS_AUTH = "NEEDS_AUTH"
    DEGRADED = "DEGRADED"
