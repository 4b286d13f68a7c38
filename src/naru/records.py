"""What is stored about an MCP server (H1), with pydantic at this edge only."""

from __future__ import annotations

import math
import re
import time
import uuid
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""What a server may be called (SECURITY S-23)."""


def now_ms() -> int:
    """Return the wall clock in epoch milliseconds, the unit of every stored time (H9)."""
    return int(time.time() * 1000)


LAZY_IDLE_SECONDS = 300.0
_LEAST_MILLISECONDS = 1000
_SWITCHES = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class TransportType(StrEnum):
    """How a server is reached (H2)."""

    STDIO = "STDIO"
    SSE = "SSE"
    HTTP = "HTTP"


TRANSPORT_SPELLINGS = {
    "stdio": TransportType.STDIO,
    "local": TransportType.STDIO,
    "sse": TransportType.SSE,
    "http": TransportType.HTTP,
    "streamablehttp": TransportType.HTTP,
    "streamable": TransportType.HTTP,
    "httpstream": TransportType.HTTP,
    "httpstreaming": TransportType.HTTP,
    "streaminghttp": TransportType.HTTP,
    "shttp": TransportType.HTTP,
    "remote": None,
    "auto": None,
    "": None,
}
"""How configuration files spell the transport (R4), lower-cased, without `-` and `_`; None leaves it undeclared."""
ALLOWED_TOOLS_KEYS = ("allowedTools", "allowed_tools", "includedTools", "tools_to_execute")
DISABLED_TOOLS_KEYS = ("disabledTools", "disabled_tools", "excludedTools", "excluded_tools")


def parse_transport(value: str) -> TransportType | None:
    """Read any spelling of a transport. Raises ValueError naming the allowed ones."""
    key = re.sub(r"[-_ ]", "", value.lower())
    if key not in TRANSPORT_SPELLINGS:
        raise ValueError(f"transport {value!r} is unknown: use stdio, sse or http (also spelt streamable-http)")
    return TRANSPORT_SPELLINGS[key]


def guess_transport(config: dict[str, Any]) -> TransportType | None:
    """Return the transport that a config without one means: a command is STDIO, a URL ending in `/sse` is SSE."""
    if "command" in config and "url" not in config:
        return TransportType.STDIO
    url = config.get("url")
    if isinstance(url, str) and url.split("?")[0].rstrip("/").endswith("/sse"):
        return TransportType.SSE
    return None


def flag(value: object, *, default: bool) -> bool:
    """Read a switch as people write it: `true`, `"true"`, `1`, `"on"`; anything unclear is the default."""
    if isinstance(value, str):
        return _SWITCHES.get(value.strip().lower(), default)
    return bool(value) if isinstance(value, bool) or value in (0, 1) else default


def check_config_types(name: str, config: dict[str, Any]) -> None:
    """Raise ValueError naming the field of a server's config that has the wrong type."""

    def refuse(field: str, wanted: str) -> None:
        raise ValueError(f"server {name!r}: config.{field} must be {wanted}")

    args = [] if config.get("args") is None else config["args"]
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        refuse("args", "a list of strings")
    for field in ("env", "headers"):
        table = {} if config.get(field) is None else config[field]
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            refuse(field, "an object of strings")
    auth = config.get("auth")
    if isinstance(auth, dict) and not all(isinstance(value, str) for value in auth.values()):
        refuse("auth", "an object of strings")
    for field in ("cwd", "caFile"):
        if not isinstance(config.get(field), str | None):
            refuse(field, "a string")


def _names(config: dict[str, Any], keys: tuple[str, ...], modes: tuple[str, ...]) -> frozenset[str] | None:
    for key in keys:
        if isinstance(config.get(key), list) and config[key] != ["*"]:
            return frozenset(str(name) for name in config[key])
    chosen = config.get("toolFilter")
    if isinstance(chosen, dict) and chosen.get("mode") in modes:
        listed = chosen.get("tools", chosen.get("list"))
        if isinstance(listed, list):
            return frozenset(str(name) for name in listed)
    return None


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

    @field_validator("transport_type", mode="before")
    @classmethod
    def _transport_is_known(cls, value: Any) -> Any:
        return parse_transport(value) if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _config_tells_transport(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("transportType") or data.get("transport_type"):
            return data
        config = data.get("config")
        guessed = guess_transport(config) if isinstance(config, dict) else None
        rest = {key: value for key, value in data.items() if key != "transportType"}
        return {**rest, "transport_type": guessed} if guessed else data

    @model_validator(mode="after")
    def _config_fits_transport(self) -> ServerRecord:
        needed = "command" if self.transport_type is TransportType.STDIO else "url"
        if not isinstance(self.config.get(needed), str) or not self.config[needed].strip():
            raise ValueError(
                f"server {self.name!r}: config.{needed} is required for {self.transport_type or 'a URL'} transport"
            )
        check_config_types(self.name, self.config)
        return self

    @property
    def enabled(self) -> bool:
        """False when the entry says `disabled: true` or `enabled: false`; such a server is never connected."""
        return not flag(self.config.get("disabled"), default=False) and flag(self.config.get("enabled"), default=True)

    @property
    def timeout_seconds(self) -> float | None:
        """Deadline of a call to this server, from `timeout` of its entry; None takes ours.

        In milliseconds, as Gemini CLI and LibreChat have it; a value below 1,000 is taken for seconds, as Cline, Roo
        and Goose have it, since no tool is meant to answer within a second or fail.
        """
        value = self.config.get("timeout")
        usable = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        if not usable or value is None:
            return None
        return float(value) / 1000 if value >= _LEAST_MILLISECONDS else float(value)

    def is_lazy(self, *, default: bool) -> bool:
        """Tell whether it starts at its first call: `lazy` of the entry, else the setting."""
        return flag(self.config.get("lazy"), default=default)

    def idle_stop_seconds(self, default: float, *, is_lazy: bool) -> float:
        """Return how long a link without work is kept: `idleStopMs` of the entry, else the setting; infinite for 0.

        A lazily started server is closed after five minutes unless something else is said.
        """
        value = self.config.get("idleStopMs")
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return value / 1000 or math.inf
        return default or (LAZY_IDLE_SECONDS if self.is_lazy(default=is_lazy) else math.inf)

    @property
    def allowed_tools(self) -> frozenset[str] | None:
        """Names of the only tools that are offered; None offers all."""
        return _names(self.config, ALLOWED_TOOLS_KEYS, ("include", "allow"))

    @property
    def disabled_tools(self) -> frozenset[str]:
        """Names of tools that are not offered."""
        return _names(self.config, DISABLED_TOOLS_KEYS, ("exclude", "block", "deny")) or frozenset()


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


def describe(error: ValidationError) -> list[str]:
    """Return one short line for each fault that pydantic found, without the values."""
    lines = []
    for fault in error.errors(include_url=False, include_input=False):
        path = ".".join(str(part) for part in fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        lines.append(f"{path}: {message}" if path else message)
    return lines
