"""The section `mcp`: servers declared in YAML, reconnection, and the rules for all servers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from naru.config.guests import GuestSettings
from naru.config.section import DASHED
from naru.config.switches import Switch


def _texts(value: Any) -> Any:
    """Take numbers and booleans for the text they stand for: YAML is written without quotes."""
    return [as_text(item) for item in value] if isinstance(value, list) else value


def as_table(value: Any, field: str) -> Any:
    """Return `env` or `headers` as a table of texts where its meaning is plain, anything else as it is.

    `["NAME=VALUE"]` of Docker, `["Name: value"]` of curl and `[{"name": …, "value": …}]` of registries are tables, too.
    A variable that is null is left to what there is; a header that is null means nothing.
    """
    if isinstance(value, list):
        mark = "=" if field == "env" else ":"
        table: dict[str, Any] = {}
        for item in value:
            if isinstance(item, str) and mark in item:
                name, _, text = item.partition(mark)
                table[name.strip()] = text.strip()
            elif isinstance(item, dict) and isinstance(item.get("name"), str) and "value" in item:
                table[item["name"]] = item["value"]
            else:
                return value
        value = table
    if isinstance(value, dict):
        return {key: as_text(item) for key, item in value.items() if item is not None or field == "headers"}
    return value


def as_text(value: Any) -> Any:
    """Return the text of a number or a boolean, and anything else as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


class DeclaredServer(BaseModel):
    """A server that is declared in YAML; keys may be written with `-` or `_`."""

    model_config = ConfigDict(**{**DASHED, "extra": "allow"})

    name: str = ""
    """Unique name; an entry without one is skipped with a warning."""
    transport: str = "SSE"
    """`stdio`, `sse` or `http`; SSE when not said, unless there is a command."""
    url: str | None = None
    """Address, for sse and http."""
    command: str | None = None
    """Program, for stdio."""
    args: Annotated[list[str], BeforeValidator(_texts)] = []
    """Its arguments."""
    env: Annotated[dict[str, str], BeforeValidator(partial(as_table, field="env"))] = {}
    """Its environment variables, beside a minimal set."""
    cwd: str | None = None
    """Its working directory."""
    headers: Annotated[dict[str, str], BeforeValidator(partial(as_table, field="headers"))] = {}
    """HTTP headers, for sse and http."""
    description: str | None = None
    """What it is for."""
    auto_connect: bool = True
    """Connect at start."""
    lazy: bool | None = None
    """Start it at its first call, once its tools are known; overrides `mcp.lazy_start`."""
    idle_stop_ms: int | None = Field(None, ge=0)
    """Close its link after so many milliseconds without a call, until the next one; overrides `mcp.idle_stop_ms`."""

    _fault: str = PrivateAttr("")

    @property
    def fault(self) -> str:
        """Why this entry cannot be used; empty when it can."""
        return self._fault


def _or_faulty(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Read one entry; what is wrong with it costs the others nothing."""
    try:
        return read(value)
    except ValidationError as error:
        name = value.get("name") if isinstance(value, dict) else ""
        faulty = DeclaredServer(name=name if isinstance(name, str) else "")
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        faulty._fault = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in faults)
        return faulty


class PolicySettings(BaseModel):
    """What may be registered, started and returned; keys may be written with `-` or `_`."""

    model_config = DASHED

    allowed_server_names: list[str] = []
    """Names that may be registered and connected; empty allows all."""
    max_tool_output_length: int = Field(50_000, ge=0)
    """Characters of a tool's text result in a run; longer ones are cut with a notice, 0 is no limit. MCP clients get
    results as the server gave them."""
    allow_remote_exec: bool = False
    """Let an admin register programs (stdio) over HTTP; else only files and the command line may."""
    allowed_commands: list[str] = []
    """Absolute paths of further programs that may be started when registered over HTTP."""
    allow_unsafe_env: bool = False
    """Let servers registered over HTTP set variables that load code, such as `LD_PRELOAD`."""
    quarantine: Switch = "auto"
    """Hide tools that changed or came later until they are approved; `auto` does so whenever keys are asked for.

    Otherwise they are offered at once, and the difference is logged and shown.
    """
    max_tools_per_server: int = Field(500, ge=0)
    """Tools taken from one server; 0 is no limit."""


class ReconnectionSettings(BaseModel):
    """When a failed connection is tried again; keys may be written with `-` or `_`."""

    model_config = DASHED

    enabled: bool = True
    """Try again by itself."""
    max_attempts: int = Field(5, ge=0)
    """Retries before giving up until someone asks; 0 never gives up."""
    initial_delay_ms: int = Field(5_000, ge=1)
    """First wait, in milliseconds."""
    multiplier: float = Field(2.0, ge=1)
    """How much longer each wait is than the one before; all vary by a quarter either way."""
    max_delay_ms: int = Field(60_000, ge=1)
    """Longest wait, in milliseconds."""


def _named(value: Any) -> Any:
    """Take a table of servers by name, as `mcpServers` is one, for the list of them."""
    if isinstance(value, dict) and all(isinstance(entry, dict) for entry in value.values()):
        return [{"name": name, **entry} for name, entry in value.items()]
    return value


class SignInSection(BaseModel):
    """How persons sign in at servers (OAuth); keys may be written with `-` or `_`."""

    model_config = DASHED

    hosts: list[str] = []
    """Hosts of authorization servers that may have private addresses, such as `login.corp.example`. Servers of this
    machine may lead to this machine, all others to public addresses alone."""
    client_document: str = ""
    """https URL under which Naru's `/oauth/client.json` can be read from outside, as its client id at authorization
    servers that take such; empty registers Naru at each."""


class McpSettings(BaseModel):
    """Servers declared in YAML and the rules for all servers; keys may be written with `-` or `_`."""

    model_config = DASHED

    servers: Annotated[list[Annotated[DeclaredServer, WrapValidator(_or_faulty)]], BeforeValidator(_named)] = []
    """Declared servers; they seed the store at start, and what is in the store already wins."""
    files: list[Path] = []
    """Configuration files of other products whose servers seed the store as well; they are only read."""
    reconnection: ReconnectionSettings = ReconnectionSettings()
    """When a failed connection is tried again."""
    connection_timeout_ms: int = Field(30_000, ge=1)
    """From launch or dial to tools listed, in milliseconds."""
    lazy_start: bool = False
    """Start each server at its first call instead of with Naru, once its tools are known; `lazy` of a server wins."""
    idle_stop_ms: int = Field(0, ge=0)
    """Close a server's link after so many milliseconds without a call, until the next one; 0 keeps it, lazily started
    servers for five minutes. `idleStopMs` of a server wins."""
    registry_url: str = ""
    """A registry of published servers, asked by `naru servers add NAME registry:…` alone; empty asks nobody."""
    security: PolicySettings = PolicySettings()
    """What may be registered, started and returned."""
    guests: GuestSettings = GuestSettings()
    """Servers that a request names by URL."""
    sign_in: SignInSection = SignInSection()
    """How persons sign in at servers."""
    max_tools_per_request: int = Field(0, ge=0)
    """Tools offered to a model in one request, chosen by relevance; 0: as the model's profile says, and half of its
    context."""
    tool_selection: Literal["auto", "words", "embeddings"] = "auto"
    """What relevance goes by: the words that question and tool share, or their meaning as well. `auto` takes the
    embedded encoder (sixteen languages) where it is installed; `embeddings` what the data server embeds with."""
