"""What is stored about an MCP server (H1), with pydantic at this edge only."""

from __future__ import annotations

import math
import re
import time
import uuid
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""What a server may be called (S-23)."""
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
_ALLOWING = ("include", "allow")
_DISABLING = ("exclude", "block", "deny")
NARUS_OWN_HEADERS = frozenset("authorization x-api-key cookie host content-length content-type accept".split())
"""Headers of a request that are never forwarded under any name: Naru's own credentials, and what HTTP itself needs."""
_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}")
LIMITS = ("openFiles", "memoryMb", "cpuSeconds", "answerMb")
_MOST = 2**31
"""Of a limit: what is larger is none that this machine can keep, or no number that counts bytes."""
RUNS = ("each", "once")
CREDENTIALS = ("shared", "per-user", "forward")
PROTOCOLS = ("auto", "sessions", "stateless")
_DURATION = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-z]+)?")
_UNIT_SECONDS = {"": 1.0, "ms": 0.001, **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0)}
_UNIT_SECONDS |= {"millis": 0.001, **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0), "h": 3600.0}


def now_ms() -> int:
    """Return the wall clock in epoch milliseconds, the unit of every stored time (H9)."""
    return int(time.time() * 1000)


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


def duration_seconds(value: object) -> float | None:
    """Read a time as people write it: 60, 60000, "60", "60s", "1.5 min", "500ms"; None for 0 and for nothing.

    A number without a unit is milliseconds, as Gemini CLI and LibreChat have it; one below 1,000 is taken for seconds,
    as Cline, Roo and Goose have it, since no tool is meant to answer within a second or fail.

    Raises:
        ValueError: it is no time.
    """
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) else repr(value) if type(value) in (int, float) else ""
    match = _DURATION.fullmatch(text.lower())
    if match is None or (match["unit"] or "") not in _UNIT_SECONDS:
        raise ValueError("a number of milliseconds, or a time such as '60s'")
    number = float(match["number"])
    if not match["unit"]:
        return (number / 1000 if number >= _LEAST_MILLISECONDS else number) or None
    return number * _UNIT_SECONDS[match["unit"]] or None


def check_config_types(name: str, config: dict[str, Any]) -> None:
    """Raise ValueError naming the field of a server's config that has the wrong type."""

    def refuse(field: str, wanted: str) -> None:
        raise ValueError(f"server {name!r}: config.{field} must be {wanted}")

    if not isinstance(args := config.get("args") or [], list) or not all(isinstance(arg, str) for arg in args):
        refuse("args", "a list of strings")
    _check_tables(config, refuse)
    for field in ("cwd", "caFile", "envFile", "endpointPrefix"):
        if not isinstance(config.get(field), str | None):
            refuse(field, "a string")
    for field in ("timeout", "startTimeout"):
        try:
            duration_seconds(config.get(field))
        except ValueError as error:
            refuse(field, str(error))
    if not isinstance(config.get("ask"), list | None):
        refuse("ask", 'a list of "elicitation", "sampling", "roots"')
    if config.get("credentials", "shared") not in CREDENTIALS:
        refuse("credentials", f"one of {', '.join(CREDENTIALS)}")
    _check_forwarded(config, refuse)
    _check_run(config, refuse)
    if not isinstance(config.get("tellPerson"), bool | None):
        refuse("tellPerson", "true or false")
    if config.get("protocol", "auto") not in PROTOCOLS:
        refuse("protocol", f"one of {', '.join(PROTOCOLS)}")
    limits = config.get("limits")
    if not isinstance(limits, dict | None) or not all(
        key in LIMITS and type(value) in (int, float) and 0 < value < _MOST for key, value in (limits or {}).items()
    ):
        refuse("limits", f"an object of numbers above 0 and below {_MOST}: {', '.join(LIMITS)}")
    _check_filters(config, refuse)


def _check_run(config: dict[str, Any], refuse: Callable[[str, str], None]) -> None:
    if config.get("run", "each") not in RUNS:
        refuse("run", f"one of {', '.join(RUNS)}")
    is_several = "url" in config or config.get("credentials", "shared") != "shared" or "isolation" in config
    if config.get("run") == "once" and is_several:
        refuse("run", '"each" of a server with a url, or with a link for each person or caller: once is one program')
    if config.get("run") == "once" and config.get("tellPerson"):
        refuse("run", '"each" of a server that is told who asks: another hub asks one that runs once')


def _check_forwarded(config: dict[str, Any], refuse: Callable[[str, str], None]) -> None:
    """Refuse headers to forward that carry Naru's own keys, or to a server that has none (S-30)."""
    given = config.get("forwardHeaders")
    is_forward = config.get("credentials") == "forward"
    if given is None and not is_forward:
        return
    pairs = given if isinstance(given, dict) else {one: one for one in given} if isinstance(given, list) else {}
    if not pairs or not all(isinstance(one, str) and _HEADER.fullmatch(one) for pair in pairs.items() for one in pair):
        refuse("forwardHeaders", 'a list of header names, or {"X-Upstream-Authorization": "Authorization"}')
    if own := sorted({name for name in pairs if name.lower() in NARUS_OWN_HEADERS}):
        refuse("forwardHeaders", f"of other headers than {own[0]}, which is about Naru itself")
    if not is_forward or "url" not in config:
        refuse("forwardHeaders", 'of a server with a url and "credentials": "forward"')


def _check_tables(config: dict[str, Any], refuse: Callable[[str, str], None]) -> None:
    for field in ("env", "headers", "auth"):
        table = config.get(field)
        if field == "auth" and isinstance(table, str):
            continue
        if not isinstance(table, dict | None):
            refuse(field, "a token, or an object of strings" if field == "auth" else "an object of strings")
        wrong = next((key for key, value in (table or {}).items() if not isinstance(value, str)), None)
        if wrong is not None:
            refuse(field, f"an object of strings, and {field}.{wrong} is none")


def _check_filters(config: dict[str, Any], refuse: Callable[[str, str], None]) -> None:
    """Refuse a filter that cannot be read: it was meant to close, and must not open everything."""
    for key in (*ALLOWED_TOOLS_KEYS, *DISABLED_TOOLS_KEYS):
        names = config.get(key)
        if names is not None and not (isinstance(names, list) and all(isinstance(one, str) for one in names)):
            refuse(key, 'a list of tool names, such as ["a", "b"]')
    chosen = config.get("toolFilter")
    if chosen is None:
        return
    listed = chosen.get("tools", chosen.get("list")) if isinstance(chosen, dict) else None
    if not isinstance(listed, list) or chosen.get("mode") not in (*_ALLOWING, *_DISABLING):
        refuse("toolFilter", '{"mode": "allow" or "block", "tools": ["a"]}')


def _names(config: dict[str, Any], keys: tuple[str, ...], modes: tuple[str, ...]) -> list[frozenset[str]]:
    """Return every list of names that a config has under these keys, or under `toolFilter` in these modes."""
    found = [frozenset(config[key]) for key in keys if isinstance(config.get(key), list) and config[key] != ["*"]]
    chosen = config.get("toolFilter")
    if isinstance(chosen, dict) and chosen.get("mode") in modes:
        found.append(frozenset(chosen.get("tools", chosen.get("list")) or ()))
    return found


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
                "use 1 to 64 of a-z, A-Z, 0-9, '_', '.', '-', starting with a letter or digit"
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
            transport = self.transport_type or "a URL"
            other = "" if self.transport_type else ", or config.command for a program"
            raise ValueError(f"server {self.name!r}: config.{needed} is required for {transport} transport{other}")
        check_config_types(self.name, self.config)
        return self

    @property
    def enabled(self) -> bool:
        """False when the entry says `disabled: true` or `enabled: false`; such a server is never connected."""
        return not flag(self.config.get("disabled"), default=False) and flag(self.config.get("enabled"), default=True)

    @property
    def timeout_seconds(self) -> float | None:
        """Deadline of a call to this server, from `timeout` of its entry; None takes ours."""
        return duration_seconds(self.config.get("timeout"))

    def start_seconds(self, default: float) -> float:
        """Return how long a start may take, from launch or dial to tools listed.

        That is `startTimeout` of the entry; without one the setting, or the entry's `timeout` where that is longer.
        """
        return duration_seconds(self.config.get("startTimeout")) or max(default, self.timeout_seconds or 0.0)

    @property
    def protocol(self) -> str:
        """Which of the two eras of the protocol to speak with it: `auto`, `sessions` or `stateless`."""
        return str(self.config.get("protocol", "auto"))

    @property
    def credentials(self) -> str:
        """Whose credentials go to it: `shared`, `per-user` or `forward`."""
        return str(self.config.get("credentials", "shared"))

    @property
    def runs_once(self) -> bool:
        """Whether one hub runs it for all hubs of an installation, by `run` of the entry; else each starts its own."""
        return self.config.get("run") == "once" and self.transport_type is TransportType.STDIO

    @property
    def tells_person(self) -> bool:
        """Whether each call says who asks (`tellPerson` of the entry)."""
        return self.config.get("tellPerson") is True

    @property
    def forward_headers(self) -> dict[str, str]:
        """Headers of a person's request that go on to it: name there where they come in → name at the server."""
        given = self.config.get("forwardHeaders") or {}
        return dict(given) if isinstance(given, dict) else {name: name for name in given}

    @property
    def answer_bytes(self) -> int | None:
        """Longest answer that is taken from it, from `limits.answerMb` of the entry; None takes ours."""
        limits = self.config.get("limits")
        megabytes = limits.get("answerMb") if isinstance(limits, dict) else None
        return int(megabytes * 1024 * 1024) if megabytes else None

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
        lists = _names(self.config, ALLOWED_TOOLS_KEYS, _ALLOWING)
        return frozenset.intersection(*lists) if lists else None

    @property
    def disabled_tools(self) -> frozenset[str]:
        """Names of tools that are not offered."""
        return frozenset().union(*_names(self.config, DISABLED_TOOLS_KEYS, _DISABLING))


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
